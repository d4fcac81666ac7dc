// Package route knows the ways that the messages of a send can take, and picks one
// for each recipient. It depends on nothing but ids, so every process picks alike.
package route

import (
	"slices"

	"github.com/packetboat/packetboat/internal/id"
)

// Route is one way a message can take: a sending identity and the lane that
// carries its mail.
type Route struct {
	Identity id.Identity  `json:"identity"`
	Lane     id.MTAConfig `json:"lane"`
	Weight   float64      `json:"weight,omitempty"`   // of the lane among those that share the identity's mail; 0: none share it
	Capacity int          `json:"capacity,omitempty"` // messages the identity could send that day, when the send was prepared; 0 for all: equal shares
}

// Same reports whether both are the same way, whatever their weights.
func (r Route) Same(o Route) bool { return r.Identity == o.Identity && r.Lane == o.Lane }

// Contains reports whether routes has the way r.
func Contains(routes []Route, r Route) bool { return slices.ContainsFunc(routes, r.Same) }

// Merge returns routes with those of more that it does not have. A way that is in
// both keeps the weights that it has in routes.
func Merge(routes, more []Route) []Route {
	all := slices.Clone(routes)
	for _, r := range more {
		if !Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

// Lanes returns the lanes of routes, each once, in their order.
func Lanes(routes []Route) []id.MTAConfig {
	lanes := make([]id.MTAConfig, 0, len(routes))
	for _, r := range routes {
		if !slices.Contains(lanes, r.Lane) {
			lanes = append(lanes, r.Lane)
		}
	}
	return lanes
}
