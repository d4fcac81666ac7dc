package campaignapi

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/view/report"
)

// maxMetrics is the maximum number of broadcasts in metrics-bulk.
const maxMetrics = 100

// breakdowns registers the reports besides the headline metrics and the links.
func (api Broadcasts) breakdowns(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "reports", Scope: auth.ReportsRead, Faults: faults}
	}
	bulk := op("listBroadcastMetrics", "List the metrics of up to 100 broadcasts.")
	bulk.Description = "Without ids, those of the newest 100 broadcasts that have sent and are not archived. Opens are verified, clicks are by people. Metrics are cached for six hours, those of a live send for five minutes; refresh=true computes them again, at most six times a minute for a tenant."
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/metrics-bulk", bulk, api.broadcastMetrics)
	bounces := op("listBroadcastBounces", "List the bounces of a broadcast, newest first, with a summary.", broadcast.ErrNotFound, endpoint.ErrCursor)
	bounces.Pagination = "cursor"
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/bounces", bounces, api.broadcastBounces)
	engagement := op("getBroadcastEngagement", "Get the engagement with a broadcast by variant, sender, provider, mail program, device and country.", broadcast.ErrNotFound)
	engagement.Description = "Opens are verified, clicks are by people. A recipient who opened in two programs counts for both."
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/engagement", engagement, api.broadcastEngagement)
	timing := op("getBroadcastTiming", "Get the results of a broadcast by hour or day.", broadcast.ErrNotFound)
	timing.Description = "Hours and days begin as in the account's time zone; those in which nothing happened are left out. A recipient counts where they first opened and clicked."
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/timing", timing, api.broadcastTiming)
}

type broadcastMetricsRequest struct {
	IDs     string `query:"ids" as:"list" format:"uuid" maxItems:"100" doc:"The broadcasts; unknown ones are left out."`
	Refresh string `query:"refresh" as:"boolean" default:"false" doc:"true: compute the metrics again."`
}

type metricsRow struct {
	BroadcastID     id.Broadcast    `json:"broadcast_id" format:"uuid"`
	TotalRecipients int             `json:"total_recipients"`
	Delivered       int             `json:"delivered"`
	Opened          int             `json:"opened" doc:"Verified opens."`
	Clicked         int             `json:"clicked"`
	Bounced         int             `json:"bounced"`
	DeliveredRate   float64         `json:"delivered_rate"`
	OpenedRate      float64         `json:"opened_rate"`
	ClickedRate     float64         `json:"clicked_rate"`
	BouncedRate     float64         `json:"bounced_rate"`
	Sparkline       []int           `json:"sparkline" doc:"First opens in each of the six hours from the first open."`
	PendingOpened   int             `json:"pending_opened"`
	PendingClicked  int             `json:"pending_clicked"`
	LastSendAt      *endpoint.Stamp `json:"last_send_at"`
}

func (api Broadcasts) broadcastMetrics(ctx context.Context, p auth.Principal, in *broadcastMetricsRequest) ([]metricsRow, error) {
	list, err := api.measured(ctx, p.Tenant, in.IDs)
	if err != nil {
		return nil, err
	}
	sends := make([]id.Send, len(list))
	for i, b := range list {
		sends[i] = b.Send
	}
	found, err := api.summaries.Of(ctx, p.Tenant, sends, endpoint.Flag(in.Refresh))
	if err != nil {
		return nil, err
	}
	rows := make([]metricsRow, len(list))
	for i, b := range list {
		m := found[b.Send]
		rows[i] = metricsRow{
			BroadcastID: b.Broadcast, TotalRecipients: m.Recipients, Delivered: m.Delivered, Opened: m.Opened, Clicked: m.Clicked, Bounced: m.Bounced,
			DeliveredRate: m.Rate(m.Delivered), OpenedRate: m.Rate(m.Opened), ClickedRate: m.Rate(m.Clicked), BouncedRate: m.Rate(m.Bounced),
			Sparkline: m.Sparkline[:], PendingOpened: m.PendingOpened, PendingClicked: m.PendingClicked, LastSendAt: endpoint.AtOr(m.LastSendAt),
		}
	}
	return rows, nil
}

