package campaignapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/contentapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// writeFaults are the faults of create and update.
var writeFaults = append([]*fault.Error{
	broadcast.ErrEmailType, broadcast.ErrLane, broadcast.ErrSegment, broadcast.ErrIdentity,
	broadcast.ErrMetadata, broadcast.ErrVariants, broadcast.ErrVariantDelivery, broadcast.ErrSplitTest, broadcast.ErrLimit,
}, contentapi.ContentFaults...)

// broadcastFieldFaults are the fields with a code of their own.
var broadcastFieldFaults = contentapi.WithContent(map[string]*fault.Error{
	"email_type_key":          broadcast.ErrEmailType,
	"mta_config_key":          broadcast.ErrLane,
	"include_segment_keys":    broadcast.ErrSegment,
	"exclude_segment_keys":    broadcast.ErrSegment,
	"sending_identity_emails": broadcast.ErrIdentity,
	"metadata":                broadcast.ErrMetadata,
	"variants":                broadcast.ErrVariants,
	"split_test_config":       broadcast.ErrSplitTest,
})

type createBroadcastRequest struct {
	Key  string `header:"Idempotency-Key" doc:"8 to 128 letters, digits, - or _; a repeat within 24 hours returns the first answer."`
	Body BroadcastBody
}

// BroadcastBody is the body of a create or an update.
//
// It includes split_test_config, so that it is refused by name. The fields of the
// session form are raw, because their values are ignored from API keys, whatever they are.
type BroadcastBody struct {
	Name         endpoint.Opt[string]                      `json:"name" nullable:"false" doc:"Internal; 1 to 200 characters. Default: the subject."`
	EmailTypeKey endpoint.Opt[string]                      `json:"email_type_key" doc:"Required of API keys."`
	MTAConfigKey endpoint.Opt[string]                      `json:"mta_config_key"`
	IncludeKeys  endpoint.Opt[[]string]                    `json:"include_segment_keys"`
	ExcludeKeys  endpoint.Opt[[]string]                    `json:"exclude_segment_keys"`
	Senders      endpoint.Opt[[]string]                    `json:"sending_identity_emails" doc:"Absent, null or empty: any sender of the email type."`
	Tags         endpoint.Opt[[]string]                    `json:"tags" doc:"At most 50, of 1 to 64 characters."`
	Metadata     endpoint.Opt[metadataBody]                `json:"metadata" nullable:"false" doc:"A flat object: at most 20 keys, 8 KB."`
	Tracking     endpoint.Opt[bool]                        `json:"tracking_enabled" nullable:"false" doc:"Default: the account's."`
	ScheduledAt  endpoint.Opt[string]                      `json:"scheduled_at" doc:"RFC 3339. Stored only: scheduling is a separate call."`
	Mode         endpoint.Opt[string]                      `json:"mode" nullable:"false" enum:"blast"`
	Content      endpoint.Opt[contentapi.BroadcastContent] `json:"content" nullable:"false"`
	Variants     endpoint.Opt[json.RawMessage]             `json:"variants" doc:"Two to ten: {id, name, weight, content_overrides}. Null: none."`
	SplitTest    endpoint.Opt[json.RawMessage]             `json:"split_test_config" doc:"Only null."`
	DeliveryMode endpoint.Opt[string]                      `json:"delivery_mode" nullable:"false" enum:"now,over_days,by_date" doc:"Default: now."`
	WindowDays   endpoint.Opt[int]                         `json:"delivery_window_days" doc:"1 to 60; over_days needs it."`
	WindowDate   endpoint.Opt[string]                      `json:"delivery_window_date" doc:"The last day, YYYY-MM-DD, today or later; by_date needs it."`
	SkippedDates endpoint.Opt[[]string]                    `json:"skipped_dates" doc:"At most 60 days, YYYY-MM-DD."`
	OverflowMode endpoint.Opt[string]                      `json:"overflow_mode" nullable:"false" enum:"extend,holdback" doc:"What happens to mail that does not fit into the days. Default: extend."`
	Throttle     endpoint.Opt[int]                         `json:"throttle_per_hour" doc:"Maximum number of messages per hour."`
	Lanes        endpoint.Opt[[]laneShareBody]             `json:"delivery_lanes" doc:"MTA configs that share the mail by weight. Null or empty: the one of the broadcast, the sender or the account."`
	SeedLists    endpoint.Opt[json.RawMessage]             `json:"seed_list_ids" doc:"Uuids of the seed lists that get copies. Default, or null: those with include_by_default that are attached to a sender; an empty list: none."`
	EmailTypeID  json.RawMessage                           `json:"email_type_id,omitempty" doc:"Session form."`
	MTAConfigID  json.RawMessage                           `json:"mta_config_id,omitempty" doc:"Session form."`
	IncludeIDs   json.RawMessage                           `json:"include_segment_ids,omitempty" doc:"Session form."`
	ExcludeIDs   json.RawMessage                           `json:"exclude_segment_ids,omitempty" doc:"Session form."`
	SenderIDs    json.RawMessage                           `json:"sending_identity_ids,omitempty" doc:"Session form."`
}

