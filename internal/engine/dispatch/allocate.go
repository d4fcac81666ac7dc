package dispatch

import (
	"context"
	"math"
	"slices"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/outbox"
	"packetboat/internal/spread"
	"packetboat/internal/tenant"
)

// allocator gives each message of a broadcast its sender and its lane (contract
// 10.2). What it goes by is settled when the preparation begins and recorded in
// the run, so that whoever takes the preparation over goes by the same.
type allocator struct {
	engine *Engine
	b      broadcast.Broadcast
	ways   *broadcast.Ways
	down   map[id.MTAConfig]bool
}

// allocator records the routes that b's messages take, and returns who chooses
// among them.
func (e *Engine) allocator(ctx context.Context, b broadcast.Broadcast, facts broadcast.Facts, run *broadcast.Run) (*allocator, error) {
	if err := e.record(ctx, b, facts, run); err != nil {
		return nil, err
	}
	routes := run.Recorded(facts.Routes(b))
	down, err := e.down(ctx, b.Tenant, routes)
	return &allocator{engine: e, b: b, ways: broadcast.NewWays(routes), down: down}, err
}

// record adds b's routes, with their weights as they are now, to those that the
// run has recorded.
func (e *Engine) record(ctx context.Context, b broadcast.Broadcast, facts broadcast.Facts, run *broadcast.Run) error {
	routes := facts.Routes(b)
	if broadcast.NewWays(routes).Several() && slices.ContainsFunc(routes, func(r broadcast.Route) bool { return !run.Has(r) }) {
		if err := e.weigh(ctx, b.Tenant, facts, routes); err != nil {
			return err
		}
	}
	return run.Take(ctx, e.DB, routes)
}

// last returns from whom each of the contacts heard last by mail of the
// broadcast's type. It matters only where there are several senders.
func (a *allocator) last(ctx context.Context, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	if !a.ways.Several() {
		return nil, nil
	}
	return outbox.LastSenders(ctx, a.engine.DB, a.b.Tenant, a.b.EmailType, string(a.b.ID), contacts)
}

// route returns the way of a contact's message. Last is from whom the contact
// heard last; empty: from nobody.
func (a *allocator) route(contact id.Contact, last id.Identity) broadcast.Route {
	return a.ways.Route(contact, last, a.down)
}

// weigh gives each route what its identity may still send today.
func (e *Engine) weigh(ctx context.Context, t id.Tenant, facts broadcast.Facts, routes []broadcast.Route) error {
	account, err := tenant.ByID(ctx, e.DB, t)
	if err != nil {
		return err
	}
	today := spread.DayOf(e.Now(), account.Location())
	left := map[id.MTAConfig]int{}
	for _, r := range routes {
		most, capped := dayCap(facts.Lanes[r.Lane], today)
		if _, known := left[r.Lane]; known || !capped {
			continue
		}
		used, err := e.used(ctx, t, r.Lane, today)
		if err != nil {
			return err
		}
		left[r.Lane] = max(most-used, 0)
	}
	weigh(routes, left)
	return nil
}

// unlimited is what a lane without a cap counts as being able to carry in a day,
// beside lanes that have one; it is never less than what those have left.
const unlimited = 1_000_000

// weigh gives each route the capacity of its identity: what its lanes have left
// of their day. Lanes that are not in left have no cap. What a lane has left
// belongs to all who use it, so each identity counts its part of that.
func weigh(routes []broadcast.Route, left map[id.MTAConfig]int) {
	users, most := map[id.MTAConfig]int{}, unlimited
	for _, r := range routes {
		users[r.Lane]++
		most = max(most, left[r.Lane])
	}
	capacity := map[id.Identity]int{}
	for _, r := range routes {
		n, capped := left[r.Lane]
		part := most
		if capped {
			part = (n + users[r.Lane] - 1) / users[r.Lane]
		}
		capacity[r.Identity] = min(capacity[r.Identity], math.MaxInt-part) + part
	}
	for i := range routes {
		routes[i].Capacity = capacity[routes[i].Identity]
	}
}

// dayCap returns how many messages a lane may carry on a day, if that is bounded.
func dayCap(lane.Config, spread.Day) (n int, capped bool) { return 0, false }

// used returns how many messages a lane has carried on a day.
func (e *Engine) used(context.Context, id.Tenant, id.MTAConfig, spread.Day) (int, error) {
	return 0, nil
}

// down returns the lanes of routes that are down.
func (e *Engine) down(context.Context, id.Tenant, []broadcast.Route) (map[id.MTAConfig]bool, error) {
	return nil, nil
}
