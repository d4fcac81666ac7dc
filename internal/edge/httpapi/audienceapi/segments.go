package audienceapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Segments serves segments and their members.
type Segments struct {
	db       *sqldb.DB
	contacts Contacts
	counts   *segment.Counter
	now      func() time.Time
	usage    usage.Finder
}

// NewSegments returns the operations on segments and their members.
func NewSegments(e wire.Env, contacts Contacts, counts *segment.Counter, uses usage.Finder) Segments {
	return Segments{db: e.DB, contacts: contacts, counts: counts, now: e.Now, usage: uses}
}

// On returns the operations on another handle.
func (api Segments) On(db *sqldb.DB) Segments { api.db = db; return api }

// Register adds the operations on segments and their members.
func (api Segments) Register(r *endpoint.Router) {
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{
			Name: name, Summary: summary, Tag: "segments", Faults: faults,
			Scopes: []auth.Scope{auth.ListsRead, auth.SegmentsRead}, Mode: endpoint.ByType,
		}
	}
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{
			Name: name, Summary: summary, Tag: "segments", Faults: faults,
			Scopes: []auth.Scope{auth.ListsWrite, auth.SegmentsWrite}, Mode: endpoint.ByType,
		}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/segments",
		read("listSegments", "List the lists and segments that the key's scopes cover."), api.ListSegments)
	create := write("createSegment", "Create a dynamic segment, or a static list.",
		segment.ErrMissingDefinition, segment.ErrInvalidDefinition, segment.ErrCycle, segment.ErrLimit).Once().Revised(segment.Revisions)
	create.Status = http.StatusCreated
	create.FieldFaults = map[string]*fault.Error{"definition": segment.ErrInvalidDefinition}
	endpoint.Handle(r, "POST /t/{tenant}/api/segments", create.ExampleBody(`{"name": "Readers in Germany", "type": "dynamic", "definition": {"logic": "and", "conditions": [{"field": "country", "operator": "equals", "value": "DE"}]}, "tags": ["europe"]}`), wire.Once(api, api.db, Segments.createSegment), checkNewSegment)
	api.segmentTools(r)
	endpoint.Handle(r, "GET /t/{tenant}/api/segments/{key}",
		read("getSegment", "Get a list or segment.", segment.ErrNotFound).Revised(segment.Revisions), api.getSegment)
	update := write("updateSegment", "Rename or tag a list or segment, or replace a segment's definition, which then is counted again.",
		segment.ErrNotFound, segment.ErrLocked, segment.ErrMissingDefinition, segment.ErrInvalidDefinition, segment.ErrCycle, segment.ErrLimit).IfMatch(segment.Revisions)
	update.FieldFaults = map[string]*fault.Error{"definition": segment.ErrInvalidDefinition}
	endpoint.Handle(r, "PUT /t/{tenant}/api/segments/{key}", update.ExampleBody(`{"name": "Readers in Europe", "tags": ["europe"]}`), api.updateSegment, checkSegment)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/segments/{key}",
		write("deleteSegment", "Delete a list or segment that nothing uses; contacts stay.",
			segment.ErrNotFound, segment.ErrLocked, segment.ErrInUse).IfMatch(segment.Revisions), api.deleteSegment)
	refresh := read("refreshSegmentCount", "Count the members now.", segment.ErrNotFound)
	refresh.Role = auth.Viewer
	endpoint.Handle(r, "POST /t/{tenant}/api/segments/{key}/refresh-count", refresh, api.refreshSegmentCount)
	api.members(r, read, write)
}

type listSegmentsRequest struct {
	Type   string `query:"type" enum:"dynamic,static" doc:"Only of this type; both when absent."`
	Tags   string `query:"tags" as:"list" doc:"With any of these tags."`
	Search string `query:"search" doc:"A part of the name."`
	Usage  string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage and warnings to each row. For sessions."`
}

type SegmentForm = wire.Form[SegmentRow, segmentSession]

