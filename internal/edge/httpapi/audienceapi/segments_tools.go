package audienceapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
)

// segmentTools registers the operations that help to create dynamic segments.
func (api Segments) segmentTools(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/segments/from-broadcast", endpoint.Op{
		Name: "createSegmentFromBroadcast", Summary: "Create a dynamic segment from engagement with a broadcast.",
		Tag: "segments", Scope: auth.SegmentsWrite, Status: http.StatusCreated,
		Faults:      []*fault.Error{broadcast.ErrNotFound, segment.ErrCriterion, segment.ErrInvalidDefinition, segment.ErrCycle, segment.ErrLimit},
		FieldFaults: map[string]*fault.Error{"criterion": segment.ErrCriterion},
	}.ExampleBody(`{"broadcast_id": "$BROADCAST_ID", "criterion": "non_openers", "name": "Did not open"}`).WithTitle("Segment from broadcast").Once().Revised(segment.Revisions), wire.Once(api, api.db, Segments.createSegmentFromBroadcast), checkSegmentFromBroadcast)
	endpoint.Handle(r, "POST /t/{tenant}/api/segments/preview", endpoint.Op{
		Name: "previewSegment", Summary: "Count the contacts that a segment definition matches now, with a sample.",
		Tag: "segments", Scope: auth.SegmentsRead, Role: auth.Viewer,
		Faults:      []*fault.Error{segment.ErrMissingDefinition, segment.ErrInvalidDefinition},
		FieldFaults: map[string]*fault.Error{"definition": segment.ErrInvalidDefinition},
	}.ExampleBody(`{"definition": {"logic": "and", "conditions": [{"field": "country", "operator": "equals", "value": "DE"}]}}`), api.previewSegment)
}

type segmentFromBroadcastRequest struct {
	Body struct {
		BroadcastID string  `json:"broadcast_id"`
		Criterion   string  `json:"criterion" required:"false" doc:"One of engagers, openers, non_openers, clickers, non_clickers, bouncers, complainers, unsubscribers, not_received."`
		Name        *string `json:"name,omitempty" nullable:"true" doc:"The broadcast's name and the criterion when absent."`
	}
}

func checkSegmentFromBroadcast(_ auth.Principal, in *segmentFromBroadcastRequest) error {
	_, _, err := in.parse()
	return err
}

func (api Segments) createSegmentFromBroadcast(ctx context.Context, p auth.Principal, in *segmentFromBroadcastRequest) (SegmentForm, error) {
	bid, ch, err := in.parse()
	if err != nil {
		return SegmentForm{}, err
	}
	c, err := segment.ParseCriterion(in.Body.Criterion)
	if err != nil {
		return SegmentForm{}, err
	}
	b, err := broadcast.Head(ctx, api.db, p.Tenant, bid)
	if err != nil {
		return SegmentForm{}, err
	}
	m := segment.Mailing{Broadcast: b.ID, Name: b.Name, Include: b.Include, Exclude: b.Exclude}
	s, err := segment.FromBroadcast(ctx, api.db, p.Tenant, m, c, ch, api.now())
	if err != nil {
		return SegmentForm{}, err
	}
	endpoint.SetRevision(ctx, s.Revision)
	return formOfSegment(p, s), nil
}

// parse returns the broadcast that the request names and the change with the name, or the problems
// of both.
func (in *segmentFromBroadcastRequest) parse() (id.Broadcast, segment.Change, error) {
	var problems fault.Problems
	bid, ok := id.Parse[id.Broadcast](in.Body.BroadcastID)
	if !ok {
		problems.Add("broadcast_id", "must be a UUID")
	}
	ch := segment.Change{Name: in.Body.Name}
	problems.AddFrom(ch.Check())
	return bid, ch, problems.Err()
}

type previewSegmentRequest struct {
	Body struct {
		Definition endpoint.Opt[wire.Definition] `json:"definition" doc:"As of a dynamic segment; required."`
	}
}

// segmentPreview is the public form of a preview.
type segmentPreview struct {
	MemberCount      int        `json:"member_count" doc:"Those that could be mailed."`
	MemberCountTotal int        `json:"member_count_total"`
	Sample           *[]Contact `json:"sample,omitempty" doc:"At most ten contacts. Only for keys with contacts:read."`
}

// segmentPreviewSession is the session form of a preview.
type segmentPreviewSession struct {
	MemberCount      int       `json:"member_count" doc:"Those that could be mailed."`
	MemberCountTotal int       `json:"member_count_total"`
	Sample           []Contact `json:"sample" doc:"At most ten."`
}

// segmentPreviewForm is a preview in the form for its caller.
type segmentPreviewForm = wire.Form[segmentPreview, segmentPreviewSession]

func (api Segments) previewSegment(ctx context.Context, p auth.Principal, in *previewSegmentRequest) (segmentPreviewForm, error) {
	tree, err := segment.Parse(ctx, api.db, p.Tenant, json.RawMessage(in.Body.Definition.Or(nil)))
	if err != nil {
		return segmentPreviewForm{}, err
	}
	found, err := segment.Try(ctx, api.db, p.Tenant, tree, api.now())
	if err != nil {
		return segmentPreviewForm{}, err
	}
	sample, err := api.contacts.rowsForRead(ctx, p.Tenant, found.Sample...)
	if err != nil {
		return segmentPreviewForm{}, err
	}
	return wire.FormFor(p, func() segmentPreview {
		out := segmentPreview{MemberCount: found.Sendable, MemberCountTotal: found.All}
		if p.Has(auth.ContactsRead) {
			out.Sample = &sample
		}
		return out
	}, func() segmentPreviewSession {
		return segmentPreviewSession{found.Sendable, found.All, sample}
	}), nil
}
