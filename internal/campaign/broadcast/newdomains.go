package broadcast

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// newDomains are the new sending domains of a send's lanes that warm up, which limit what these lanes may
// send of it in a day. Only lanes are in it that have mail from no other domain.
type newDomains struct {
	today spread.Day
	of    map[id.Lane][]sender.Domain
	used  map[id.Domain]int // attempts today
}

// newDomainsOf returns the new domains of the lanes of a send with these routes.
func newDomainsOf(ctx context.Context, db *sqldb.DB, t id.Tenant, routes []route.Route, lanes map[id.Lane]lane.Config, c Calendar) (newDomains, error) {
	n := newDomains{c.today(), map[id.Lane][]sender.Domain{}, map[id.Domain]int{}}
	byLane := map[id.Lane][]id.Identity{}
	var identities []id.Identity
	for _, r := range routes {
		if lanes[r.Lane].Warmup.Enabled {
			byLane[r.Lane] = append(byLane[r.Lane], r.Identity)
			identities = append(identities, r.Identity)
		}
	}
	if len(byLane) == 0 {
		return n, nil
	}
	owners, err := sender.DomainsOf(ctx, db, t, identities)
	if err != nil {
		return n, err
	}
	all, err := sender.Domains(ctx, db, t)
	if err != nil {
		return n, err
	}
	known := make(map[id.Domain]sender.Domain, len(all))
	for _, d := range all {
		known[d.ID] = d
	}
	from, to := spread.AllDay.Span(n.today, c.zone)
	for l, list := range byLane {
		found := map[id.Domain]bool{}
		for _, i := range list {
			d, ok := known[owners[i]]
			if !ok || !d.IsNew() {
				delete(n.of, l)
				break
			}
			if found[d.ID] {
				continue
			}
			found[d.ID] = true
			n.of[l] = append(n.of[l], d)
			if _, counted := n.used[d.ID]; counted {
				continue
			}
			sum, err := traffic.OfDomainBetween(ctx, db, t, d.ID, from, to)
			if err != nil {
				return n, err
			}
			n.used[d.ID] = sum.Delivered + sum.Deferred + sum.Hard + sum.Block
		}
	}
	return n, nil
}

// limit returns how many messages domains may send on a day by a lane that warms up. As with the warm-up itself, each
// day until then is expected to be a good one.
func (n newDomains) limit(w lane.Warmup, domains []sender.Domain, day spread.Day) spread.Cap {
	ahead := 0
	for d := n.today; d < day && ahead < sender.WarmDays; d = d.Add(1) {
		ahead++
	}
	most := 0
	for _, d := range domains {
		if d.WarmDays+ahead >= sender.WarmDays {
			return spread.Cap{}
		}
		most += w.NewDomainCap(d.WarmDays + ahead)
		if day == n.today {
			most -= n.used[d.ID]
		}
	}
	return spread.UpTo(max(0, most))
}

// byLane returns how many messages a lane may send on a day by the age of its domains.
func (n newDomains) byLane(c lane.Config, day spread.Day) spread.Cap {
	domains := n.of[c.ID]
	if len(domains) == 0 {
		return spread.Cap{}
	}
	return n.limit(c.Warmup, domains, day)
}

// ofAll returns how many messages all lanes together may send on a day, which share the limits of domains. A
// domain has the highest of its limits.
func (n newDomains) ofAll(lanes map[id.Lane]lane.Config, day spread.Day) spread.Cap {
	most := map[id.Domain]int{}
	for l, c := range lanes {
		if len(n.of[l]) == 0 {
			return spread.Cap{}
		}
		for _, d := range n.of[l] {
			one := n.limit(c.Warmup, []sender.Domain{d}, day)
			if !one.Capped {
				return spread.Cap{}
			}
			most[d.ID] = max(most[d.ID], one.Max)
		}
	}
	sum := 0
	for _, m := range most {
		sum += m
	}
	return spread.Cap{Max: sum, Capped: len(lanes) > 0}
}

// lower returns the lower of two limits.
func lower(a, b spread.Cap) spread.Cap {
	if !a.Capped || b.Capped && b.Max < a.Max {
		return b
	}
	return a
}
