package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"packetboat/internal/broadcast"
	"packetboat/internal/contact"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/outbox"
	"packetboat/internal/spread"
	"packetboat/internal/sqldb"
	"packetboat/internal/tenant"
)

// needsPlan reports whether the messages of b are given days: when it is spread
// over some, or a lane of it may carry only so many a day, or what does not fit
// today is held back. Everything else leaves as it comes.
func needsPlan(b broadcast.Broadcast, f broadcast.Facts, routes []broadcast.Route, today spread.Day) bool {
	d := b.Delivery
	return d.Spread() || d.PerHour > 0 && d.Overflow == broadcast.Holdback || slices.ContainsFunc(routes, func(r broadcast.Route) bool {
		_, capped := f.Lanes[r.Lane].DayCap(today)
		return capped
	})
}

// ranks returns the place of each contact in the order of a planned send: who
// clicked last comes first, then who opened last, then the others by chance.
// Nobody has one in a send that is not planned.
func (e *Engine) ranks(ctx context.Context, p page, ids []id.Contact) (map[id.Contact]string, error) {
	if p.run.Planning == nil {
		return nil, nil
	}
	engaged, err := contact.Engagements(ctx, e.DB, p.b.Tenant, ids)
	if err != nil {
		return nil, err
	}
	ranks := make(map[id.Contact]string, len(ids))
	for _, c := range ids {
		ranks[c] = rank(p.b.ID, c, engaged[c])
	}
	return ranks, nil
}

// rank is a text of fixed width whose order is that of the send.
func rank(b id.Broadcast, c id.Contact, e contact.Engagement) string {
	chance := sha256.Sum256([]byte(string(b) + ":" + string(c)))
	return fmt.Sprintf("%08x%08x%08x", ago(e.Clicked), ago(e.Opened), chance[:4])
}

// ago is the smaller the later a moment is, and the largest for none.
func ago(t *time.Time) uint32 {
	if t == nil {
		return math.MaxUint32
	}
	return math.MaxUint32 - uint32(min(max(t.Unix(), 1), math.MaxUint32))
}

// plan takes the planning of a send that is all in the outbox further: it makes
// the plan, and gives the next messages the times that it has for them.
func (e *Engine) plan(ctx context.Context, t tenant.Tenant, b broadcast.Broadcast, run *broadcast.Run) (more bool, err error) {
	if run.Planning.Stage == broadcast.ToPlan {
		if err := e.makePlan(ctx, t, b, run); err != nil {
			return false, err
		}
	}
	c := calendarOf(t, b, run.Planning.At)
	if !run.Planning.Divided {
		if err := e.divide(ctx, b, run, c); err != nil {
			return false, err
		}
	}
	for range e.pages() {
		done, err := e.give(ctx, b, run)
		if err != nil || done {
			return false, err
		}
	}
	return true, nil
}

// calendar is when the messages of a send may leave.
type calendar struct {
	broadcast.Delivery
	window spread.Window
	zone   *time.Location
	offset time.Duration // of the batches from the start of the window
	at     time.Time     // nothing leaves before
}

func calendarOf(t tenant.Tenant, b broadcast.Broadcast, at time.Time) calendar {
	hash := sha256.Sum256([]byte(b.ID))
	seconds := binary.BigEndian.Uint32(hash[:4]) % uint32(spread.Quarter/time.Second)
	return calendar{b.Delivery, t.Settings.Window(), t.Location(), time.Duration(seconds) * time.Second, at}
}

func (c calendar) today() spread.Day { return spread.DayOf(c.at, c.zone) }

// batches returns when messages of a day leave. A send that is not spread
// leaves at once, and on later days when the window opens.
func (c calendar) batches(day spread.Day) []time.Time {
	if !c.Spread() && day == c.today() {
		return []time.Time{c.at}
	}
	list := c.window.Batches(day, c.zone, c.offset, c.at)
	if !c.Spread() {
		return list[:min(1, len(list))]
	}
	return list
}

// capacity returns how many messages the send may have on a day.
func (c calendar) capacity(day spread.Day) spread.Cap {
	if len(c.batches(day)) == 0 {
		return spread.UpTo(0)
	}
	if c.PerHour == 0 {
		return spread.Cap{}
	}
	window := c.window
	if !c.Spread() && day == c.today() {
		window = spread.AllDay
	}
	return spread.UpTo(int(math.Ceil(float64(c.PerHour) * window.Hours(day, c.zone, c.at))))
}

// days returns the days of the window that are left, and the first one that
// extending may use.
func (c calendar) days(start spread.Day) (left []spread.Day, next spread.Day) {
	today := c.today()
	if !c.Spread() {
		start = today
	}
	all, next := c.Days(start)
	return slices.DeleteFunc(all, func(d spread.Day) bool { return d < today }), max(next, today)
}