// measured returns the broadcasts that the query ids of metrics-bulk selects.
func (api Broadcasts) measured(ctx context.Context, tenant id.Tenant, query string) ([]broadcast.SendOf, error) {
	texts := endpoint.CommaList(query)
	if len(texts) == 0 {
		return broadcast.NewestSent(ctx, api.db, tenant, maxMetrics)
	}
	var problems fault.Problems
	if len(texts) > maxMetrics {
		problems.Add("ids", fmt.Sprintf("must be at most %d ids", maxMetrics))
		return nil, problems.Err()
	}
	ids := make([]id.Broadcast, len(texts))
	for i, text := range texts {
		var ok bool
		if ids[i], ok = id.Parse[id.Broadcast](text); !ok {
			problems.AddElement("ids", "must be a UUID")
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return broadcast.SendsOf(ctx, api.db, tenant, ids)
}

type broadcastBouncesRequest struct {
	ID string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	endpoint.CursorQuery
}

type bounceList struct {
	endpoint.List[bounceRow]
	Summary bounceSummary `json:"summary"`
}

type bounceRow struct {
	ContactID    id.Contact     `json:"contact_id" format:"uuid"`
	Email        string         `json:"email"`
	Type         reply.Class    `json:"type" enum:"hard,soft" doc:"A refusal for policy or reputation (block) is soft."`
	Category     string         `json:"category" enum:"mailbox,domain,full,policy,content,network,other"`
	SMTPCode     *int           `json:"smtp_code"`
	EnhancedCode *string        `json:"enhanced_code"`
	Message      *string        `json:"message" doc:"The server's text."`
	BouncedAt    endpoint.Stamp `json:"bounced_at"`
}

type bounceSummary struct {
	Hard     int           `json:"hard"`
	Soft     int           `json:"soft"`
	Block    int           `json:"block"`
	ByDomain []domainCount `json:"by_domain" doc:"The 50 domains with the most bounces."`
	ByCode   []codeCount   `json:"by_code" doc:"The 50 codes with the most bounces: that of the reply and the enhanced code; empty if there was none."`
}

type domainCount struct {
	Domain string `json:"domain"`
	Count  int    `json:"count"`
}

type codeCount struct {
	Code  string `json:"code"`
	Count int    `json:"count"`
}

// byBouncedAt is the name in cursors of the order of bounces.
const byBouncedAt = "bounced_at"

// topBounces is how many domains and codes a summary shows.
const topBounces = 50

func (api Broadcasts) broadcastBounces(ctx context.Context, p auth.Principal, in *broadcastBouncesRequest) (bounceList, error) {
	var none bounceList
	var after *outbox.BouncePosition
	if in.Cursor != "" {
		at, err := wire.DecodeTimePosition[id.Message](api.cursors, in.Cursor, byBouncedAt)
		if err != nil {
			return none, err
		}
		after = &outbox.BouncePosition{At: at.At, Message: at.ID}
	}
	b, err := api.headAt(ctx, p, in.ID)
	if err != nil {
		return none, err
	}
	list, more, err := outbox.ListBounces(ctx, api.db, p.Tenant, b.Send, after, endpoint.Limit(in.Limit))
	if err != nil {
		return none, err
	}
	rows := bounceRows(list)
	next := ""
	if more {
		last := list[len(list)-1]
		next = wire.TimePosition[id.Message]{At: last.At, ID: last.Message}.Encode(api.cursors, byBouncedAt)
	}
	answer := bounceList{List: endpoint.Page(rows, next)}
	answer.Summary, err = api.bounceSummary(ctx, p.Tenant, b.Send)
	return answer, err
}

func bounceRows(list []outbox.BounceRecord) []bounceRow {
	rows := make([]bounceRow, len(list))
	for i, r := range list {
		category := r.Category
		if category == "" {
			category = string(reply.Other)
		}
		rows[i] = bounceRow{
			ContactID: r.Contact, Email: r.Email, Type: outbox.Record{BounceType: r.Class}.Bounce(), Category: category, SMTPCode: optional.Pointer(r.Code),
			EnhancedCode: optional.Pointer(r.Enhanced), Message: optional.Pointer(r.Text), BouncedAt: endpoint.At(r.At),
		}
	}
	return rows
}

func (api Broadcasts) bounceSummary(ctx context.Context, tenant id.Tenant, send id.Send) (bounceSummary, error) {
	s := bounceSummary{ByDomain: []domainCount{}, ByCode: []codeCount{}}
	for _, by := range []outbox.BounceAttribute{outbox.BounceClass, outbox.BounceDomain, outbox.BounceCode} {
		list, err := outbox.BounceCounts(ctx, api.db, tenant, send, by, topBounces)
		if err != nil {
			return s, err
		}
		for _, c := range list {
			switch by {
			case outbox.BounceDomain:
				s.ByDomain = append(s.ByDomain, domainCount{c.Value, c.Count})
			case outbox.BounceCode:
				s.ByCode = append(s.ByCode, codeCount{c.Value, c.Count})
			default:
				switch reply.Class(c.Value) {
				case reply.Hard:
					s.Hard += c.Count
				case reply.Block:
					s.Block += c.Count
				default:
					s.Soft += c.Count
				}
			}
		}
	}
	return s, nil
}

// headAt returns the broadcast that a path names, without its bodies.
func (api Broadcasts) headAt(ctx context.Context, p auth.Principal, path string) (broadcast.Broadcast, error) {
	bid, err := wire.RecordID[id.Broadcast](path, broadcast.ErrNotFound)
	if err != nil {
		return broadcast.Broadcast{}, err
	}
	return broadcast.Head(ctx, api.db, p.Tenant, bid)
}

// GroupFigures are the results of a group of recipients.
type GroupFigures struct {
	Recipients   int     `json:"recipients"`
	Delivered    int     `json:"delivered"`
	Opened       int     `json:"opened"`
	Clicked      int     `json:"clicked"`
	Unsubscribed int     `json:"unsubscribed"`
	Bounced      int     `json:"bounced"`
	OpenRate     float64 `json:"open_rate" doc:"opened over the recipients of the group."`
	ClickRate    float64 `json:"click_rate"`
}

func figuresOf(g report.Group) GroupFigures {
	return GroupFigures{
		Recipients: g.Recipients, Delivered: g.Delivered, Opened: g.Opened, Clicked: g.Clicked, Unsubscribed: g.Unsubscribed, Bounced: g.Bounced,
		OpenRate: g.Rate(g.Opened), ClickRate: g.Rate(g.Clicked),
	}
}

type variantFigures struct {
	VariantID string `json:"variant_id"`
	Name      string `json:"name"`
	GroupFigures
	Rates VariantRates `json:"rates" doc:"Each with its 95 % Wilson score interval."`
}

// VariantRates are the rates of a variant.
type VariantRates struct {
	Delivered    IntervalRate `json:"delivered"`
	Opened       IntervalRate `json:"opened"`
	Clicked      IntervalRate `json:"clicked"`
	Unsubscribed IntervalRate `json:"unsubscribed"`
	Bounced      IntervalRate `json:"bounced"`
}

// IntervalRate is a rate with its interval.
type IntervalRate struct {
	Rate float64 `json:"rate" doc:"Over the recipients of the variant."`
	Low  float64 `json:"low"`
	High float64 `json:"high" doc:"Without recipients the interval is from 0 to 1."`
}

func ratesOf(g report.Group) VariantRates {
	rate := func(n int) IntervalRate {
		i := g.Interval(n).Rounded()
		return IntervalRate{g.Rate(n), i.Low, i.High}
	}
	return VariantRates{rate(g.Delivered), rate(g.Opened), rate(g.Clicked), rate(g.Unsubscribed), rate(g.Bounced)}
}

// VariantsAhead are the variants that are better than all others.
type VariantsAhead struct {
	Opened  *string `json:"opened" doc:"The id of the variant whose interval of the open rate lies above those of all others; null: intervals overlap, so that chance may explain the difference."`
	Clicked *string `json:"clicked" doc:"The same of the click rate."`
}

// variantsAhead returns the variants that are better than all others; nil without variants.
func variantsAhead(b broadcast.Broadcast, e report.Breakdown) *VariantsAhead {
	if len(b.Variants) == 0 {
		return nil
	}
	groups := make([]report.Group, len(b.Variants))
	for i, v := range b.Variants {
		groups[i] = e.Variants[v.ID]
	}
	best := func(count func(report.Group) int) *string {
		if i := report.Ahead(groups, count); i >= 0 {
			return &b.Variants[i].ID
		}
		return nil
	}
	return &VariantsAhead{best(func(g report.Group) int { return g.Opened }), best(func(g report.Group) int { return g.Clicked })}
}

type IdentityFigures struct {
	Sender *string `json:"sending_identity_email" doc:"Null if the sender was deleted."`
	GroupFigures
}

type identitySession struct {
	ID id.Identity `json:"sending_identity_id" format:"uuid"`
	IdentityFigures
}

type providerFigures struct {
	Provider mx.Provider `json:"provider" doc:"The provider of the recipients' mail when the broadcast was prepared."`
	GroupFigures
}

type clientFigures struct {
	Client string `json:"client"`
	Opens  int    `json:"opens" doc:"Recipients who opened in this program."`
	Clicks int    `json:"clicks"`
}

type deviceFigures struct {
	Device string `json:"device" enum:"desktop,mobile,tablet,unknown"`
	Opens  int    `json:"opens"`
	Clicks int    `json:"clicks"`
}

type countryFigures struct {
	Country *string `json:"country" doc:"Of the contacts; null: unknown."`
	Opens   int     `json:"opens"`
	Clicks  int     `json:"clicks"`
}

type EngagementGroups[Identity any] struct {
	BroadcastID id.Broadcast      `json:"broadcast_id" format:"uuid"`
	ByVariant   []variantFigures  `json:"by_variant" doc:"Empty without variants."`
	Ahead       *VariantsAhead    `json:"ahead" doc:"Which variant is better; null without variants."`
	ByIdentity  []Identity        `json:"by_identity"`
	ByProvider  []providerFigures `json:"by_provider"`
	ByClient    []clientFigures   `json:"by_client"`
	ByDevice    []deviceFigures   `json:"by_device"`
	ByCountry   []countryFigures  `json:"by_country"`
}

type (
	// BroadcastEngagement is the public form.
	BroadcastEngagement struct {
		EngagementGroups[IdentityFigures]
	}
	// SessionEngagement is the session form.
	SessionEngagement struct {
		EngagementGroups[identitySession]
	}
)

type engagementForm = wire.Form[BroadcastEngagement, SessionEngagement]

func (api Broadcasts) broadcastEngagement(ctx context.Context, p auth.Principal, in *broadcastPath) (engagementForm, error) {
	b, err := api.broadcastAt(ctx, p, in.ID)
	if err != nil {
		return engagementForm{}, err
	}
	e, err := report.Engagement(ctx, api.db, p.Tenant, b.Send)
	if err != nil {
		return engagementForm{}, err
	}
	ids := make([]id.Identity, len(e.Identities))
	for i, g := range e.Identities {
		ids[i] = g.Value
	}
	names, err := sender.Addresses(ctx, api.db, p.Tenant, ids)
	if err != nil {
		return engagementForm{}, err
	}
	public := engagementOf[IdentityFigures](b, e)
	session := EngagementGroups[identitySession]{public.BroadcastID, public.ByVariant, public.Ahead, []identitySession{}, public.ByProvider, public.ByClient, public.ByDevice, public.ByCountry}
	for _, g := range e.Identities {
		row := IdentityFigures{wire.NameOf(names, g.Value), figuresOf(g.Group)}
		public.ByIdentity = append(public.ByIdentity, row)
		session.ByIdentity = append(session.ByIdentity, identitySession{g.Value, row})
	}
	return wire.FormFor(p, func() BroadcastEngagement { return BroadcastEngagement{public} }, func() SessionEngagement { return SessionEngagement{session} }), nil
}

// engagementOf returns the answer without the identities.
func engagementOf[Identity any](b broadcast.Broadcast, e report.Breakdown) EngagementGroups[Identity] {
	out := EngagementGroups[Identity]{
		BroadcastID: b.ID, ByVariant: []variantFigures{}, Ahead: variantsAhead(b, e), ByIdentity: []Identity{}, ByProvider: []providerFigures{},
		ByClient: []clientFigures{}, ByDevice: []deviceFigures{}, ByCountry: []countryFigures{},
	}
	for _, v := range b.Variants {
		out.ByVariant = append(out.ByVariant, variantFigures{v.ID, v.Name, figuresOf(e.Variants[v.ID]), ratesOf(e.Variants[v.ID])})
	}
	for _, g := range e.Providers {
		out.ByProvider = append(out.ByProvider, providerFigures{g.Value, figuresOf(g.Group)})
	}
	for _, c := range e.Programs {
		out.ByClient = append(out.ByClient, clientFigures{c.Value, c.Opened, c.Clicked})
	}
	for _, c := range e.Devices {
		out.ByDevice = append(out.ByDevice, deviceFigures{c.Value, c.Opened, c.Clicked})
	}
	for _, c := range e.Countries {
		out.ByCountry = append(out.ByCountry, countryFigures{optional.Pointer(c.Value), c.Opened, c.Clicked})
	}
	return out
}

type broadcastTimingRequest struct {
	ID       string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Interval string `query:"interval" enum:"hour,day" default:"hour" doc:"The length of a period."`
}

type broadcastTiming struct {
	BroadcastID id.Broadcast   `json:"broadcast_id" format:"uuid"`
	Timezone    string         `json:"timezone" doc:"The account's."`
	Interval    string         `json:"interval" enum:"hour,day"`
	Series      []timingPeriod `json:"series"`
	MedianOpen  *int64         `json:"median_seconds_to_open" doc:"From acceptance to the first verified open, accurate to a tenth; null without opens."`
	MedianClick *int64         `json:"median_seconds_to_click"`
}

type timingPeriod struct {
	At           endpoint.Stamp `json:"at" doc:"Beginning of the hour or day."`
	Sent         int            `json:"sent"`
	Delivered    int            `json:"delivered"`
	Opened       int            `json:"opened"`
	Clicked      int            `json:"clicked"`
	Bounced      int            `json:"bounced"`
	Unsubscribed int            `json:"unsubscribed"`
}

func (api Broadcasts) broadcastTiming(ctx context.Context, p auth.Principal, in *broadcastTimingRequest) (broadcastTiming, error) {
	var none broadcastTiming
	b, err := api.headAt(ctx, p, in.ID)
	if err != nil {
		return none, err
	}
	account, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return none, err
	}
	interval := in.Interval
	if interval == "" {
		interval = "hour"
	}
	t, err := report.Times(ctx, api.db, p.Tenant, b.Send, account.Location(), interval == "day")
	if err != nil {
		return none, err
	}
	out := broadcastTiming{BroadcastID: b.ID, Timezone: account.Settings.Timezone, Interval: interval, Series: make([]timingPeriod, len(t.Series))}
	for i, x := range t.Series {
		out.Series[i] = timingPeriod{
			At: endpoint.At(x.At), Sent: x.Messages.Sent, Delivered: x.Messages.Delivered, Opened: x.People.VerifiedOpened,
			Clicked: x.People.HumanClicked, Bounced: x.Messages.Bounced, Unsubscribed: x.People.Unsubscribed,
		}
	}
	if t.MedianOpen != nil {
		out.MedianOpen = new(int64(t.MedianOpen.Seconds()))
	}
	if t.MedianClick != nil {
		out.MedianClick = new(int64(t.MedianClick.Seconds()))
	}
	return out, nil
}