// SegmentRow is the public form of a list or segment.
type SegmentRow struct {
	SegmentKey             string            `json:"segment_key"`
	TenantID               id.Tenant         `json:"tenant_id" format:"uuid"`
	Name                   string            `json:"name"`
	Type                   segment.Type      `json:"type" enum:"dynamic,static"`
	Definition             ruleObject        `json:"definition" nullable:"true" doc:"null for static lists."`
	MemberCount            *int              `json:"member_count" doc:"Members that could be mailed at the last count."`
	MemberCountTotal       *int              `json:"member_count_total"`
	MemberCountEvaluatedAt *endpoint.Stamp   `json:"member_count_evaluated_at"`
	Count                  *int              `json:"count,omitempty" doc:"Same as member_count; only in answers with a single segment."`
	SystemKey              *string           `json:"system_key" doc:"Not null on built-in segments."`
	Tags                   []string          `json:"tags"`
	Warnings               *[]segmentWarning `json:"warnings,omitempty" doc:"References of the definition to deleted records; in answers with a single segment, and with include_usage=true."`
	Usage                  *segmentUsage     `json:"usage,omitempty" doc:"With include_usage=true: the records that use it, as in the details of SEGMENT_IN_USE."`
}

// segmentUsage are the records that use a list or segment.
type segmentUsage struct {
	Broadcasts  []usage.Holder `json:"broadcasts"`
	Sequences   []usage.Holder `json:"sequences"`
	Automations []usage.Holder `json:"automations"`
	Forms       []usage.Holder `json:"forms"`
	Segments    []usage.Holder `json:"segments"`
}

// segmentWarning is a leaf that refers to a deleted record, and so matches no contact or all.
type segmentWarning struct {
	Path string `json:"path"`
	Code string `json:"code"`
}

// segmentSession is the session form of a list or segment.
type segmentSession struct {
	ID  id.Segment `json:"id" format:"uuid"`
	Key string     `json:"key"`
	SegmentRow
}

func (api Segments) ListSegments(ctx context.Context, p auth.Principal, in *listSegmentsRequest) (endpoint.List[SegmentForm], error) {
	rows := []SegmentForm{}
	var types []segment.Type
	for _, t := range []segment.Type{segment.Static, segment.Dynamic} {
		if p.Has(segmentReads[t]) && (in.Type == "" || in.Type == string(t)) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return endpoint.Whole(rows), nil
	}
	list, err := segment.List(ctx, api.db, p.Tenant, segment.Filter{Types: types, Tags: endpoint.CommaList(in.Tags), Search: in.Search})
	if err != nil {
		return endpoint.List[SegmentForm]{}, err
	}
	if list, err = api.counts.Current(ctx, p.Tenant, list); err != nil {
		return endpoint.List[SegmentForm]{}, err
	}
	details := endpoint.Flag(in.Usage) && !p.IsKey()
	for _, s := range list {
		row := rowOfSegment(p, s)
		if details {
			if err := api.addWarnings(ctx, p, s, &row); err != nil {
				return endpoint.List[SegmentForm]{}, err
			}
			if row.Usage, err = api.usageOf(ctx, p, s); err != nil {
				return endpoint.List[SegmentForm]{}, err
			}
		}
		rows = append(rows, formOfRow(p, s, row))
	}
	return endpoint.Whole(rows), nil
}

// addWarnings adds the references of a segment's definition to deleted records.
func (api Segments) addWarnings(ctx context.Context, p auth.Principal, s segment.Segment, row *SegmentRow) error {
	row.Warnings = &[]segmentWarning{}
	warnings, err := segment.Warnings(ctx, api.db, p.Tenant, s)
	for _, w := range warnings {
		*row.Warnings = append(*row.Warnings, segmentWarning{w.Path, w.Code})
	}
	return err
}

// The scopes that operations on a segment of a type need.
var (
	segmentReads  = map[segment.Type]auth.Scope{segment.Static: auth.ListsRead, segment.Dynamic: auth.SegmentsRead}
	segmentWrites = map[segment.Type]auth.Scope{segment.Static: auth.ListsWrite, segment.Dynamic: auth.SegmentsWrite}
)