// metadataBody is metadata as received. Package broadcast parses it, so that numbers keep their
// notation.
type metadataBody struct{ json.RawMessage }

// Schema is that of a flat object.
func (metadataBody) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true, MaxProperties: new(20)}
}

// laneShareBody is one of the lanes of a broadcast with its weight.
type laneShareBody struct {
	MTAConfigKey endpoint.Opt[string]  `json:"mta_config_key"`
	MTAConfigID  json.RawMessage       `json:"mta_config_id,omitempty" doc:"Session form."`
	Weight       endpoint.Opt[float64] `json:"weight" nullable:"false" doc:"Greater than 0; relative to the other weights."`
}

func checkNewBroadcast(p auth.Principal, in *createBroadcastRequest) error { return in.Body.check(p) }

func (api Broadcasts) createBroadcast(ctx context.Context, p auth.Principal, in *createBroadcastRequest) (broadcastAnswer, error) {
	ch, refs, err := in.Body.changeAndRefs(p)
	if err != nil {
		return broadcastAnswer{}, err
	}
	if err := refs.ResolveNew(ctx, api.db, p.Tenant, &ch); err != nil {
		return broadcastAnswer{}, err
	}
	b, err := broadcast.New(ctx, contentapi.AuthorOf(api.db, api.mjml, api.now()), p.Tenant, ch, p.Actor())
	if err != nil {
		return broadcastAnswer{}, err
	}
	return api.insertBroadcast(ctx, p, b)
}

// insertBroadcast stores a new broadcast together with the response that shows it. The response is made
// before, since its warnings about the audience take too long for a transaction.
func (api Broadcasts) insertBroadcast(ctx context.Context, p auth.Principal, b broadcast.Broadcast) (broadcastAnswer, error) {
	out, err := api.viewBroadcast(ctx, p, b)
	if err != nil {
		return broadcastAnswer{}, err
	}
	return out, api.db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := b.Insert(ctx, tx); err != nil {
			return err
		}
		return endpoint.Remember(ctx, tx, out)
	})
}

// check reports the problems of the body, without looking up the records that it names.
func (in *BroadcastBody) check(p auth.Principal) error {
	ch, _, err := in.changeAndRefs(p)
	if err != nil {
		return err
	}
	return ch.Check()
}

// changeAndRefs returns the change that the body describes, and the references to records in it.
func (in *BroadcastBody) changeAndRefs(p auth.Principal) (broadcast.Change, broadcast.Refs, error) {
	ch, err := in.change(p)
	refs, refsErr := in.refs(p)
	if err == nil {
		return ch, refs, refsErr
	}
	if f, ok := fault.As(err); !ok || f.Code != fault.ErrInput.Code || refsErr == nil {
		return ch, refs, err
	}
	var bad fault.Problems
	bad.AddFrom(err)
	bad.AddFrom(refsErr)
	return ch, refs, bad.Err()
}

// change returns the change that the body describes, without references to records.
func (in *BroadcastBody) change(p auth.Principal) (broadcast.Change, error) {
	var ch broadcast.Change
	var bad fault.Problems
	if in.SplitTest.Given() {
		return ch, broadcast.ErrSplitTest
	}
	ch = broadcast.Change{Name: in.Name.Pointer(), Tracking: in.Tracking.Pointer(), Delivery: in.delivery()}
	if in.Content.Set {
		var err error
		if ch.Content, err = in.Content.Value.Change(p); err != nil {
			return ch, err
		}
		ch.Message = in.Content.Value.Message(&bad)
	}
	if in.Variants.Set {
		variants := []broadcast.Variant(nil)
		if in.Variants.Given() {
			var err error
			if variants, err = broadcast.ReadVariants(in.Variants.Value); err != nil {
				return ch, err
			}
		}
		ch.Variants = &variants
	}
	ch.SeedLists = in.seedChoice(&bad)
	if in.Tags.Set {
		ch.Tags = &in.Tags.Value
	}
	if in.ScheduledAt.Set {
		ch.Start = &broadcast.Start{}
		if in.ScheduledAt.Given() {
			t, err := endpoint.ParseTime(in.ScheduledAt.Value)
			if err != nil {
				bad.Add("scheduled_at", err.Error())
			}
			ch.Start.At = &t
		}
	}
	if bad.Any() { // report the problems of the other fields too
		bad.AddFrom(ch.Check())
		return ch, bad.Err()
	}
	var err error
	if in.Metadata.Set {
		if ch.Metadata, err = broadcast.ParseMetadata(in.Metadata.Value.RawMessage); err != nil {
			return ch, err
		}
	}
	return ch, nil
}

