package broadcast

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PlanLease is how long the lease for planning a send lasts without renewal.
const PlanLease = time.Minute

// MakePlan assigns a number of messages to each day and lane of a send at stage ToPlan, and
// reserves capacity for them, in one transaction that checks the lease of r. The order of messages
// does not matter here, so it only counts them. Their due times are assigned later (stage Assign).
func (r *Run) MakePlan(ctx context.Context, db *sqldb.DB, t tenant.Tenant, b Broadcast, now time.Time) error {
	p := *r.Planning
	c := CalendarOf(t, b, now)
	p.At, p.Scope = now, outbox.PlanScope{}
	if p.Again {
		p.Scope = outbox.PlanScope{After: now, Before: c.today()}
	}
	if p.Missed {
		p.Scope.After = outbox.Unplanned()
	}
	counts, err := outbox.CountForPlan(ctx, db, t.ID, b.Send, p.Scope)
	if err != nil {
		return err
	}
	lanes, err := lanesOf(ctx, db, t.ID, counts)
	if err != nil {
		return err
	}
	stats, err := lane.StatsOf(ctx, db, t.ID, slices.Collect(maps.Values(lanes)), now)
	if err != nil {
		return err
	}
	terms, err := outbox.LoadTerms(ctx, db, t.ID, b.Send)
	if err != nil {
		return err
	}
	fresh, err := newDomainsOf(ctx, db, t.ID, terms.Routes, lanes, c)
	if err != nil {
		return err
	}
	pl := planner{Calendar: c, counts: counts, lanes: lanes, stats: stats, fresh: fresh}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := r.Hold(ctx, tx); err != nil {
			return err
		}
		busy, err := outbox.Reservations(ctx, tx, b.Tenant, b.Send, slices.Collect(maps.Keys(lanes)), c.today())
		if err != nil {
			return err
		}
		sent, err := outbox.SentOn(ctx, tx, b.Tenant, b.Send)
		if err != nil {
			return err
		}
		load := pl.load(b, p.Start, busy, sent)
		p.Quotas, p.HeldBack = load.Plan()
		planned := maps.Clone(counts.Fixed)
		for _, q := range p.Quotas {
			planned[outbox.LaneDay{Lane: id.Read[id.Lane](q.Lane), Day: q.Day}] += q.N
		}
		if err := outbox.Reserve(ctx, tx, t.ID, b.Send, planned); err != nil {
			return err
		}
		p.Stage, p.SlotsCreated, p.Done = Assign, false, id.Contact{}
		return r.Plan(ctx, tx, p, now.Add(PlanLease))
	})
	if err == nil {
		r.Planning = &p
	}
	return err
}

// planner is the input of a plan.
type planner struct {
	Calendar
	counts outbox.PlanCounts
	lanes  map[id.Lane]lane.Config
	stats  map[id.Lane]lane.Stats
	fresh  newDomains
}

// load returns the messages to plan and the available capacity, given the loads of the lanes and how
// many messages of b were sent.
func (p planner) load(b Broadcast, start spread.Day, busy map[outbox.LaneDay]outbox.LaneLoad, sent map[outbox.LaneDay]int) spread.Load {
	stay := p.counts.Fixed
	own := map[spread.Day]int{}   // fixed messages by day
	waits := map[spread.Day]int{} // those of them that were not sent yet
	for at, n := range stay {
		own[at.Day] += n
		waits[at.Day] += max(0, n-sent[at])
	}
	load := spread.Load{Skipped: b.Delivery.Skipped, Extend: b.Delivery.Overflow != Holdback, Waiting: map[string]int{}, Has: own}
	load.Days, load.Next = p.days(start)
	for l, n := range p.counts.Movable {
		load.Waiting[l.String()] = n
	}
	load.Total = func(day spread.Day) spread.Cap {
		most := lower(p.capacity(day), p.fresh.ofAll(p.lanes, day))
		return spread.Cap{Max: most.Max - waits[day], Capped: most.Capped}
	}
	load.Lane = func(name string, day spread.Day) spread.Cap {
		l := id.Read[id.Lane](name)
		most, capped := p.lanes[l].DayCap(day)
		at := outbox.LaneDay{Lane: l, Day: day}
		carried := busy[at].Sent
		if day == p.today() {
			carried = max(carried, p.stats[l].SentToday)
		}
		waits := max(0, stay[at]-sent[at])
		fresh := p.fresh.byLane(p.lanes[l], day)
		fresh.Max -= waits
		return lower(spread.Cap{Max: most - carried - busy[at].Reserved - waits, Capped: capped}, fresh)
	}
	return load
}

// lanesOf returns the lanes that carry the movable messages of counts.
func lanesOf(ctx context.Context, db *sqldb.DB, t id.Tenant, counts outbox.PlanCounts) (map[id.Lane]lane.Config, error) {
	all, err := lane.List(ctx, db, t)
	if err != nil {
		return nil, err
	}
	lanes := map[id.Lane]lane.Config{}
	for l := range counts.Movable {
		lanes[l] = lane.Config{ID: l} // a deleted lane has no limits
	}
	for _, l := range all {
		if _, ok := lanes[l.ID]; ok {
			lanes[l.ID] = l
		}
	}
	return lanes, nil
}
