package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/overview"
	"github.com/packetboat/packetboat/internal/view/report"
)

// overviewAPI serves the results of the whole account.
type overviewAPI struct {
	db     *sqldb.DB
	reader *overview.Reader
	now    func() time.Time
}

func (api overviewAPI) Register(r *endpoint.Router) {
	api.home(r)
	endpoint.Handle(r, "GET /t/{tenant}/api/reports/overview", endpoint.Op{
		Name:        "getReportsOverview",
		Summary:     "Get the results of all sends in a range of days, by day and by email type.",
		Description: "Days are those of the account's time zone. Messages count on the day on which their attempts ended, opens and clicks on the day of a recipient's first one. previous is as many days before.",
		Tag:         "reports",
		Session:     true,
		Faults:      []*fault.Error{sender.ErrUnknownEmailType},
	}, api.overview)
}

type overviewRequest struct {
	wire.DayRange
	EmailType string `query:"email_type_key" doc:"Only sends of this email type."`
}

// OverviewTotals are the results of a range of days.
type OverviewTotals struct {
	TotalRecipients   int     `json:"total_recipients" doc:"Messages that were handed over or failed: the denominator of every rate."`
	TotalSent         int     `json:"total_sent"`
	TotalDelivered    int     `json:"total_delivered"`
	TotalFailed       int     `json:"total_failed"`
	TotalBounced      int     `json:"total_bounced"`
	TotalComplained   int     `json:"total_complained"`
	TotalUnsubscribed int     `json:"total_unsubscribed"`
	TotalOpened       int     `json:"total_opened"`
	TotalClicked      int     `json:"total_clicked"`
	VerifiedOpened    int     `json:"verified_opened"`
	OpenRate          float64 `json:"open_rate" doc:"At most 1, as every rate: mail that was sent before may be opened in the range."`
	VerifiedOpenRate  float64 `json:"verified_open_rate"`
	ClickRate         float64 `json:"click_rate"`
	BounceRate        float64 `json:"bounce_rate"`
}

func totalsOf(t report.Totals) OverviewTotals {
	m, p := t.Messages, t.People
	return OverviewTotals{
		TotalRecipients: t.Recipients(), TotalSent: m.Sent, TotalDelivered: m.Delivered, TotalFailed: m.Failed, TotalBounced: m.Bounced,
		TotalComplained: p.Complained, TotalUnsubscribed: p.Unsubscribed, TotalOpened: p.HumanOpened, TotalClicked: p.HumanClicked, VerifiedOpened: p.VerifiedOpened,
		OpenRate: t.Rate(p.HumanOpened), VerifiedOpenRate: t.Rate(p.VerifiedOpened), ClickRate: t.Rate(p.HumanClicked), BounceRate: t.Rate(m.Bounced),
	}
}

type overviewDay struct {
	Date spread.Day `json:"date" format:"date"`
	OverviewTotals
}

type overviewType struct {
	EmailTypeID  *id.EmailType `json:"email_type_id" format:"uuid"`
	EmailTypeKey *string       `json:"email_type_key" doc:"Null if the type was deleted."`
	OverviewTotals
}

type reportsOverview struct {
	From        spread.Day     `json:"from" format:"date"`
	To          spread.Day     `json:"to" format:"date"`
	Timezone    string         `json:"timezone"`
	Totals      OverviewTotals `json:"totals"`
	Previous    OverviewTotals `json:"previous"`
	Series      []overviewDay  `json:"series"`
	ByEmailType []overviewType `json:"by_email_type"`
}

func (api overviewAPI) overview(ctx context.Context, p auth.Principal, in *overviewRequest) (reportsOverview, error) {
	var none reportsOverview
	account, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return none, err
	}
	zone := account.Location()
	var problems fault.Problems
	first, last := in.Days(&problems, spread.DayOf(api.now(), zone))
	var typ id.EmailType
	if in.EmailType != "" {
		t, err := sender.EmailTypeByKey(ctx, api.db, p.Tenant, in.EmailType)
		switch {
		case errors.Is(err, sender.ErrUnknownEmailType):
			const path, message = "email_type_key", "no email type has this key"
			if !problems.Any() { // alone, it has a code of its own
				return none, sender.ErrUnknownEmailType.With(fault.Fields{Fields: []fault.Field{{Path: path, Message: message}}})
			}
			problems.Add(path, message)
		case err != nil:
			return none, err
		}
		typ = t.ID
	}
	if err := problems.Err(); err != nil {
		return none, err
	}
	o, err := report.LoadOverview(ctx, api.db, p.Tenant, first, last, zone, typ)
	if err != nil {
		return none, err
	}
	ids := make([]id.EmailType, len(o.ByType))
	for i, t := range o.ByType {
		ids[i] = t.Type
	}
	keys, err := sender.TypeKeys(ctx, api.db, p.Tenant, ids)
	if err != nil {
		return none, err
	}
	out := reportsOverview{
		From: first, To: last, Timezone: account.Settings.Timezone, Totals: totalsOf(o.Totals), Previous: totalsOf(o.Previous),
		Series: make([]overviewDay, len(o.Series)), ByEmailType: make([]overviewType, len(o.ByType)),
	}
	for i, d := range o.Series {
		out.Series[i] = overviewDay{d.Day, totalsOf(d.Totals)}
	}
	for i, t := range o.ByType {
		out.ByEmailType[i] = overviewType{optional.Pointer(t.Type), wire.NameOf(keys, t.Type), totalsOf(t.Totals)}
	}
	return out, nil
}
