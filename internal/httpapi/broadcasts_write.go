package httpapi

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// writeFaults are what create and update may answer.
var writeFaults = append([]*fault.Error{
	broadcast.ErrEmailType, broadcast.ErrMTAConfig, broadcast.ErrSegment, broadcast.ErrIdentity,
	broadcast.ErrMetadata, broadcast.ErrVariants, broadcast.ErrArmDelivery, broadcast.ErrSplitTest, broadcast.ErrLimit,
}, contentFaults...)

// broadcastFieldFaults are the fields with a code of their own.
var broadcastFieldFaults = withContent(map[string]*fault.Error{
	"email_type_key":          broadcast.ErrEmailType,
	"mta_config_key":          broadcast.ErrMTAConfig,
	"include_segment_keys":    broadcast.ErrSegment,
	"exclude_segment_keys":    broadcast.ErrSegment,
	"sending_identity_emails": broadcast.ErrIdentity,
	"metadata":                broadcast.ErrMetadata,
	"variants":                broadcast.ErrVariants,
	"split_test_config":       broadcast.ErrSplitTest,
})

// withContent returns the faults of the fields of content besides those given.
func withContent(faults map[string]*fault.Error) map[string]*fault.Error {
	maps.Copy(faults, contentFieldFaults)
	return faults
}

// broadcastBody is what a caller writes.
//
// Seeds are known, so that asking for them is refused rather than dropped. What
// only the session form knows is read by hand: a key's is ignored.
type broadcastBody struct {
	Name         endpoint.Opt[string]           `json:"name" nullable:"false" doc:"Internal; 1 to 200 characters. Default: the subject."`
	EmailTypeKey endpoint.Opt[string]           `json:"email_type_key" doc:"Required of API keys."`
	MTAConfigKey endpoint.Opt[string]           `json:"mta_config_key"`
	IncludeKeys  endpoint.Opt[[]string]         `json:"include_segment_keys"`
	ExcludeKeys  endpoint.Opt[[]string]         `json:"exclude_segment_keys"`
	Senders      endpoint.Opt[[]string]         `json:"sending_identity_emails" doc:"Left out, null or empty: any sender of the email type."`
	Tags         endpoint.Opt[[]string]         `json:"tags" doc:"At most 50, of 1 to 64 characters."`
	Metadata     endpoint.Opt[metadataBody]     `json:"metadata" nullable:"false" doc:"A flat object: at most 20 keys, 8 KB."`
	Tracking     endpoint.Opt[bool]             `json:"tracking_enabled" nullable:"false" doc:"Default: the account's."`
	ScheduledAt  endpoint.Opt[string]           `json:"scheduled_at" doc:"RFC 3339. Recorded only; scheduling is a call of its own."`
	Mode         endpoint.Opt[string]           `json:"mode" nullable:"false" enum:"blast"`
	Content      endpoint.Opt[broadcastContent] `json:"content" nullable:"false"`
	Variants     endpoint.Opt[json.RawMessage]  `json:"variants" doc:"Two to ten arms: {id, name, weight, content_overrides}. Null: no test."`
	SplitTest    endpoint.Opt[json.RawMessage]  `json:"split_test_config" doc:"Only null."`
	DeliveryMode endpoint.Opt[string]           `json:"delivery_mode" nullable:"false" enum:"now,over_days,by_date" doc:"Default: now."`
	WindowDays   endpoint.Opt[int]              `json:"delivery_window_days" doc:"1 to 60; over_days needs it."`
	WindowDate   endpoint.Opt[string]           `json:"delivery_window_date" doc:"The last day, YYYY-MM-DD, today or later; by_date needs it."`
	SkippedDates endpoint.Opt[[]string]         `json:"skipped_dates" doc:"At most 60 days, YYYY-MM-DD."`
	OverflowMode endpoint.Opt[string]           `json:"overflow_mode" nullable:"false" enum:"extend,holdback" doc:"What becomes of mail that does not fit the days. Default: extend."`
	Throttle     endpoint.Opt[int]              `json:"throttle_per_hour" doc:"At most so many messages an hour."`
	Lanes        endpoint.Opt[[]laneShareBody]  `json:"delivery_lanes" doc:"Lanes that share the mail by their weights. Null or empty: the one lane that resolves."`
	SeedLists    endpoint.Opt[json.RawMessage]  `json:"seed_list_ids" doc:"Only null, for the time being."`
	EmailTypeID  json.RawMessage                `json:"email_type_id,omitempty" doc:"Session form."`
	MTAConfigID  json.RawMessage                `json:"mta_config_id,omitempty" doc:"Session form."`
	IncludeIDs   json.RawMessage                `json:"include_segment_ids,omitempty" doc:"Session form."`
	ExcludeIDs   json.RawMessage                `json:"exclude_segment_ids,omitempty" doc:"Session form."`
	SenderIDs    json.RawMessage                `json:"sending_identity_ids,omitempty" doc:"Session form."`
}

