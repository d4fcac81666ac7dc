package campaignapi

import (
	"context"
	"slices"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxEmbeddedRecipients is the maximum number of recipients in the answer with a single broadcast.
const maxEmbeddedRecipients = 100

// maxFailureSamples is the maximum number of failures in the answer with a failed broadcast.
const maxFailureSamples = 5

// broadcastView is a single broadcast.
type broadcastView struct {
	FullBroadcast
	BroadcastProgress
}

type broadcastSessionView struct {
	FullSession
	BroadcastProgress
}

// broadcastAnswer is the answer with a single broadcast.
type broadcastAnswer = wire.Form[broadcastView, broadcastSessionView]

// BroadcastProgress are the fields of a single broadcast that rows of lists do not have.
type BroadcastProgress struct {
	TotalRecipients int            `json:"total_recipients"`
	Sent            int            `json:"sent"`
	Failed          int            `json:"failed"`
	ProgressPct     int            `json:"progress_pct" doc:"sent over total_recipients, rounded."`
	Recipients      []RecipientRow `json:"recipients,omitzero" doc:"The first 100, once a send has been prepared."`
	Truncated       bool           `json:"recipients_truncated"`
	ViewModel       viewModel      `json:"view_model"`

	Warnings []broadcast.ScheduleWarning `json:"warnings" doc:"Of drafts and scheduled broadcasts: what their author should look at in the content. It prevents nothing."`
}

// viewModel is computed for each answer.
type viewModel struct {
	Actions   []broadcast.Action `json:"available_actions" doc:"The calls that the state allows."`
	Readiness *readiness         `json:"schedule_readiness" doc:"Drafts only."`
	Progress  *DeliveryProgress  `json:"delivery_progress" doc:"Null before preparation."`
	Failure   *failureInfo       `json:"failure_info"`
}

type readiness struct {
	Ready    bool                        `json:"ready"`
	Reasons  []broadcast.Reason          `json:"reasons"`
	Warnings []broadcast.ScheduleWarning `json:"warnings"`
}

type DeliveryProgress struct {
	Phase           broadcast.Phase `json:"phase" enum:"preparing,sending,waiting,paused,done"`
	TotalRecipients int             `json:"total_recipients"`
	Queued          int             `json:"queued"`
	Sent            int             `json:"sent"`
	Delivered       int             `json:"delivered"`
	Deferred        int             `json:"deferred" doc:"Waiting for another attempt; part of queued."`
	Bounced         int             `json:"bounced" doc:"Part of sent."`
	Failed          int             `json:"failed"`
	Cancelled       int             `json:"cancelled"`
	Skipped         int             `json:"skipped"`
	HeldBack        int             `json:"held_back"`
	Excluded        map[string]int  `json:"excluded" doc:"Contacts of the audience that get no message, by reason."`
	Remaining       int             `json:"remaining"`
	ProgressPct     int             `json:"progress_pct"`
	RatePerMinute   int             `json:"rate_per_minute" doc:"In the last two minutes; of a send over days, today's average; of an unplanned send that has ended, the average of all of it."`
	LimitedBy       *limitedBy      `json:"limited_by" doc:"What delays messages that are due. Null if nothing is known to, and unless the phase is sending or waiting."`
	ETA             *endpoint.Stamp `json:"eta"`
	NextBatchAt     *endpoint.Stamp `json:"next_batch_at"`
	Plan            []planDay       `json:"plan" nullable:"true" doc:"Null for a send that is not spread over days."`
	SeedCopies      seedCopies      `json:"seed_copies"`
}

type limitedBy struct {
	Kind         outbox.WaitKind `json:"kind" enum:"mta_config_rate,mta_config_day,mta_config_down,provider_rate,provider_connections,broadcast_rate,dns,hold"`
	MTAConfigKey *string         `json:"mta_config_key" doc:"The MTA config with the limit."`
	Provider     *string         `json:"provider" doc:"The pattern of the throttle."`
	PerMinute    *float64        `json:"per_minute" doc:"How many messages may be sent; null if the limit is not a rate."`
	Until        endpoint.Stamp  `json:"until" doc:"When more messages may be sent, or the limit is checked again."`
	Message      string          `json:"message"`
}

type planDay struct {
	Date    spread.Day          `json:"date" format:"date"`
	Planned int                 `json:"planned"`
	Sent    int                 `json:"sent"`
	Status  broadcast.DayStatus `json:"status" enum:"done,today,planned,skipped"`
}

type seedCopies struct {
	Sent         int `json:"sent" doc:"Accepted, or refused for the address; in no other number."`
	SkippedStale int `json:"skipped_stale" doc:"Not sent because their seed list is stale."`
}

type failureInfo struct {
	Code        broadcast.FailureCode `json:"code"`
	Message     string                `json:"message"`
	FailedAt    endpoint.Stamp        `json:"failed_at"`
	FailedCount int                   `json:"failed_count"`
	Samples     []failureSample       `json:"samples"`
}

type failureSample struct {
	Email string `json:"email"`
	Error string `json:"error"`
}

// embedding says whether the answer with a single broadcast has its bodies and recipients.
type embedding bool

const withoutEmbedded, withEmbedded embedding = false, true

// viewBroadcast returns the answer with a single broadcast.
func (api Broadcasts) viewBroadcast(ctx context.Context, p auth.Principal, b broadcast.Broadcast) (broadcastAnswer, error) {
	return api.showBroadcast(ctx, p, b, withEmbedded)
}

func (api Broadcasts) showBroadcast(ctx context.Context, p auth.Principal, b broadcast.Broadcast, embed embedding) (broadcastAnswer, error) {
	endpoint.SetRevision(ctx, b.Revision)
	names, err := api.namesFor(ctx, b.Tenant, b)
	if err != nil {
		return broadcastAnswer{}, err
	}
	extra, err := api.progressOf(ctx, b, embed)
	if err != nil {
		return broadcastAnswer{}, err
	}
	if !embed {
		b = withoutBodies(b)
	}
	return wire.FormFor(p,
		func() broadcastView { return broadcastView{names.full(b), extra} },
		func() broadcastSessionView { return broadcastSessionView{names.fullSession(b), extra} }), nil
}

// withoutBodies returns a broadcast whose content and variants have no bodies.
func withoutBodies(b broadcast.Broadcast) broadcast.Broadcast {
	b.Content.HTML, b.Content.MJML, b.Content.Text = nil, nil, nil
	if b.Content.Origin != nil {
		origin := *b.Content.Origin
		origin.Snapshot = nil
		b.Content.Origin = &origin
	}
	b.Variants = slices.Clone(b.Variants)
	for i, v := range b.Variants {
		kept := map[draft.Field]string{}
		for f, text := range v.Overrides {
			if f != draft.BodyHTML && f != draft.BodyMJML && f != draft.BodyText {
				kept[f] = text
			}
		}
		b.Variants[i].Overrides = kept
	}
	return b
}

func (api Broadcasts) progressOf(ctx context.Context, b broadcast.Broadcast, embed embedding) (BroadcastProgress, error) {
	out := BroadcastProgress{Warnings: []broadcast.ScheduleWarning{}}
	var err error
	if out.ViewModel.Actions, err = b.AvailableNow(ctx, api.db); err != nil {
		return out, err
	}
	if b.Status == broadcast.Draft {
		ready, err := broadcast.Ready(ctx, api.db, b, api.now())
		if err != nil {
			return out, err
		}
		out.ViewModel.Readiness = &readiness{len(ready.Reasons) == 0, ready.Reasons, ready.Warnings}
		out.Warnings = endpoint.NonNil(ready.Troubles)
	} else if b.Status == broadcast.Scheduled {
		found, err := broadcast.Troubles(ctx, api.db, b, api.now())
		if err != nil {
			return out, err
		}
		out.Warnings = found
	}
	progress, err := broadcast.LoadProgress(ctx, api.db, b, api.now())
	if err != nil {
		return out, err
	}
	if b.Failure != nil {
		out.ViewModel.Failure, err = api.failureOf(ctx, b, progress)
		if err != nil {
			return out, err
		}
	}
	if progress == nil {
		return out, nil
	}
	out.TotalRecipients, out.Sent, out.Failed, out.ProgressPct = progress.Total, progress.Sent, progress.Failed, progress.Percent
	if out.ViewModel.Progress, err = ShowProgress(ctx, api.db, b.Tenant, progress); err != nil {
		return out, err
	}
	if !embed {
		out.Truncated = progress.Total > 0
		return out, nil
	}
	records, err := outbox.First(ctx, api.db, b.Tenant, b.Send, maxEmbeddedRecipients)
	if err != nil {
		return out, err
	}
	out.Truncated = progress.Total > len(records)
	out.Recipients, err = recipientRows(ctx, api.db, b.Tenant, records)
	return out, err
}

func (api Broadcasts) failureOf(ctx context.Context, b broadcast.Broadcast, p *broadcast.Progress) (*failureInfo, error) {
	info := &failureInfo{Code: b.Failure.Code, Message: b.Failure.Message, FailedAt: endpoint.At(b.Failure.At), Samples: []failureSample{}}
	if p == nil {
		return info, nil
	}
	info.FailedCount = p.Failed
	failed, err := outbox.FirstFailures(ctx, api.db, b.Tenant, b.Send, maxFailureSamples)
	if err != nil {
		return nil, err
	}
	for _, r := range failed {
		info.Samples = append(info.Samples, failureSample{r.Email, r.Error})
	}
	return info, nil
}

// ShowProgress returns the progress of a send, with what delays its messages.
func ShowProgress(ctx context.Context, db *sqldb.DB, t id.Tenant, p *broadcast.Progress) (*DeliveryProgress, error) {
	out := &DeliveryProgress{
		Phase: p.Phase, TotalRecipients: p.Total, Queued: p.Waiting, Sent: p.Sent, Delivered: p.Delivered, Deferred: p.Deferred, Bounced: p.Bounced, Failed: p.Failed, Cancelled: p.Cancelled,
		Skipped: p.Skipped, HeldBack: p.HeldBack, Excluded: p.Excluded, Remaining: p.Waiting, ProgressPct: p.Percent,
		RatePerMinute: p.PerMinute, ETA: endpoint.AtOr(p.ETA), NextBatchAt: endpoint.AtOr(p.NextBatchAt),
		SeedCopies: seedCopies{Sent: p.Copies.Sent, SkippedStale: p.Copies.SkippedStale},
	}
	if p.Plan != nil {
		out.Plan = make([]planDay, len(p.Plan))
	}
	for i, d := range p.Plan {
		out.Plan[i] = planDay{d.Day.Day, d.Planned, d.Sent, d.Status}
	}
	if p.Limit == nil {
		return out, nil
	}
	lanes, err := lane.Keys(ctx, db, t, []id.Lane{p.Limit.Lane})
	if err != nil {
		return nil, err
	}
	out.LimitedBy = showLimit(*p.Limit, lanes[p.Limit.Lane])
	return out, nil
}

func showLimit(w outbox.Wait, laneKey string) *limitedBy {
	out := &limitedBy{Kind: w.Kind, MTAConfigKey: optional.Pointer(laneKey), Provider: optional.Pointer(w.Provider), Until: endpoint.At(w.Until), Message: w.Reason}
	if w.Max > 0 && w.Per > 0 {
		out.PerMinute = new(float64(w.Max) / w.Per.Minutes())
	}
	return out
}