func formOfSegment(p auth.Principal, s segment.Segment) SegmentForm {
	return formOfRow(p, s, rowOfSegment(p, s))
}

func formOfRow(p auth.Principal, s segment.Segment, row SegmentRow) SegmentForm {
	return wire.FormFor(p, func() SegmentRow { return row }, func() segmentSession { return segmentSession{s.ID, s.Key, row} })
}

func rowOfSegment(p auth.Principal, s segment.Segment) SegmentRow {
	return SegmentRow{
		SegmentKey: s.Key, TenantID: p.Tenant, Name: s.Name, Type: s.Type, Definition: ruleObject(s.Definition),
		MemberCount: s.Members, MemberCountTotal: s.MembersAll, MemberCountEvaluatedAt: endpoint.AtOr(s.EvaluatedAt),
		SystemKey: optional.Pointer(s.SystemKey), Tags: s.Tags,
	}
}

type createSegmentRequest struct {
	Body struct {
		Name       string               `json:"name"`
		Type       endpoint.Opt[string] `json:"type" nullable:"false" enum:"dynamic,static" doc:"dynamic when absent."`
		Definition wire.Definition      `json:"definition,omitempty" doc:"Of dynamic segments: {logic, conditions}; a static list ignores it."`
		Tags       []string             `json:"tags,omitempty"`
	}
}

func checkNewSegment(_ auth.Principal, in *createSegmentRequest) error {
	return segment.Change{Name: &in.Body.Name, Tags: &in.Body.Tags}.CheckNew()
}

func (api Segments) createSegment(ctx context.Context, p auth.Principal, in *createSegmentRequest) (SegmentForm, error) {
	t := segment.Type(in.Body.Type.Or(string(segment.Dynamic)))
	if err := p.Need(segmentWrites[t]); err != nil {
		return SegmentForm{}, err
	}
	make, ch := segment.CreateList, segment.Change{Name: &in.Body.Name, Tags: &in.Body.Tags}
	if t == segment.Dynamic {
		make, ch.Definition = segment.Create, json.RawMessage(in.Body.Definition)
	}
	s, err := make(ctx, api.db, p.Tenant, ch, api.now())
	if err != nil {
		return SegmentForm{}, err
	}
	endpoint.SetRevision(ctx, s.Revision)
	return formOfSegment(p, s), nil
}

// SegmentPath names a list or segment by its key, or its id.
type SegmentPath struct {
	Key string `path:"key" doc:"segment_key, or the id."`
}

type getSegmentRequest struct {
	SegmentPath
	Usage string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage. For sessions."`
}

func (api Segments) getSegment(ctx context.Context, p auth.Principal, in *getSegmentRequest) (SegmentForm, error) {
	s, err := api.segmentFor(ctx, p, in.SegmentPath, segmentReads)
	if err != nil {
		return SegmentForm{}, err
	}
	one, err := api.counts.Current(ctx, p.Tenant, []segment.Segment{s})
	if err == nil {
		s, err = api.counts.EnsureCounted(ctx, p.Tenant, one[0])
	}
	if err != nil {
		return SegmentForm{}, err
	}
	endpoint.SetRevision(ctx, s.Revision)
	row := rowOfSegment(p, s)
	row.Count = s.Members
	err = api.addWarnings(ctx, p, s, &row)
	if err == nil && endpoint.Flag(in.Usage) && !p.IsKey() {
		row.Usage, err = api.usageOf(ctx, p, s)
	}
	return formOfRow(p, s, row), err
}

// usageOf returns the records that use a segment.
func (api Segments) usageOf(ctx context.Context, p auth.Principal, s segment.Segment) (*segmentUsage, error) {
	if api.usage == nil {
		return &segmentUsage{}, nil
	}
	h, err := api.usage.Find(ctx, api.db, p.Tenant, usage.Subject{Kind: usage.Segment, ID: s.ID.String(), Key: s.Key})
	if err != nil {
		return nil, err
	}
	of := func(source string) []usage.Holder { return endpoint.NonNil(h[source]) }
	return &segmentUsage{of("broadcasts"), of("sequences"), of("automations"), of("forms"), of("segments")}, nil
}

