package sender

import (
	"cmp"
	"context"
	"slices"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// LaneShare is a lane and its weight among the lanes of a send.
type LaneShare struct {
	Lane   id.Lane
	Weight float64
}

// Selection is the senders and lanes that the author of a send chose.
type Selection struct {
	Identities []id.Identity // none: all of the email type
	EmailType  id.EmailType
	Shares     []LaneShare // lanes that share the send; none: one lane for each identity
	Lane       id.Lane     // without shares; zero: that of the identity, or the account's
}

// Routing is the data by which messages get their identities and lanes.
type Routing struct {
	Lanes       map[id.Lane]lane.Config
	DefaultLane id.Lane     // the account's; zero: none
	Candidates  []Candidate // identities that may send
	Paused      []Candidate // identities that may not send, only because their domain is paused
}

// LoadRouting loads the routing of a selection. Settings are those of the tenant.
func LoadRouting(ctx context.Context, db *sqldb.DB, t id.Tenant, settings tenant.Settings, s Selection) (Routing, error) {
	r := Routing{Lanes: map[id.Lane]lane.Config{}, DefaultLane: settings.DefaultLane}
	lanes, err := lane.List(ctx, db, t)
	if err != nil {
		return Routing{}, err
	}
	for _, l := range lanes {
		r.Lanes[l.ID] = l
	}
	pool, err := Candidates(ctx, db, t, s.Identities, s.EmailType)
	r.Candidates, r.Paused = pool.Able, pool.Paused
	return r, err
}

// WeightedLane is a lane and its weight among the lanes of an identity.
type WeightedLane struct {
	lane.Config
	Weight float64 // 0: it is the only one
}

// Carriers returns the active lanes that carry the mail of an identity, the one with the greatest
// weight first. These are the lanes that share the send; else the lane of the selection, of the
// identity, or of the account, whichever is set first. A deleted lane counts as not set. An
// inactive one carries nothing and is not replaced by the next in this order.
func (r Routing) Carriers(s Selection, identity Identity) []WeightedLane {
	var shared []WeightedLane
	known := false
	for _, share := range s.Shares {
		c, ok := r.Lanes[share.Lane]
		known = known || ok
		if ok && c.Active {
			shared = append(shared, WeightedLane{c, share.Weight})
		}
	}
	if known {
		slices.SortStableFunc(shared, func(a, b WeightedLane) int { return cmp.Compare(b.Weight, a.Weight) })
		return shared
	}
	for _, l := range []id.Lane{s.Lane, identity.DefaultLane, r.DefaultLane} {
		if c, ok := r.Lanes[l]; ok && !l.IsZero() {
			if c.Active {
				return []WeightedLane{{Config: c}}
			}
			return nil
		}
	}
	return nil
}

// Routes returns the routes for messages of a selection.
func (r Routing) Routes(s Selection) []route.Route {
	routes := []route.Route{}
	for _, c := range r.Candidates {
		for _, l := range r.Carriers(s, c.Identity) {
			routes = append(routes, route.Route{Identity: c.Identity.ID, Lane: l.ID, Weight: l.Weight})
		}
	}
	return routes
}
