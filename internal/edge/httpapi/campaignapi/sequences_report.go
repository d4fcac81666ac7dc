package campaignapi

import (
	"context"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/view/report"
)

// reports registers the operations on the numbers of sequences.
func (api Sequences) reports(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences/{id}/report", endpoint.Op{
		Name: "getSequenceReport", Summary: "Get the numbers of a sequence and its nodes.", Tag: "sequences", Scope: auth.ReportsRead,
		Faults: []*fault.Error{sequence.ErrNotFound},
	}, api.getSequenceReport)
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences/{id}/timing", endpoint.Op{
		Name: "getSequenceTiming", Summary: "Get the numbers of a sequence by day.",
		Description: "Days are those of the account's time zone. Enrollments count on the day on which they began and on that on which they ended, mails on the day on which their attempts ended, opens and clicks on the day of a recipient's first one in a mail. Mails of nodes that were removed since count.",
		Tag:         "sequences", Session: true,
		Faults: []*fault.Error{sequence.ErrNotFound},
	}, api.getSequenceTiming)
}

// SequenceReport is the numbers of a sequence.
type SequenceReport struct {
	SequenceID id.Sequence          `json:"sequence_id" format:"uuid"`
	Enrolled   int                  `json:"enrolled"`
	Active     int                  `json:"active" doc:"In the sequence now, also while it is paused."`
	Completed  int                  `json:"completed"`
	Exited     int                  `json:"exited"`
	Converted  int                  `json:"converted" doc:"Those of exited that reached a goal."`
	Overdue    int                  `json:"overdue" doc:"Of a paused sequence: those of active whose wait was over when it was paused. They continue over 15 minutes when it is resumed."`
	Nodes      []SequenceNodeReport `json:"nodes"`
}

// SequenceNodeReport is the numbers of a node.
type SequenceNodeReport struct {
	NodeID       string `json:"node_id"`
	Entered      int    `json:"entered"`
	Completed    int    `json:"completed"`
	Waiting      int    `json:"waiting" doc:"Contacts at the node now."`
	Sent         int    `json:"sent"`
	Delivered    int    `json:"delivered"`
	Opened       int    `json:"opened"`
	Clicked      int    `json:"clicked"`
	Bounced      int    `json:"bounced"`
	Unsubscribed int    `json:"unsubscribed"`
}

func (api Sequences) getSequenceReport(ctx context.Context, p auth.Principal, in *wire.RecordPath) (SequenceReport, error) {
	s, err := api.load(ctx, p, in.ID)
	if err != nil {
		return SequenceReport{}, err
	}
	r, err := sequence.LoadReport(ctx, api.db, s)
	if err != nil {
		return SequenceReport{}, err
	}
	out := SequenceReport{
		SequenceID: s.ID, Enrolled: r.Entered, Active: r.Active, Completed: r.Completed, Exited: r.Exited, Converted: r.Converted, Overdue: r.Overdue,
		Nodes: make([]SequenceNodeReport, len(r.Nodes)),
	}
	for i, n := range r.Nodes {
		row := SequenceNodeReport{NodeID: n.Node.ID, Entered: n.Entered, Completed: n.Completed, Waiting: n.Waiting}
		if !n.Send.IsZero() {
			mails, err := report.Of(ctx, api.db, p.Tenant, n.Send)
			if err != nil {
				return SequenceReport{}, err
			}
			row.Sent, row.Delivered, row.Bounced = mails.Messages.Sent, mails.Messages.Delivered, mails.Messages.Bounced
			row.Opened, row.Clicked, row.Unsubscribed = mails.People.VerifiedOpened, mails.People.HumanClicked, mails.People.Unsubscribed
		}
		out.Nodes[i] = row
	}
	return out, nil
}

type sequenceTimingRequest struct {
	wire.RecordPath
	wire.DayRange
}

// SequenceDay is what happened in a sequence on one day.
type SequenceDay struct {
	Date         spread.Day `json:"date" format:"date"`
	Entered      int        `json:"entered"`
	Completed    int        `json:"completed"`
	Exited       int        `json:"exited"`
	Converted    int        `json:"converted" doc:"Those of exited that reached a goal."`
	Failed       int        `json:"failed"`
	Sent         int        `json:"sent"`
	Delivered    int        `json:"delivered"`
	Opened       int        `json:"opened"`
	Clicked      int        `json:"clicked"`
	Bounced      int        `json:"bounced"`
	Unsubscribed int        `json:"unsubscribed"`
}

type sequenceTiming struct {
	SequenceID id.Sequence   `json:"sequence_id" format:"uuid"`
	From       spread.Day    `json:"from" format:"date"`
	To         spread.Day    `json:"to" format:"date"`
	Timezone   string        `json:"timezone"`
	Series     []SequenceDay `json:"series" doc:"Each day of the range, in order."`
}

func (api Sequences) getSequenceTiming(ctx context.Context, p auth.Principal, in *sequenceTimingRequest) (sequenceTiming, error) {
	var none sequenceTiming
	s, err := api.load(ctx, p, in.ID)
	if err != nil {
		return none, err
	}
	account, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return none, err
	}
	zone := account.Location()
	var problems fault.Problems
	first, last := in.Days(&problems, spread.DayOf(api.now(), zone))
	if err := problems.Err(); err != nil {
		return none, err
	}
	people, err := sequence.CountsByDay(ctx, api.db, p.Tenant, s.ID, first, last, zone)
	if err != nil {
		return none, err
	}
	sends, err := sequence.Sends(ctx, api.db, p.Tenant, s.ID)
	if err != nil {
		return none, err
	}
	mails, err := report.SendsByDay(ctx, api.db, p.Tenant, slices.Collect(maps.Values(sends)), first, last, zone)
	if err != nil {
		return none, err
	}
	out := sequenceTiming{SequenceID: s.ID, From: first, To: last, Timezone: account.Settings.Timezone}
	for day := first; day <= last; day = day.Add(1) {
		n, m := people[day], mails[day]
		out.Series = append(out.Series, SequenceDay{
			Date: day, Entered: n.Entered, Completed: n.Completed, Exited: n.Exited, Converted: n.Converted, Failed: n.Failed,
			Sent: m.Messages.Sent, Delivered: m.Messages.Delivered, Bounced: m.Messages.Bounced,
			Opened: m.People.VerifiedOpened, Clicked: m.People.HumanClicked, Unsubscribed: m.People.Unsubscribed,
		})
	}
	return out, nil
}
