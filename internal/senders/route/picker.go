package route

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Picker picks a route for each recipient of a send.
//
// A contact that is not bound to an identity gets one by weighted rendezvous hashing
// (highest random weight, Thaler and Ravishankar 1998): a hash of both ids gives a number
// for each identity, and the highest wins. So a contact
// keeps getting mail from the same identity as long as that one can send, and when an
// identity is added or removed, only the contacts that it gains or loses change theirs.
// Lanes of an identity are picked the same way.
type Picker struct {
	identities []option[id.Identity]
	lanes      map[id.Identity][]option[id.Lane]
}

// option is an identity or a lane to choose from.
type option[ID ~[16]byte] struct {
	id     ID
	weight float64 // its share of the contacts, relative to the others'
}

// NewPicker returns a picker among routes, of which there must be at least one.
func NewPicker(routes []Route) *Picker {
	p := &Picker{lanes: map[id.Identity][]option[id.Lane]{}}
	for _, r := range routes {
		if _, known := p.lanes[r.Identity]; !known {
			p.identities = append(p.identities, option[id.Identity]{r.Identity, float64(r.Capacity)})
		}
		p.lanes[r.Identity] = append(p.lanes[r.Identity], option[id.Lane]{r.Lane, r.Weight})
	}
	return p
}

// Several reports whether there is more than one identity to pick from.
func (p *Picker) Several() bool { return len(p.identities) > 1 }

// Pick returns the route of a contact's message: from the identity that the contact last got mail
// from if that is still among the routes, otherwise from the one with the highest number, by a lane
// that is not down unless all of the identity's are.
func (p *Picker) Pick(contact id.Contact, last id.Identity, down map[id.Lane]bool) Route {
	identity := last
	if _, ok := p.lanes[identity]; !ok {
		identity = draw(contact, p.identities, nil)
	}
	return Route{Identity: identity, Lane: draw(contact, p.lanes[identity], down)}
}

// Failover returns the lane that sends a message which got a lane when it
// was prepared: that lane, unless it is down and another of the identity's is not.
// The contacts of a lane that is down are divided among the others by weight,
// and no other contact changes its lane. Routes may contain lanes that were switched
// off or deleted since: the caller counts them as down.
func (p *Picker) Failover(contact id.Contact, identity id.Identity, given id.Lane, down map[id.Lane]bool) id.Lane {
	if !down[given] {
		return given
	}
	if other := draw(contact, p.lanes[identity], down); !other.IsZero() && !down[other] {
		return other
	}
	return given
}

// draw returns the option with the highest number for a contact, of those
// that are not down, or of all if all are. If no option has a weight they
// all have the same; without options it returns the empty id.
func draw[ID ~[16]byte](contact id.Contact, options []option[ID], down map[ID]bool) ID {
	if len(options) == 1 {
		return options[0].id
	}
	var best, some ID
	most, weightless := math.Inf(-1), math.Inf(-1)
	found := false
	for _, o := range options {
		if down[o.id] {
			continue
		}
		found = true
		luck := -math.Log(-math.Log(chance(contact, o.id)))
		if luck > weightless {
			weightless, some = luck, o.id
		}
		// The logarithm of weight/-ln(chance), which neither overflows nor becomes 0.
		if score := math.Log(o.weight) + luck; o.weight > 0 && score > most {
			most, best = score, o.id
		}
	}
	switch {
	case !found && len(down) > 0 && len(options) > 0:
		return draw(contact, options, nil)
	case best == ID{}:
		return some
	}
	return best
}

// chance returns a number between 0 and 1, exclusive, derived from both ids.
func chance(contact id.Contact, other [16]byte) float64 {
	sum := sha256.Sum256(append(contact[:], other[:]...))
	return (float64(binary.BigEndian.Uint64(sum[:8])>>12) + 0.5) / (1 << 52)
}