// seedChoice returns the chosen seed lists, or nil if the body has none.
func (in *BroadcastBody) seedChoice(bad *fault.Problems) *broadcast.SeedChoice {
	if !in.SeedLists.Set {
		return nil
	}
	var c broadcast.SeedChoice
	if in.SeedLists.Given() {
		c.Lists = wire.ReadIDs[id.SeedList](bad, "seed_list_ids", in.SeedLists.Value)
	}
	return &c
}

// sessionIDs are the references by id, which only sessions may send; nil: absent.
type sessionIDs struct {
	emailType        *id.EmailType
	lane             *id.Lane
	include, exclude *[]id.Segment
	senders          *[]id.Identity
	lanes            []broadcast.Ref[id.Lane] // by id or key
}

// refs returns the references of the body.
func (in *BroadcastBody) refs(p auth.Principal) (broadcast.Refs, error) {
	ids, err := in.sessionIDs(p)
	return broadcast.Refs{
		EmailType: refOf(ids.emailType, in.EmailTypeKey), TypeRequired: p.IsKey(), Lane: refOf(ids.lane, in.MTAConfigKey),
		Include: refsOf(ids.include, in.IncludeKeys), Exclude: refsOf(ids.exclude, in.ExcludeKeys),
		Identities: refsOf(ids.senders, in.Senders), Lanes: ids.lanes,
	}, err
}

// sessionIDs returns the references by id. From an API key there are none, but the keys of lanes.
func (in *BroadcastBody) sessionIDs(p auth.Principal) (sessionIDs, error) {
	var ids sessionIDs
	ids.lanes = make([]broadcast.Ref[id.Lane], len(in.Lanes.Value))
	for i, l := range in.Lanes.Value {
		ids.lanes[i].Key = new(l.MTAConfigKey.Value)
	}
	if p.IsKey() {
		return ids, nil
	}
	var bad fault.Problems
	for i, l := range in.Lanes.Value {
		if v := wire.ReadID[id.Lane](&bad, fmt.Sprintf("delivery_lanes[%d].mta_config_id", i), l.MTAConfigID); v != nil {
			ids.lanes[i].ID = *v
		}
	}
	ids.emailType = wire.ReadID[id.EmailType](&bad, "email_type_id", in.EmailTypeID)
	ids.lane = wire.ReadID[id.Lane](&bad, "mta_config_id", in.MTAConfigID)
	ids.include = wire.ReadIDs[id.Segment](&bad, "include_segment_ids", in.IncludeIDs)
	ids.exclude = wire.ReadIDs[id.Segment](&bad, "exclude_segment_ids", in.ExcludeIDs)
	ids.senders = wire.ReadIDs[id.Identity](&bad, "sending_identity_ids", in.SenderIDs)
	return ids, bad.Err()
}

func refOf[ID comparable](byID *ID, key endpoint.Opt[string]) *broadcast.Ref[ID] {
	if byID == nil && !key.Set {
		return nil
	}
	r := broadcast.Ref[ID]{Key: key.Pointer()}
	if byID != nil {
		r.ID = *byID
	}
	return &r
}

func refsOf[ID comparable](byID *[]ID, keys endpoint.Opt[[]string]) *broadcast.RefList[ID] {
	switch {
	case byID != nil:
		return &broadcast.RefList[ID]{IDs: *byID, Keys: keys.Value}
	case keys.Set:
		return &broadcast.RefList[ID]{Keys: keys.Value}
	}
	return nil
}

type updateBroadcastRequest struct {
	ID   string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Body BroadcastBody
}

func checkBroadcast(p auth.Principal, in *updateBroadcastRequest) error { return in.Body.check(p) }

func (api Broadcasts) updateBroadcast(ctx context.Context, p auth.Principal, in *updateBroadcastRequest) (broadcastAnswer, error) {
	ch, refs, err := in.Body.changeAndRefs(p)
	if err != nil {
		return broadcastAnswer{}, err
	}
	if err := refs.Resolve(ctx, api.db, p.Tenant, &ch); err != nil {
		return broadcastAnswer{}, err
	}
	bid, err := wire.RecordID[id.Broadcast](in.ID, broadcast.ErrNotFound)
	if err != nil {
		return broadcastAnswer{}, err
	}
	b, err := broadcast.Update(ctx, contentapi.AuthorOf(api.db, api.mjml, api.now()), p.Tenant, bid, ch)
	if err != nil {
		return broadcastAnswer{}, err
	}
	return api.viewBroadcast(ctx, p, b)
}

func (api Broadcasts) deleteBroadcast(ctx context.Context, p auth.Principal, in *broadcastPath) (endpoint.None, error) {
	bid, err := wire.RecordID[id.Broadcast](in.ID, broadcast.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, broadcast.Delete(ctx, api.db, p.Tenant, bid)
}