// makePlan gives each day and lane its number of messages and reserves them. In
// which order messages are met plays no part, so counting them is enough.
func (e *Engine) makePlan(ctx context.Context, t tenant.Tenant, b broadcast.Broadcast, run *broadcast.Run) error {
	p := *run.Planning
	now := e.Now()
	c := calendarOf(t, b, now)
	p.At, p.Cut = now, outbox.Cut{}
	if p.Again {
		p.Cut = outbox.Cut{After: now, Before: c.today()}
	}
	if p.Missed {
		p.Cut.After = outbox.Unplanned()
	}
	stream := string(b.ID)
	census, err := outbox.Count(ctx, e.DB, t.ID, stream, p.Cut)
	if err != nil {
		return err
	}
	lanes, err := e.lanes(ctx, t.ID, census)
	if err != nil {
		return err
	}
	fares, err := lane.FaresOf(ctx, e.DB, t.ID, slices.Collect(maps.Values(lanes)), now)
	if err != nil {
		return err
	}
	own := map[spread.Day]int{} // what stays on each day
	for at, n := range census.Stay {
		own[at.Day] += n
	}
	load := spread.Load{Skipped: b.Delivery.Skipped, Extend: b.Delivery.Overflow != broadcast.Holdback, Waiting: map[string]int{}, Has: own}
	load.Days, load.Next = c.days(p.Start)
	for l, n := range census.Moving {
		load.Waiting[string(l)] = n
	}
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := run.Hold(ctx, tx); err != nil {
			return err
		}
		busy, err := outbox.Reservations(ctx, tx, t.ID, stream, slices.Collect(maps.Keys(lanes)), c.today())
		if err != nil {
			return err
		}
		sent, err := outbox.SentOn(ctx, tx, t.ID, stream)
		if err != nil {
			return err
		}
		waits := map[spread.Day]int{} // of what stays, what has yet to leave
		for at, n := range census.Stay {
			waits[at.Day] += max(0, n-sent[at])
		}
		load.Total = func(day spread.Day) spread.Cap {
			most := c.capacity(day)
			return spread.Cap{Max: most.Max - waits[day], Capped: most.Capped}
		}
		load.Lane = func(name string, day spread.Day) spread.Cap {
			l := id.MTAConfig(name)
			most, capped := lanes[l].DayCap(day)
			at := outbox.LaneDay{Lane: l, Day: day}
			carried := busy[at].Sent
			if day == c.today() {
				carried = max(carried, fares[l].SentToday)
			}
			return spread.Cap{Max: most - carried - busy[at].Reserved - max(0, census.Stay[at]-sent[at]), Capped: capped}
		}
		p.Quotas, p.HeldBack = load.Plan()
		planned := maps.Clone(census.Stay)
		for _, q := range p.Quotas {
			planned[outbox.LaneDay{Lane: id.MTAConfig(q.Lane), Day: q.Day}] += q.N
		}
		if err := outbox.Reserve(ctx, tx, t.ID, stream, planned); err != nil {
			return err
		}
		p.Stage, p.Divided, p.Done = broadcast.Give, false, ""
		return run.Plan(ctx, tx, p, now.Add(lease))
	})
	if err == nil {
		run.Planning = &p
	}
	return err
}

// lanes returns the lanes that a census speaks of.
func (e *Engine) lanes(ctx context.Context, t id.Tenant, census outbox.Census) (map[id.MTAConfig]lane.Config, error) {
	all, err := lane.List(ctx, e.DB, t)
	if err != nil {
		return nil, err
	}
	lanes := map[id.MTAConfig]lane.Config{}
	for l := range census.Moving {
		lanes[l] = lane.Config{ID: l} // one that was deleted bounds nothing
	}
	for _, l := range all {
		if _, ok := lanes[l.ID]; ok {
			lanes[l.ID] = l
		}
	}
	return lanes, nil
}

// look asks for a new plan when a day of a planned send has passed that did not
// send all it should. It looks once a day.
func (e *Engine) look(ctx context.Context, t tenant.Tenant, run broadcast.Run) (again bool, err error) {
	if run.Planning == nil {
		return false, nil
	}
	today := spread.DayOf(e.Now(), t.Location())
	if e.seen[run.Broadcast] == today {
		return false, nil
	}
	again, err = broadcast.Replan(ctx, e.DB, run.Tenant, run.Broadcast, today)
	if err == nil {
		if e.seen == nil || len(e.seen) > 1000 {
			e.seen = map[id.Broadcast]spread.Day{}
		}
		e.seen[run.Broadcast] = today
	}
	return again, err
}