// segmentFor returns the segment that a path names, if p has the scope of its type.
func (api Segments) segmentFor(ctx context.Context, p auth.Principal, in SegmentPath, scopes map[segment.Type]auth.Scope) (segment.Segment, error) {
	s, err := segment.Find(ctx, api.db, p.Tenant, in.Key)
	if err != nil {
		return segment.Segment{}, err
	}
	return s, p.Need(scopes[s.Type])
}

type updateSegmentRequest struct {
	SegmentPath
	Body struct {
		Name       endpoint.Opt[string]          `json:"name" nullable:"false"`
		Definition endpoint.Opt[wire.Definition] `json:"definition" doc:"Has no effect on a static list."`
		Tags       endpoint.Opt[[]string]        `json:"tags"`
	}
}

func checkSegment(_ auth.Principal, in *updateSegmentRequest) error { return in.change().Check() }

func (api Segments) updateSegment(ctx context.Context, p auth.Principal, in *updateSegmentRequest) (SegmentForm, error) {
	s, err := api.segmentFor(ctx, p, in.SegmentPath, segmentWrites)
	if err != nil {
		return SegmentForm{}, err
	}
	which, redefined := s.ID, false
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Begin:  func(tx *sqldb.DB) error { return segment.LockRevision(ctx, tx, p.Tenant, in.change()) },
		Action: "update", Target: "segment", ID: which.String(), Table: segment.Revisions, Key: which, HideAddresses: true,
		Show: func(tx *sqldb.DB) (any, error) {
			s, err := segment.Find(ctx, tx, p.Tenant, which.String())
			return map[string]any{"name": s.Name, "tags": s.Tags, "rule": ruleText(s.Definition)}, err
		},
		Do: func(tx *sqldb.DB) (err error) {
			s, redefined, err = segment.Revise(ctx, tx, p.Tenant, which, in.change(), api.now())
			return err
		},
	}, api.now())
	if err == nil && redefined {
		s, err = segment.CountRevised(ctx, api.db, p.Tenant, s, api.now())
	}
	if err != nil {
		return SegmentForm{}, err
	}
	endpoint.SetRevision(ctx, s.Revision)
	return formOfSegment(p, s), nil
}

// ruleText returns a rule as a text, which the audit log keeps as a whole.
func ruleText(definition json.RawMessage) *string {
	if definition == nil {
		return nil
	}
	return new(string(definition))
}

func (in *updateSegmentRequest) change() segment.Change {
	ch := segment.Change{Name: in.Body.Name.Pointer(), Definition: json.RawMessage(in.Body.Definition.Or(nil))}
	if in.Body.Definition.Null {
		ch.Definition = json.RawMessage("null")
	}
	if in.Body.Tags.Set {
		ch.Tags = new(in.Body.Tags.Or(nil))
	}
	return ch
}

func (api Segments) deleteSegment(ctx context.Context, p auth.Principal, in *SegmentPath) (endpoint.None, error) {
	s, err := api.segmentFor(ctx, p, *in, segmentWrites)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, segment.Delete(ctx, api.db, p.Tenant, s.ID, api.usage)
}

type segmentCount struct {
	SegmentKey             string          `json:"segment_key"`
	MemberCount            *int            `json:"member_count"`
	MemberCountTotal       *int            `json:"member_count_total"`
	MemberCountEvaluatedAt *endpoint.Stamp `json:"member_count_evaluated_at"`
}

func (api Segments) refreshSegmentCount(ctx context.Context, p auth.Principal, in *SegmentPath) (segmentCount, error) {
	s, err := api.segmentFor(ctx, p, *in, segmentReads)
	if err != nil {
		return segmentCount{}, err
	}
	if s, err = api.counts.Recount(ctx, p.Tenant, s.ID); err != nil {
		return segmentCount{}, err
	}
	return segmentCount{s.Key, s.Members, s.MembersAll, endpoint.AtOr(s.EvaluatedAt)}, nil
}
