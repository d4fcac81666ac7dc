package campaignapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
)

// forecast registers the preview of a send.
func (api Broadcasts) forecast(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/preview-send", endpoint.Op{
		Name: "previewSend", Summary: "Compute who would get a broadcast, from whom, and on which days.", Tag: "broadcasts", Session: true, Role: auth.Viewer,
		Description: "Reads the audience and plans like the send, and stores and reserves nothing. The body is a broadcast, or broadcast_id with fields that replace its own; content is checked and not used. " +
			"estimated is true if the audience is too large to read all of it in some seconds: then the numbers are extrapolated from the contacts that were read, the oldest first. " +
			"Of a broadcast that is being sent, only skipped_dates can be sent, and the plan is that of the messages that were not sent yet.",
		MaxBody: 5 * endpoint.Megabyte, FieldFaults: broadcastFieldFaults,
		Faults: append([]*fault.Error{broadcast.ErrNotFound, broadcast.ErrNotDraft, broadcast.ErrTransition, broadcast.ErrNoPlan, broadcast.ErrSkip, dispatch.ErrWaiting, dispatch.ErrBusy}, writeFaults...),
	}.ExampleBody(`{"email_type_key": "weekly", "include_segment_keys": ["$SEGMENT_KEY"], "delivery_mode": "over_days", "delivery_window_days": 3, "throttle_per_hour": 500}`), api.previewSend, checkPreviewSend)
}

type previewSendRequest struct {
	Body struct {
		ID endpoint.Opt[string] `json:"broadcast_id" doc:"Default: a new broadcast."`
		BroadcastBody
	}
}

func checkPreviewSend(p auth.Principal, in *previewSendRequest) error {
	_, err := in.broadcast()
	if err != nil {
		var bad fault.Problems
		bad.AddFrom(err)
		bad.AddFrom(in.Body.check(p))
		return bad.Err()
	}
	return in.Body.check(p)
}

// broadcast returns the id in the body, or zero.
func (in *previewSendRequest) broadcast() (id.Broadcast, error) {
	if !in.Body.ID.Given() {
		return id.Broadcast{}, nil
	}
	b, ok := id.Parse[id.Broadcast](in.Body.ID.Value)
	if !ok {
		return b, fault.Input(fault.Field{Path: "broadcast_id", Message: "must be a uuid"})
	}
	return b, nil
}

type previewSendAnswer struct {
	EvaluatedAt   endpoint.Stamp    `json:"evaluated_at"`
	Matched       int               `json:"matched" doc:"Contacts in the included segments and in no excluded one."`
	Excluded      map[string]int    `json:"excluded" doc:"Those of them that get no mail, by reason."`
	Recipients    int               `json:"recipients"`
	Variants      []variantShareRow `json:"variants"`
	Senders       []senderShareRow  `json:"senders"`
	Plan          *[]forecastDayRow `json:"plan" doc:"Null: no days are planned, since nothing limits them."`
	HeldBack      int               `json:"held_back" doc:"Recipients for whom no day has room."`
	StartsAt      endpoint.Stamp    `json:"starts_at"`
	FinishesAt    *endpoint.Stamp   `json:"finishes_at" doc:"When the last batch is due; null: unknown."`
	LargestRecent int               `json:"largest_recent" doc:"Recipients of the largest send that began in the last 90 days."`
	Estimated     bool              `json:"estimated"`
}

type variantShareRow struct {
	ID       string `json:"id"`
	Expected int    `json:"expected"`
}

type senderShareRow struct {
	Email    *string `json:"email" doc:"Null: the sending identity was deleted."`
	Lane     *string `json:"mta_config_key" doc:"Null: several, or deleted."`
	Expected int     `json:"expected"`
}

type forecastDayRow struct {
	Date          string              `json:"date" format:"date"`
	Planned       int                 `json:"planned" doc:"Messages that are not sent yet."`
	Capacity      *int                `json:"capacity" doc:"Of the MTA configs and the broadcast's rate; null: no limit."`
	TakenByOthers int                 `json:"taken_by_others" doc:"Of the capacity, by other sends."`
	Status        broadcast.DayStatus `json:"status" enum:"today,planned,skipped"`
}

func (api Broadcasts) previewSend(ctx context.Context, p auth.Principal, in *previewSendRequest) (previewSendAnswer, error) {
	var none previewSendAnswer
	bid, err := in.broadcast()
	if err != nil {
		return none, err
	}
	ch, refs, err := in.Body.changeAndRefs(p)
	if err != nil {
		return none, err
	}
	if err := refs.Resolve(ctx, api.db, p.Tenant, &ch); err != nil {
		return none, err
	}
	b := broadcast.Broadcast{Tenant: p.Tenant, ID: id.New[id.Broadcast](), Send: id.New[id.Send](), Status: broadcast.Draft}
	if !bid.IsZero() {
		if b, err = broadcast.Head(ctx, api.db, p.Tenant, bid); err != nil {
			return none, err
		}
	}
	t, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return none, err
	}
	if b, err = b.With(ch, t, api.now()); err != nil {
		return none, err
	}
	f, err := api.forecaster.Forecast(ctx, b)
	if err != nil {
		return none, err
	}
	return api.showForecast(ctx, p.Tenant, f)
}

func (api Broadcasts) showForecast(ctx context.Context, account id.Tenant, f *dispatch.Forecast) (previewSendAnswer, error) {
	out := previewSendAnswer{
		EvaluatedAt: endpoint.At(f.At), Matched: f.Matched, Excluded: f.Excluded, Recipients: f.Recipients, HeldBack: f.HeldBack,
		StartsAt: endpoint.At(f.StartsAt), LargestRecent: f.LargestRecent, Estimated: f.Estimated,
		Variants: []variantShareRow{}, Senders: []senderShareRow{},
	}
	if f.FinishesAt != nil {
		out.FinishesAt = new(endpoint.At(*f.FinishesAt))
	}
	for _, v := range f.Variants {
		out.Variants = append(out.Variants, variantShareRow{v.Of, v.Expected})
	}
	var lanes []id.Lane
	var from []id.Identity
	for _, s := range f.Senders {
		lanes, from = append(lanes, s.Of.Lane), append(from, s.Of.Identity)
	}
	names, err := broadcast.LoadRouteNames(ctx, api.db, account, lanes, from)
	if err != nil {
		return out, err
	}
	for _, s := range f.Senders {
		out.Senders = append(out.Senders, senderShareRow{wire.NameOf(names.Identities, s.Of.Identity), wire.NameOf(names.Lanes, s.Of.Lane), s.Expected})
	}
	if f.Plan != nil {
		days := make([]forecastDayRow, len(f.Plan))
		for i, d := range f.Plan {
			days[i] = forecastDayRow{string(d.Day), d.Planned, d.Capacity, d.TakenByOthers, d.Status}
		}
		out.Plan = &days
	}
	return out, nil
}
