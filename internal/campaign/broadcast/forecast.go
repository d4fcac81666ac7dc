package broadcast

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// With returns the broadcast as a change would make it, for a forecast. Nothing is stored, and the
// content stays as it is. Of a broadcast that is being sent, only the skipped days can be changed, by the
// rules of Reschedule. Other statuses than these and those before the start are refused
// (ErrTransition).
func (b Broadcast) With(ch Change, t tenant.Tenant, now time.Time) (Broadcast, error) {
	if err := ch.Check(); err != nil {
		return b, err
	}
	today := spread.DayOf(now, t.Location())
	switch b.Status {
	case Draft, Scheduled:
	case Sending, Paused:
		if !ch.onlySkips() {
			return b, ErrNotDraft.Sayf("only skipped_dates can be changed while a broadcast is %s", b.Status)
		}
		if ch.Delivery == nil || ch.Delivery.Skipped == nil {
			return b, nil
		}
		days := daysOf(*ch.Delivery.Skipped)
		if err := b.checkSkips(days, today); err != nil {
			return b, err
		}
		b.Delivery.Skipped = days
		return b, nil
	default:
		return b, ErrTransition.Sayf("a broadcast that is %s sends nothing more", b.Status).With(map[string]Status{"status": b.Status})
	}
	if ch.Variants != nil {
		b.Variants = *ch.Variants
	}
	b.Plan = ch.apply(b.Plan)
	return b, ch.Delivery.checkRequiredAfter(b.Delivery, today)
}

// onlySkips reports whether the change concerns nothing but the skipped days.
func (ch Change) onlySkips() bool {
	if d := ch.Delivery; d != nil {
		rest := *d
		rest.Skipped = nil
		if rest != (DeliveryChange{}) {
			return false
		}
	}
	return ch.Name == nil && ch.Content == nil && ch.Message == nil && ch.Variants == nil && ch.EmailType == nil && ch.Lane == nil &&
		ch.Include == nil && ch.Exclude == nil && ch.Identities == nil && ch.Tags == nil && ch.Metadata == nil && ch.Start == nil &&
		ch.Tracking == nil && ch.SeedLists == nil
}

// checkSkips checks the days that a send over days is to skip.
func (b Broadcast) checkSkips(days []spread.Day, today spread.Day) error {
	if !b.Delivery.Spread() {
		return ErrNoPlan
	}
	for _, d := range days {
		if d <= today && !slices.Contains(b.Delivery.Skipped, d) {
			return ErrSkip.Sayf("%s cannot be skipped any more", d)
		}
	}
	return nil
}

// Forecast is the plan that a send would get.
type Forecast struct {
	Days       []ForecastDay
	HeldBack   int
	FinishesAt *time.Time // when the last batch is due; nil: there is none
}

// ForecastDay is a day of a Forecast.
type ForecastDay struct {
	Day           spread.Day
	Planned       int  // messages that are not sent yet
	Capacity      *int // of the lanes and of the broadcast's rate; nil: no limit
	TakenByOthers int  // of the capacity
	Status        DayStatus
}

// PlanAhead returns the plan for numbers of messages by lane that MakePlan would make for b at a time,
// now or later. It stores and reserves nothing.
func PlanAhead(ctx context.Context, db *sqldb.DB, t tenant.Tenant, b Broadcast, waiting map[id.Lane]int, routes []route.Route, at, now time.Time) (Forecast, error) {
	counts := outbox.PlanCounts{Movable: waiting, Fixed: map[outbox.LaneDay]int{}}
	return forecast(ctx, db, t, b, counts, routes, spread.DayOf(at, t.Location()), at, now)
}

// PlanAgain returns the plan for the messages of a send in progress that were not sent yet, as
// Reschedule would make it.
func PlanAgain(ctx context.Context, db *sqldb.DB, t tenant.Tenant, b Broadcast, run Run, now time.Time) (Forecast, error) {
	scope := outbox.PlanScope{After: now, Before: spread.DayOf(now, t.Location())}
	counts, err := outbox.CountForPlan(ctx, db, t.ID, b.Send, scope)
	if err != nil {
		return Forecast{}, err
	}
	terms, err := outbox.LoadTerms(ctx, db, t.ID, b.Send)
	if err != nil {
		return Forecast{}, err
	}
	return forecast(ctx, db, t, b, counts, terms.Routes, run.Planning.Start, now, now)
}

