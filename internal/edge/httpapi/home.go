package httpapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/campaignapi"
	"github.com/packetboat/packetboat/internal/view/overview"
	"github.com/packetboat/packetboat/internal/view/report"
)

// maxLive is how many broadcasts that are sending or paused the overview of an account has.
const maxLive = 20

// home adds the overview of the account.
func (api overviewAPI) home(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/overview", endpoint.Op{
		Name:        "getOverview",
		Summary:     "Get what the first page of an account shows: its set-up, what is being sent, what needs attention, and the results of 30 days.",
		Description: "totals are the results of the last 30 days in the account's time zone, today included, and previous those of the 30 days before. counts.sendable is present in accounts with up to 100,000 contacts, and else of counted_at.",
		Tag:         "reports",
		Session:     true,
	}, api.overviewOfAccount)
}

type setupStep struct {
	Key    overview.StepKey `json:"key" enum:"account,mta_config,sending_domain,sending_identity,contacts,first_mail,dmarc,second_owner,segment,webhooks" doc:"In their order; those from dmarc on are not needed for sending."`
	Done   bool             `json:"done"`
	Detail *string          `json:"detail,omitempty" doc:"What is missing."`
	Target *string          `json:"target,omitempty" doc:"The id of the record that completes the step."`
}

type liveBroadcast struct {
	ID          id.Broadcast                  `json:"id" format:"uuid"`
	Name        string                        `json:"name"`
	Status      broadcast.Status              `json:"status" enum:"sending,paused"`
	PauseReason *broadcast.PauseReason        `json:"pause_reason"`
	Progress    *campaignapi.DeliveryProgress `json:"delivery_progress" doc:"As of a single broadcast; null before preparation."`
}

type notice struct {
	Kind       overview.Kind     `json:"kind" enum:"domain,mta,seed_list,webhook,job,broadcast,form,sequence"`
	Severity   overview.Severity `json:"severity" enum:"error,warning"`
	TargetType string            `json:"target_type" enum:"domain,mta_config,seed_list,webhook,job,broadcast,form,sequence"`
	TargetID   string            `json:"target_id" format:"uuid"`
	Message    string            `json:"message"`
	Since      *endpoint.Stamp   `json:"since"`
}

type accountCounts struct {
	Contacts  int             `json:"contacts" doc:"Without deleted ones."`
	Sendable  *int            `json:"sendable" doc:"Who could be mailed: member_count of all_sendable; null before the first count."`
	CountedAt *endpoint.Stamp `json:"counted_at" doc:"When sendable was counted, or now if it is null."`
}

// AccountOverview is what the first page of an account shows.
type AccountOverview struct {
	Setup     []setupStep     `json:"setup"`
	Live      []liveBroadcast `json:"live" doc:"Broadcasts that are sending or paused, the newest first, at most 20."`
	Attention []notice        `json:"attention" doc:"The serious ones first, at most 50. Those of webhooks are for admins."`
	Totals    OverviewTotals  `json:"totals"`
	Previous  OverviewTotals  `json:"previous"`
	Counts    accountCounts   `json:"counts"`
}

func (api overviewAPI) overviewOfAccount(ctx context.Context, p auth.Principal, _ *struct{}) (AccountOverview, error) {
	var none AccountOverview
	o, err := api.reader.Load(ctx, p.Tenant)
	if err != nil {
		return none, err
	}
	counts, err := api.reader.Counts(ctx, p.Tenant)
	if err != nil {
		return none, err
	}
	out := AccountOverview{Setup: []setupStep{}, Attention: []notice{}, Counts: accountCounts{counts.Contacts, counts.Sendable, endpoint.AtOr(counts.CountedAt)}}
	for _, s := range o.Setup {
		out.Setup = append(out.Setup, setupStep{s.Key, s.Done, optional.Pointer(s.Detail), optional.Pointer(s.Target)})
	}
	for _, n := range o.Attention {
		if p.Role.AtLeast(n.Kind.Least()) {
			out.Attention = append(out.Attention, notice{n.Kind, n.Severity, n.Type, n.ID, n.Message, endpoint.AtOr(n.Since)})
		}
	}
	if out.Live, err = api.live(ctx, p.Tenant); err != nil {
		return none, err
	}
	out.Totals, out.Previous, err = api.lastDays(ctx, p.Tenant)
	return out, err
}

// live returns the broadcasts that are sending or paused.
func (api overviewAPI) live(ctx context.Context, t id.Tenant) ([]liveBroadcast, error) {
	list, err := broadcast.List(ctx, api.db, t, broadcast.Filter{Status: []broadcast.Status{broadcast.Sending, broadcast.Paused}})
	if err != nil {
		return nil, err
	}
	rows := []liveBroadcast{}
	for _, b := range list[:min(len(list), maxLive)] {
		progress, err := broadcast.LoadProgress(ctx, api.db, b, api.now())
		if err != nil {
			return nil, err
		}
		row := liveBroadcast{ID: b.ID, Name: b.Name, Status: b.Status, PauseReason: optional.Pointer(b.PauseReason)}
		if progress != nil {
			if row.Progress, err = campaignapi.ShowProgress(ctx, api.db, t, progress); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// overviewDays is how many days the totals of an account include.
const overviewDays = 30

// lastDays returns the results of the last days, and those of as many days before.
func (api overviewAPI) lastDays(ctx context.Context, t id.Tenant) (totals, previous OverviewTotals, err error) {
	account, err := tenant.ByID(ctx, api.db, t)
	if err != nil {
		return totals, previous, err
	}
	last := spread.DayOf(api.now(), account.Location())
	o, err := report.LoadOverview(ctx, api.db, t, last.Add(1-overviewDays), last, account.Location(), id.EmailType{})
	return totalsOf(o.Totals), totalsOf(o.Previous), err
}
