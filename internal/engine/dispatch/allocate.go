package dispatch

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
)

// share is a route and how much of the audience it should carry, relative to
// the others.
type share struct {
	broadcast.Route
	Weight float64
}

// sharesOf gives every route the same share: no lane has a daily cap yet whose
// remainder could be the weight (contract 10.2).
func sharesOf(routes []broadcast.Route) []share {
	shares := make([]share, len(routes))
	for i, r := range routes {
		shares[i] = share{r, 1}
	}
	return shares
}

// pick returns the route of a contact's message, by weighted rendezvous hashing
// (highest random weight, Thaler and Ravishankar 1998): each contact draws a
// number for each identity, from nothing but both ids, and the best draw wins.
// So a contact keeps hearing from the same sender for as long as that one can
// send, and when a sender joins or leaves, only the contacts that it wins or
// loses change theirs. There must be at least one share.
func pick(contact id.Contact, shares []share) broadcast.Route {
	best, at := math.Inf(-1), 0
	for i, s := range shares {
		if score := -s.Weight / math.Log(draw(contact, s.Identity)); score > best {
			best, at = score, i
		}
	}
	return shares[at].Route
}

// draw returns a number between 0 and 1, exclusive, that both ids determine.
func draw(contact id.Contact, identity id.Identity) float64 {
	sum := sha256.Sum256([]byte(string(contact) + ":" + string(identity)))
	return (float64(binary.BigEndian.Uint64(sum[:8])>>11) + 0.5) / (1 << 53)
}
