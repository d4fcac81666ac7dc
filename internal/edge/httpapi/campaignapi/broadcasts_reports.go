package campaignapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/view/report"
)

// reports registers the reports of a broadcast.
func (api Broadcasts) reports(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/report", endpoint.Op{
		Name:        "getBroadcastReport",
		Summary:     "Get the headline metrics of a broadcast.",
		Description: "Every rate is over total_recipients. Opens and clicks of machines are never in the headline numbers.",
		Tag:         "reports",
		Scope:       auth.ReportsRead,
		Faults:      []*fault.Error{broadcast.ErrNotFound},
	}, api.broadcastReport)
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/links", endpoint.Op{
		Name:    "listBroadcastLinks",
		Summary: "List the links of a broadcast with their clicks, busiest first.",
		Tag:     "reports",
		Scope:   auth.ReportsRead,
		Faults:  []*fault.Error{broadcast.ErrNotFound},
	}, api.broadcastLinks)
	api.breakdowns(r)
}

type broadcastPath struct {
	ID string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
}

type broadcastReport struct {
	BroadcastID          string          `json:"broadcast_id" format:"uuid"`
	Name                 string          `json:"name"`
	Status               string          `json:"status"`
	SentAt               *endpoint.Stamp `json:"sent_at" doc:"The time for which the send was scheduled: scheduled_at of the broadcast."`
	LastSendAt           *endpoint.Stamp `json:"last_send_at" doc:"When the last message was handed over; null before the first."`
	TotalRecipients      int             `json:"total_recipients" doc:"The denominator of every rate."`
	TotalSent            int             `json:"total_sent" doc:"Handed over: accepted, or refused for this address."`
	TotalDelivered       int             `json:"total_delivered"`
	TotalFailed          int             `json:"total_failed" doc:"Never handed over, for a reason on our side."`
	TotalBounced         int             `json:"total_bounced"`
	TotalComplained      int             `json:"total_complained"`
	TotalUnsubscribed    int             `json:"total_unsubscribed"`
	TotalOpened          int             `json:"total_opened" doc:"At least one open by a person."`
	TotalClicked         int             `json:"total_clicked" doc:"At least one click by a person."`
	ApparentOpened       int             `json:"apparent_opened" doc:"At least one open of any kind, machines included."`
	VerifiedOpened       int             `json:"verified_opened" doc:"An open that is not a machine's, or a click by a person."`
	ConfirmedOpened      int             `json:"confirmed_opened" doc:"An open by a person that something else confirms."`
	BotOpened            int             `json:"bot_opened"`
	BotClicked           int             `json:"bot_clicked"`
	PendingOpened        int             `json:"pending_opened" doc:"Not yet classified; 0 once the send is over."`
	PendingClicked       int             `json:"pending_clicked"`
	ClassifierLastRunAt  *endpoint.Stamp `json:"classifier_last_run_at" doc:"Null unless the send is live."`
	ClassifierIntervalMS *int64          `json:"classifier_interval_ms" doc:"Null unless the send is live."`
	OpenRate             float64         `json:"open_rate"`
	ApparentOpenRate     float64         `json:"apparent_open_rate"`
	VerifiedOpenRate     float64         `json:"verified_open_rate"`
	ConfirmedOpenRate    float64         `json:"confirmed_open_rate"`
	ClickRate            float64         `json:"click_rate"`
	BounceRate           float64         `json:"bounce_rate"`
}

func (api Broadcasts) broadcastReport(ctx context.Context, p auth.Principal, in *broadcastPath) (broadcastReport, error) {
	b, err := api.broadcastAt(ctx, p, in.ID)
	if err != nil {
		return broadcastReport{}, err
	}
	r, err := report.Of(ctx, api.db, b.Tenant, b.Send)
	if err != nil {
		return broadcastReport{}, err
	}
	m, e := r.Messages, r.People
	out := broadcastReport{
		BroadcastID: b.ID.String(), Name: b.Name, Status: string(b.Status),
		SentAt: endpoint.AtOr(b.ScheduledAt), LastSendAt: endpoint.AtOr(m.LastSendAt),
		TotalRecipients: m.Total, TotalSent: m.Sent, TotalDelivered: m.Delivered, TotalFailed: m.Failed, TotalBounced: m.Bounced,
		TotalComplained: e.Complained, TotalUnsubscribed: e.Unsubscribed, TotalOpened: e.HumanOpened, TotalClicked: e.HumanClicked,
		ApparentOpened: e.ApparentOpened, VerifiedOpened: e.VerifiedOpened, ConfirmedOpened: e.Confirmed,
		BotOpened: e.BotOpened, BotClicked: e.BotClicked, PendingOpened: e.PendingOpened, PendingClicked: e.PendingClicked,
		OpenRate: r.Rate(e.HumanOpened), ApparentOpenRate: r.Rate(e.ApparentOpened), VerifiedOpenRate: r.Rate(e.VerifiedOpened),
		ConfirmedOpenRate: r.Rate(e.Confirmed), ClickRate: r.Rate(e.HumanClicked), BounceRate: r.Rate(m.Bounced),
	}
	if !r.Live {
		return out, nil
	}
	last, err := classify.LastRun(ctx, api.db)
	if err != nil {
		return broadcastReport{}, err
	}
	out.ClassifierLastRunAt, out.ClassifierIntervalMS = endpoint.AtOr(last), new(classify.Interval.Milliseconds())
	return out, nil
}

// broadcastAt returns the broadcast that a path names.
func (api Broadcasts) broadcastAt(ctx context.Context, p auth.Principal, path string) (broadcast.Broadcast, error) {
	bid, ok := id.Parse[id.Broadcast](path)
	if !ok {
		return broadcast.Broadcast{}, broadcast.ErrNotFound
	}
	return broadcast.Load(ctx, api.db, p.Tenant, bid)
}

type linkRow struct {
	LinkID       int             `json:"link_id" doc:"The link's number within the broadcast."`
	URL          string          `json:"url" doc:"As authored, without UTM parameters."`
	Label        string          `json:"label" doc:"The text of the link."`
	UniqueClicks int             `json:"unique_clicks"`
	TotalClicks  int             `json:"total_clicks"`
	ClickRate    float64         `json:"click_rate" doc:"unique_clicks over recipients."`
	FirstClickAt *endpoint.Stamp `json:"first_click_at"`
	LastClickAt  *endpoint.Stamp `json:"last_click_at"`
}

func (api Broadcasts) broadcastLinks(ctx context.Context, p auth.Principal, in *broadcastPath) ([]linkRow, error) {
	b, err := api.broadcastAt(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	list, err := report.Links(ctx, api.db, b.Tenant, b.Send)
	if err != nil {
		return nil, err
	}
	rows := make([]linkRow, len(list))
	for i, l := range list {
		rows[i] = linkRow{
			LinkID: l.Index, URL: l.URL, Label: l.Label, UniqueClicks: l.UniqueClicks, TotalClicks: l.TotalClicks,
			ClickRate: l.ClickRate, FirstClickAt: endpoint.AtOr(l.FirstClickAt), LastClickAt: endpoint.AtOr(l.LastClickAt),
		}
	}
	return rows, nil
}