// metadataBody is metadata as it was sent: package broadcast reads it, so that
// numbers stay as they were written.
type metadataBody struct{ json.RawMessage }

// Schema is that of a flat object.
func (metadataBody) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true, MaxProperties: new(20)}
}

// laneShareBody is a lane and its weight among those of a broadcast.
type laneShareBody struct {
	MTAConfigKey endpoint.Opt[string]  `json:"mta_config_key"`
	MTAConfigID  json.RawMessage       `json:"mta_config_id,omitempty" doc:"Session form."`
	Weight       endpoint.Opt[float64] `json:"weight" nullable:"false" doc:"Over 0; relative to the others'."`
}

// BroadcastContent is the content of a broadcast, which may be a version of an
// entry of the library.
type broadcastContent struct {
	ContentBody
	MessageID      endpoint.Opt[string] `json:"message_id" doc:"Takes the content of this entry of the library; what is sent besides changes it."`
	MessageVersion endpoint.Opt[int]    `json:"message_version" doc:"Of that entry. Default: the current one."`
}

// message returns the version of the library's that the body takes, if any.
func (c broadcastContent) message(bad *fault.Problems) *broadcast.Message {
	if !c.MessageID.Given() {
		if c.MessageVersion.Given() {
			bad.Add("content.message_version", "needs content.message_id beside it")
		}
		return nil
	}
	entry, ok := id.Parse[id.LibraryEntry](c.MessageID.Value)
	if !ok {
		bad.Add("content.message_id", "must be the uuid of an entry of the library")
	}
	if c.MessageVersion.Given() && c.MessageVersion.Value < 1 {
		bad.Add("content.message_version", "must be a positive integer")
	}
	return &broadcast.Message{Entry: entry, Version: c.MessageVersion.Value}
}

const notYet = "is not available yet: leave it out or send its default"

