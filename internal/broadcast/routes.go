package broadcast

import (
	"cmp"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/route"
	"github.com/packetboat/packetboat/internal/sender"
)

// weightedLane is a lane and its weight among the lanes of an identity.
type weightedLane struct {
	lane.Config
	weight float64 // 0: it is the only one
}

// carriers returns the active lanes that carry the mail of an identity for b, the one with the
// greatest weight first. These are the lanes of the broadcast's delivery; else the lane of the
// broadcast, of the identity, or of the account, whichever is set first. A deleted lane counts as
// not set. An inactive one carries nothing and is not replaced by the next in this order.
func (f Preconditions) carriers(b Broadcast, identity sender.Identity) []weightedLane {
	var shared []weightedLane
	known := false
	for _, s := range b.Delivery.Lanes {
		c, ok := f.Lanes[s.Lane]
		known = known || ok
		if ok && c.Active {
			shared = append(shared, weightedLane{c, s.Weight})
		}
	}
	if known {
		slices.SortStableFunc(shared, func(a, b weightedLane) int { return cmp.Compare(b.weight, a.weight) })
		return shared
	}
	for _, l := range []id.MTAConfig{b.MTAConfig, identity.DefaultMTA, f.DefaultLane} {
		if c, ok := f.Lanes[l]; ok && !l.IsZero() {
			if c.Active {
				return []weightedLane{{Config: c}}
			}
			return nil
		}
	}
	return nil
}

// Lane returns the lane with the greatest weight for an identity's mail of b.
func (f Preconditions) Lane(b Broadcast, identity sender.Identity) (lane.Config, bool) {
	if c := f.carriers(b, identity); len(c) > 0 {
		return c[0].Config, true
	}
	return lane.Config{}, false
}

// Routes returns the routes for messages of b.
func (f Preconditions) Routes(b Broadcast) []route.Route {
	routes := []route.Route{}
	for _, c := range f.Candidates {
		for _, l := range f.carriers(b, c.Identity) {
			routes = append(routes, route.Route{Identity: c.Identity.ID, Lane: l.ID, Weight: l.weight})
		}
	}
	return routes
}

// Obstacle returns why b cannot be prepared, or "".
func (f Preconditions) Obstacle(b Broadcast) FailureCode {
	var named []id.MTAConfig
	for _, s := range b.Delivery.Lanes {
		named = append(named, s.Lane)
	}
	if len(named) == 0 && !b.MTAConfig.IsZero() {
		named = append(named, b.MTAConfig)
	}
	gone := func(l id.MTAConfig) bool { _, ok := f.Lanes[l]; return !ok }
	switch {
	case f.EmailType == nil:
		return EmailTypeDeleted
	case len(named) > 0 && !slices.ContainsFunc(named, func(l id.MTAConfig) bool { return !gone(l) }):
		return MTAConfigDeleted
	case len(f.Candidates) == 0:
		return NoIdentity
	case len(f.Routes(b)) == 0:
		return MTAConfigDeleted
	}
	return ""
}

// AwaitsDomain reports whether b cannot be prepared only because the domains of all its identities
// are paused. It then returns the preconditions as if they were not.
func (f Preconditions) AwaitsDomain(b Broadcast) (Preconditions, bool) {
	if len(f.Candidates) > 0 || len(f.Paused) == 0 {
		return f, false
	}
	f.Candidates, f.Paused = f.Paused, nil
	return f, f.Obstacle(b) == ""
}

// hasLane reports whether an active lane resolves. Without a candidate identity, the lanes of the
// broadcast and of the account are considered.
func (f Preconditions) hasLane(b Broadcast) bool {
	if len(f.Candidates) == 0 {
		_, ok := f.Lane(b, sender.Identity{})
		return ok
	}
	return len(f.Routes(b)) > 0
}

// anyExternalRoute reports whether the predicate holds for some candidate and a lane that carries
// its mail off this machine, which excludes the built-in mailbox.
func (f Preconditions) anyExternalRoute(b Broadcast, such func(sender.Candidate, lane.Config) bool) bool {
	return slices.ContainsFunc(f.Candidates, func(c sender.Candidate) bool {
		return slices.ContainsFunc(f.carriers(b, c.Identity), func(l weightedLane) bool { return l.Type != lane.Sink && such(c, l.Config) })
	})
}

// unverified reports whether no test mail was accepted on a route yet.
func unverified(c sender.Candidate, l lane.Config) bool {
	return !slices.Contains(c.Identity.VerifiedLanes, l.ID)
}

// withoutDMARC reports whether the sender's domain has no known DMARC record.
func withoutDMARC(c sender.Candidate, _ lane.Config) bool { return c.Domain.DMARCPolicy == "" }
