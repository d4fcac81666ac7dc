package broadcast

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"packetboat/internal/id"
)

// Ways are the routes of a send, made ready for its recipients to be given one
// each.
//
// Who is not bound to a sender gets one by weighted rendezvous hashing (highest
// random weight, Thaler and Ravishankar 1998): each contact draws a number for
// each sender, from nothing but both ids, and the best draw wins. So a contact
// keeps hearing from the same sender for as long as that one can send, and when
// a sender joins or leaves, only the contacts that it wins or loses change
// theirs. The lanes of a sender are given out the same way.
type Ways struct {
	identities []option[id.Identity]
	lanes      map[id.Identity][]option[id.MTAConfig]
}

// option is something that contacts draw a number for.
type option[ID ~[16]byte] struct {
	id     ID
	weight float64 // its share of the contacts, relative to the others'
}

// NewWays makes routes ready. There must be at least one.
func NewWays(routes []Route) *Ways {
	w := &Ways{lanes: map[id.Identity][]option[id.MTAConfig]{}}
	for _, r := range routes {
		if _, known := w.lanes[r.Identity]; !known {
			w.identities = append(w.identities, option[id.Identity]{r.Identity, float64(r.Capacity)})
		}
		w.lanes[r.Identity] = append(w.lanes[r.Identity], option[id.MTAConfig]{r.Lane, r.Weight})
	}
	return w
}

// Several reports whether there is more than one sender to choose from.
func (w *Ways) Several() bool { return len(w.identities) > 1 }

// Route returns how a contact's message goes: from the identity that the contact
// heard from last if that is still one of the senders, else from the one it draws,
// by a lane that is not down unless all of the identity's are.
func (w *Ways) Route(contact id.Contact, last id.Identity, down map[id.MTAConfig]bool) Route {
	identity := last
	if _, ok := w.lanes[identity]; !ok {
		identity = draw(contact, w.identities, nil)
	}
	return Route{Identity: identity, Lane: draw(contact, w.lanes[identity], down)}
}

// Instead returns the lane that carries a message which was given a lane when it
// was prepared: that lane, unless it is down and another of the identity's is not.
// The contacts of a lane that is down are shared among the others by their weights,
// and no other contact changes its lane. What is recorded of a run may name lanes
// that were switched off or deleted since: they belong to those that are down.
func (w *Ways) Instead(contact id.Contact, identity id.Identity, given id.MTAConfig, down map[id.MTAConfig]bool) id.MTAConfig {
	if !down[given] {
		return given
	}
	if other := draw(contact, w.lanes[identity], down); !other.IsZero() && !down[other] {
		return other
	}
	return given
}

// draw returns the option for which a contact draws the best number, of those
// that are not down, or of all if all are. Where no option has any weight they
// have the same; the empty id is what it returns without options.
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
		// The logarithm of weight/-ln(chance), which neither overflows nor vanishes.
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

// chance returns a number between 0 and 1, exclusive, that both ids determine.
func chance(contact id.Contact, other [16]byte) float64 {
	sum := sha256.Sum256(append(contact[:], other[:]...))
	return (float64(binary.BigEndian.Uint64(sum[:8])>>12) + 0.5) / (1 << 52)
}