// refuse says what the body asks for that cannot be done (yet), each by its
// name: it returns what has a code of its own and adds the others to bad.
func (in *broadcastBody) refuse(bad *fault.Problems) error {
	if in.SplitTest.Given() {
		return broadcast.ErrSplitTest
	}
	if in.SeedLists.Given() {
		bad.Add("seed_list_ids", notYet)
	}
	return nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// check returns what is wrong with the body, whatever it names.
func (in *broadcastBody) check(p auth.Principal) error {
	ch, err := in.change(p)
	if err != nil {
		return err
	}
	if _, err := in.sessionIDs(p); err != nil {
		return err
	}
	return ch.Check()
}

// change returns the change that the body asks for, but for what it names.
func (in *broadcastBody) change(p auth.Principal) (broadcast.Change, error) {
	var ch broadcast.Change
	var bad fault.Problems
	if err := in.refuse(&bad); err != nil {
		return ch, err
	}
	ch = broadcast.Change{Name: in.Name.Pointer(), Tracking: in.Tracking.Pointer(), Delivery: in.delivery()}
	if in.Content.Set {
		var err error
		if ch.Content, err = in.Content.Value.change(p); err != nil {
			return ch, err
		}
		ch.Message = in.Content.Value.message(&bad)
	}
	if in.Variants.Set {
		arms := []broadcast.Variant(nil)
		if in.Variants.Given() {
			var err error
			if arms, err = broadcast.ReadVariants(in.Variants.Value); err != nil {
				return ch, err
			}
		}
		ch.Variants = &arms
	}
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
	if bad.Any() { // then all that is wrong is told, not only what was found first
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

// change turns the body into a change: public names become ids.
func (a *API) change(ctx context.Context, p auth.Principal, in *broadcastBody) (broadcast.Change, error) {
	ch, err := in.change(p)
	if err != nil {
		return ch, err
	}
	return ch, a.resolve(ctx, p, in, &ch)
}

// resolve looks up what the body refers to. A person may name things by id
// too, and the id wins.
func (a *API) resolve(ctx context.Context, p auth.Principal, in *broadcastBody, ch *broadcast.Change) error {
	ids, err := in.sessionIDs(p)
	if err != nil {
		return err
	}
	if err := a.resolveType(ctx, p, in, ids, ch); err != nil {
		return err
	}
	switch {
	case ids.lane != nil && !ids.lane.IsZero():
		if _, err := lane.ByID(ctx, a.DB, p.Tenant, *ids.lane); err != nil {
			return becomes(err, lane.ErrNotFound, broadcast.ErrMTAConfig)
		}
		ch.MTAConfig = ids.lane
	case in.MTAConfigKey.Given():
		l, err := lane.ByKey(ctx, a.DB, p.Tenant, in.MTAConfigKey.Value)
		if err != nil {
			return err
		}
		ch.MTAConfig = &l.ID
	case ids.lane != nil || in.MTAConfigKey.Set:
		ch.MTAConfig = new(id.MTAConfig{})
	}
	if ch.Include, err = a.resolveSegments(ctx, p.Tenant, in.IncludeKeys, ids.include); err != nil {
		return err
	}
	if ch.Exclude, err = a.resolveSegments(ctx, p.Tenant, in.ExcludeKeys, ids.exclude); err != nil {
		return err
	}
	if in.Lanes.Given() {
		if err := a.resolveLanes(ctx, p, in.Lanes.Value, ch); err != nil {
			return err
		}
	}
	return a.resolveSenders(ctx, p.Tenant, in.Senders, ids.senders, ch)
}

// resolveType looks up the email type, which must be active.
func (a *API) resolveType(ctx context.Context, p auth.Principal, in *broadcastBody, ids sessionIDs, ch *broadcast.Change) error {
	var typ sender.EmailType
	var err error
	switch {
	case ids.emailType != nil && !ids.emailType.IsZero():
		typ, err = sender.EmailTypeByID(ctx, a.DB, p.Tenant, *ids.emailType)
		err = becomes(err, sender.ErrEmailTypeNotFound, broadcast.ErrEmailType)
	case in.EmailTypeKey.Given():
		typ, err = sender.EmailTypeByKey(ctx, a.DB, p.Tenant, in.EmailTypeKey.Value)
	case ids.emailType != nil || in.EmailTypeKey.Set:
		if p.IsKey() {
			return broadcast.ErrEmailType.Sayf("email_type_key is required")
		}
		ch.EmailType = new(id.EmailType{})
		return nil
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if !typ.Active {
		return broadcast.ErrEmailType.Sayf("the email type %s is not active", typ.Key)
	}
	ch.EmailType = &typ.ID
	return nil
}

func (a *API) resolveSegments(ctx context.Context, tenant id.Tenant, keys endpoint.Opt[[]string], ids *[]id.Segment) (*[]id.Segment, error) {
	var list []segment.Segment
	var err error
	switch {
	case ids != nil && len(*ids) > broadcast.MaxSegments || len(distinct(keys.Value)) > broadcast.MaxSegments:
		err = broadcast.ErrLimit.Sayf("a broadcast may include at most %d segments and exclude as many", broadcast.MaxSegments)
	case ids != nil:
		list, err = segment.ByIDs(ctx, a.DB, tenant, *ids)
	case keys.Set:
		list, err = segment.ByKeys(ctx, a.DB, tenant, distinct(keys.Value))
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := make([]id.Segment, len(list))
	for i, s := range list {
		found[i] = s.ID
	}
	return &found, nil
}

func (a *API) resolveSenders(ctx context.Context, tenant id.Tenant, addresses endpoint.Opt[[]string], ids *[]id.Identity, ch *broadcast.Change) error {
	var list []sender.Identity
	var err error
	switch {
	case ids != nil:
		list, err = sender.IdentitiesByID(ctx, a.DB, tenant, *ids)
		if err == nil && len(list) < len(*ids) {
			err = broadcast.ErrIdentity
		}
	case len(distinct(addresses.Value)) > sender.MaxIdentities:
		err = broadcast.ErrIdentity.Sayf("more addresses than there can be sending identities")
	case addresses.Set:
		list, err = sender.IdentitiesByAddress(ctx, a.DB, tenant, distinct(addresses.Value))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	found := make([]id.Identity, len(list))
	for i, s := range list {
		found[i] = s.ID
	}
	ch.Identities = &found
	return nil
}

// sessionIDs are the references that a person may make by id; nil: not made.
type sessionIDs struct {
	emailType        *id.EmailType
	lane             *id.MTAConfig
	include, exclude *[]id.Segment
	senders          *[]id.Identity
}

// sessionIDs reads them; a key has none.
func (in *broadcastBody) sessionIDs(p auth.Principal) (sessionIDs, error) {
	var ids sessionIDs
	if p.IsKey() {
		return ids, nil
	}
	var bad fault.Problems
	ids.emailType = oneID[id.EmailType](&bad, "email_type_id", in.EmailTypeID)
	ids.lane = oneID[id.MTAConfig](&bad, "mta_config_id", in.MTAConfigID)
	ids.include = manyIDs[id.Segment](&bad, "include_segment_ids", in.IncludeIDs)
	ids.exclude = manyIDs[id.Segment](&bad, "exclude_segment_ids", in.ExcludeIDs)
	ids.senders = manyIDs[id.Identity](&bad, "sending_identity_ids", in.SenderIDs)
	return ids, bad.Err()
}

// oneID reads an id; the empty id for null, nil when there is none.
func oneID[T ~[16]byte](bad *fault.Problems, path string, raw json.RawMessage) *T {
	if len(raw) == 0 {
		return nil
	}
	if !given(raw) {
		return new(T)
	}
	var text string
	v, ok := T{}, false
	if json.Unmarshal(raw, &text) == nil {
		v, ok = id.Parse[T](text)
	}
	if !ok {
		bad.Add(path, "must be a uuid")
	}
	return &v
}

// manyIDs reads a list of ids, each once; null is the empty list.
func manyIDs[T ~[16]byte](bad *fault.Problems, path string, raw json.RawMessage) *[]T {
	if len(raw) == 0 {
		return nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) != nil {
		bad.Add(path, "must be a list of uuids")
		return nil
	}
	seen := map[T]bool{}
	list := []T{}
	for _, t := range texts {
		v, ok := id.Parse[T](t)
		if !ok {
			bad.Add(path, "must be a list of uuids")
			return nil
		}
		if !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return &list
}

// distinct returns the texts of a list in their order, each once.
func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	out := make([]string, 0, len(list))
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// becomes turns one fault into another.
func becomes(err error, from, to *fault.Error) error {
	if f, ok := fault.As(err); ok && f.Is(from) {
		return to
	}
	return err
}

type createBroadcastRequest struct {
	Key  string `header:"Idempotency-Key" doc:"8 to 128 letters, digits, - or _; a repeat within 24 hours returns the first answer."`
	Body broadcastBody
}

func checkNewBroadcast(p auth.Principal, in *createBroadcastRequest) error { return in.Body.check(p) }

func (a *API) createBroadcast(ctx context.Context, p auth.Principal, in *createBroadcastRequest) (broadcastAnswer, error) {
	ch, err := a.change(ctx, p, &in.Body)
	if err != nil {
		return broadcastAnswer{}, err
	}
	if ch.EmailType == nil && p.IsKey() {
		return broadcastAnswer{}, broadcast.ErrEmailType.Sayf("email_type_key is required")
	}
	b, err := broadcast.New(ctx, a.author(), p.Tenant, ch, p.Actor())
	if err != nil {
		return broadcastAnswer{}, err
	}
	out, err := a.viewBroadcast(ctx, p, b)
	if err != nil {
		return broadcastAnswer{}, err
	}
	return out, a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := b.Insert(ctx, tx); err != nil {
			return err
		}
		return endpoint.Remember(ctx, tx, out)
	})
}

type updateBroadcastRequest struct {
	ID   string `path:"broadcast_id" doc:"The broadcast's id."`
	Body broadcastBody
}

func checkBroadcast(p auth.Principal, in *updateBroadcastRequest) error { return in.Body.check(p) }

func (a *API) updateBroadcast(ctx context.Context, p auth.Principal, in *updateBroadcastRequest) (broadcastAnswer, error) {
	ch, err := a.change(ctx, p, &in.Body)
	if err != nil {
		return broadcastAnswer{}, err
	}
	bid, ok := id.Parse[id.Broadcast](in.ID)
	if !ok {
		return broadcastAnswer{}, broadcast.ErrNotFound
	}
	b, err := broadcast.Update(ctx, a.author(), p.Tenant, bid, ch)
	if err != nil {
		return broadcastAnswer{}, err
	}
	return a.viewBroadcast(ctx, p, b)
}

func (a *API) deleteBroadcast(ctx context.Context, p auth.Principal, in *broadcastPath) (endpoint.None, error) {
	bid, ok := id.Parse[id.Broadcast](in.ID)
	if !ok {
		return endpoint.None{}, broadcast.ErrNotFound
	}
	return endpoint.None{}, broadcast.Delete(ctx, a.DB, p.Tenant, bid)
}
