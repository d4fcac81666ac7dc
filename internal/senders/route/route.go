// Package route describes the routes of the messages of a send, and picks one
// for each recipient. The choice depends only on ids and weights, so all processes pick the same.
package route

import (
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Route is a sending identity and the lane that
// sends its mail.
type Route struct {
	Identity id.Identity `json:"identity"`
	Lane     id.Lane     `json:"lane"`
	Weight   float64     `json:"weight,omitempty"`   // of the lane among those of the identity; 0: there is only one
	Capacity int         `json:"capacity,omitempty"` // messages the identity could send that day, when the send was prepared; 0 for all: equal shares
}

// Same reports whether both are the same route, whatever their weights.
func (r Route) Same(o Route) bool { return r.Identity == o.Identity && r.Lane == o.Lane }

// Contains reports whether routes contains r.
func Contains(routes []Route, r Route) bool { return slices.ContainsFunc(routes, r.Same) }

// Merge returns routes with those of more that it does not contain. A route that is in
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
func Lanes(routes []Route) []id.Lane {
	lanes := make([]id.Lane, 0, len(routes))
	for _, r := range routes {
		if !slices.Contains(lanes, r.Lane) {
			lanes = append(lanes, r.Lane)
		}
	}
	return lanes
}
