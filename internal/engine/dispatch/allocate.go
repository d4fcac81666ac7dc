package dispatch

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
)

// allocator assigns an identity and a lane to each message of a broadcast. The routes and weights
// are fixed when the preparation begins and stored in the terms of the send, so that a process that
// takes over the preparation uses the same.
type allocator struct {
	engine   *Engine
	b        broadcast.Broadcast
	recorded []route.Route // in the terms of the send; some may have become unusable
	picker   *route.Picker
	down     map[id.Lane]bool
}

// newAllocator stores the routes of b in the terms of its send, and returns the allocator for those
// that are usable.
func (e *Engine) newAllocator(ctx context.Context, b broadcast.Broadcast, facts broadcast.Preconditions) (*allocator, error) {
	recorded, err := e.recordRoutes(ctx, b, facts)
	if err != nil {
		return nil, err
	}
	usable := facts.Routes(b)
	routes := slices.DeleteFunc(slices.Clone(recorded), func(r route.Route) bool { return !route.Contains(usable, r) })
	a := &allocator{engine: e, b: b, recorded: recorded, picker: route.NewPicker(routes), down: map[id.Lane]bool{}}
	states, err := lane.StatesOf(ctx, e.DB, b.Tenant, route.Lanes(routes))
	for l, health := range states {
		a.down[l] = health.State == lane.Down
	}
	return a, err
}

// recordRoutes adds b's routes, with their current weights, to those stored in the terms of the
// send, and returns all of them.
func (e *Engine) recordRoutes(ctx context.Context, b broadcast.Broadcast, facts broadcast.Preconditions) ([]route.Route, error) {
	terms, err := outbox.LoadTerms(ctx, e.DB, b.Tenant, b.Send)
	if err != nil {
		return nil, err
	}
	routes := facts.Routes(b)
	if !slices.ContainsFunc(routes, func(r route.Route) bool { return !route.Contains(terms.Routes, r) }) {
		return terms.Routes, nil
	}
	if err := e.loadCapacities(ctx, b, facts, routes); err != nil {
		return nil, err
	}
	return outbox.AddRoutes(ctx, e.DB, b.Tenant, b.Send, routes)
}

// lastSenders returns the identity from which each contact last got mail of the broadcast's type. It is
// needed only if there are several identities.
func (a *allocator) lastSenders(ctx context.Context, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	if !a.picker.Several() {
		return nil, nil
	}
	return outbox.LastSenders(ctx, a.engine.DB, a.b.Tenant, a.b.EmailType, a.b.Send, contacts)
}

// route returns the route of a contact's message. Last is the identity of the contact's last mail,
// or zero.
func (a *allocator) route(contact id.Contact, last id.Identity) route.Route {
	return a.picker.Pick(contact, last, a.down)
}

// loadCapacities sets the capacity of each route: what its identity may still send today, without the
// reservations of other sends.
func (e *Engine) loadCapacities(ctx context.Context, b broadcast.Broadcast, facts broadcast.Preconditions, routes []route.Route) error {
	now := e.Now()
	account, err := tenant.ByID(ctx, e.DB, b.Tenant)
	if err != nil {
		return err
	}
	today := spread.DayOf(now, account.Location())
	most := map[id.Lane]int{}
	var lanes []lane.Config
	for _, r := range routes {
		n, capped := facts.Lanes[r.Lane].DayCap(today)
		if _, known := most[r.Lane]; capped && !known {
			most[r.Lane], lanes = n, append(lanes, facts.Lanes[r.Lane])
		}
	}
	if len(lanes) == 0 {
		setCapacities(routes, nil)
		return nil
	}
	stats, err := lane.StatsOf(ctx, e.DB, b.Tenant, lanes, now)
	if err != nil {
		return err
	}
	busy, err := outbox.LaneLoads(ctx, e.DB, b.Tenant, b.Send, slices.Collect(maps.Keys(most)), today)
	if err != nil {
		return err
	}
	left := map[id.Lane]int{}
	for l, n := range most {
		others := busy[outbox.LaneDay{Lane: l, Day: today}]
		left[l] = max(0, n-max(stats[l].SentToday, others.Sent)-others.Reserved)
	}
	setCapacities(routes, left)
	return nil
}

// unlimited is the daily capacity assumed for a lane without a limit, relative to lanes with one.
// If another lane has more left, that is used instead.
const unlimited = 1_000_000

// setCapacities sets the capacity of each route to that of its identity: the sum of what its lanes have
// left today. Lanes that are not in left have no limit. A lane shared by several identities counts
// in equal parts for each.
func setCapacities(routes []route.Route, left map[id.Lane]int) {
	users, most := map[id.Lane]int{}, unlimited
	for _, r := range routes {
		users[r.Lane]++
		most = max(most, left[r.Lane])
	}
	capacity := map[id.Identity]int{}
	for _, r := range routes {
		n, capped := left[r.Lane]
		part := most
		if capped {
			part = n/users[r.Lane] + min(n%users[r.Lane], 1)
		}
		capacity[r.Identity] = min(capacity[r.Identity], math.MaxInt-part) + part
	}
	for i := range routes {
		routes[i].Capacity = capacity[routes[i].Identity]
	}
}
