package broadcast

import (
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// selection returns the senders and lanes that b names.
func (b Broadcast) selection() sender.Selection {
	s := sender.Selection{Identities: b.Identities, EmailType: b.EmailType, Lane: b.Lane}
	for _, share := range b.Delivery.Lanes {
		s.Shares = append(s.Shares, sender.LaneShare(share))
	}
	return s
}

// Lane returns the lane with the greatest weight for an identity's mail of b.
func (f Preconditions) Lane(b Broadcast, identity sender.Identity) (lane.Config, bool) {
	if c := f.Carriers(b.selection(), identity); len(c) > 0 {
		return c[0].Config, true
	}
	return lane.Config{}, false
}

// Routes returns the routes for messages of b.
func (f Preconditions) Routes(b Broadcast) []route.Route { return f.Routing.Routes(b.selection()) }

// Obstacle returns why b cannot be prepared, or "".
func (f Preconditions) Obstacle(b Broadcast) FailureCode {
	var named []id.Lane
	for _, s := range b.Delivery.Lanes {
		named = append(named, s.Lane)
	}
	if len(named) == 0 && !b.Lane.IsZero() {
		named = append(named, b.Lane)
	}
	gone := func(l id.Lane) bool { _, ok := f.Lanes[l]; return !ok }
	switch {
	case f.EmailType == nil:
		return EmailTypeDeleted
	case len(named) > 0 && !slices.ContainsFunc(named, func(l id.Lane) bool { return !gone(l) }):
		return LaneDeleted
	case len(f.Candidates) == 0:
		return NoIdentity
	case len(f.Routes(b)) == 0:
		return LaneDeleted
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
func (f Preconditions) anyExternalRoute(b Broadcast, usable func(sender.Candidate, lane.Config) bool) bool {
	selected := b.selection()
	return slices.ContainsFunc(f.Candidates, func(c sender.Candidate) bool {
		return slices.ContainsFunc(f.Carriers(selected, c.Identity), func(l sender.WeightedLane) bool { return l.Type != lane.Sink && usable(c, l.Config) })
	})
}

// unverified reports whether no test mail was accepted on a route yet.
func unverified(c sender.Candidate, l lane.Config) bool {
	return !slices.Contains(c.Identity.VerifiedLanes, l.ID)
}

// withoutDMARC reports whether the sender's domain has no known DMARC record.
func withoutDMARC(c sender.Candidate, _ lane.Config) bool { return c.Domain.DMARCPolicy == "" }