func forecast(ctx context.Context, db *sqldb.DB, t tenant.Tenant, b Broadcast, counts outbox.PlanCounts, routes []route.Route, start spread.Day, at, now time.Time) (Forecast, error) {
	lanes, err := lanesOf(ctx, db, t.ID, counts)
	if err != nil {
		return Forecast{}, err
	}
	p := planner{Calendar: CalendarOf(t, b, at), counts: counts, lanes: lanes}
	if p.stats, err = lane.StatsOf(ctx, db, t.ID, slices.Collect(maps.Values(lanes)), at); err != nil {
		return Forecast{}, err
	}
	if p.fresh, err = newDomainsOf(ctx, db, t.ID, routes, lanes, p.Calendar); err != nil {
		return Forecast{}, err
	}
	busy, err := outbox.LaneLoads(ctx, db, t.ID, b.Send, slices.Collect(maps.Keys(lanes)), p.today())
	if err != nil {
		return Forecast{}, err
	}
	sent, err := outbox.SentOn(ctx, db, t.ID, b.Send)
	if err != nil {
		return Forecast{}, err
	}
	var f Forecast
	plan := Planning{}
	plan.Quotas, plan.HeldBack = p.load(b, start, busy, sent).Plan()
	planned := map[spread.Day]int{}
	for _, q := range plan.Quotas {
		planned[q.Day] += q.N
	}
	for l, n := range counts.Fixed {
		planned[l.Day] += max(0, n-sent[l])
	}
	for _, n := range plan.HeldBack {
		f.HeldBack += n
	}
	days := make([]outbox.Day, 0, len(planned))
	for d, n := range planned {
		days = append(days, outbox.Day{Day: d, Planned: n})
	}
	for _, d := range planDays(b, start, days, spread.DayOf(now, t.Location())) {
		if d.Day.Day < p.today() {
			continue
		}
		out := ForecastDay{Day: d.Day.Day, Planned: d.Planned, Status: d.Status}
		out.Capacity, out.TakenByOthers = p.room(d.Day.Day, busy, sent)
		f.Days = append(f.Days, out)
	}
	f.FinishesAt = p.times(plan, at).Last
	return f, nil
}

// room returns how many messages the lanes and the rate of the broadcast allow on a day, and how many
// of these other sends have sent or reserved.
func (p planner) room(day spread.Day, busy map[outbox.LaneDay]outbox.LaneLoad, sent map[outbox.LaneDay]int) (most *int, taken int) {
	sum, limited := 0, len(p.lanes) > 0
	for l, c := range p.lanes {
		n, capped := c.DayCap(day)
		if fresh := p.fresh.byLane(c, day); capped {
			if day == p.today() { // the day's limit is shown, of which others have taken a part
				for _, d := range p.fresh.of[l] {
					fresh.Max += p.fresh.used[d.ID]
				}
			}
			n = lower(spread.UpTo(n), fresh).Max
		}
		sum, limited = sum+n, limited && capped
		at := outbox.LaneDay{Lane: l, Day: day}
		carried := busy[at].Sent
		if day == p.today() {
			carried = max(carried, p.stats[l].SentToday)
		}
		taken += max(0, carried-sent[at]) + busy[at].Reserved
	}
	total := p.capacity(day)
	switch {
	case limited && total.Capped:
		return new(min(sum, total.Max)), taken
	case limited:
		return &sum, taken
	case total.Capped:
		return &total.Max, taken
	}
	return nil, taken
}

// LargestRecent returns the number of recipients of the largest send that began after a time.
func LargestRecent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after time.Time) (int, error) {
	rows, err := db.Query(ctx, `
		SELECT send_id FROM broadcast /* reads the tenant: the broadcasts of some months */
		WHERE tenant_id = $1 AND dispatch_started_at > $2`, tenant, after.UnixMicro())
	sends, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s id.Send, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		return 0, fmt.Errorf("find recent broadcasts: %w", err)
	}
	all, err := outbox.LoadAll(ctx, db, tenant, sends)
	most := 0
	for _, p := range all {
		most = max(most, p.Total)
	}
	return most, err
}
