package broadcast

import (
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
)

// Mode selects over which days a send is spread.
type Mode string

// The modes.
const (
	Now      Mode = "now"
	OverDays Mode = "over_days"
	ByDate   Mode = "by_date"
)

// Overflow selects what happens to messages that do not fit into the days of a send.
type Overflow string

// The values of Overflow.
const (
	Extend   Overflow = "extend"   // sent on the following days
	Holdback Overflow = "holdback" // not sent
)

// Delivery is how a broadcast's mail is spread over time and lanes.
type Delivery struct {
	Mode       Mode         `json:"mode,omitempty"`
	WindowDays int          `json:"window_days,omitempty"` // of over_days
	WindowDate spread.Day   `json:"window_date,omitempty"` // the last day, of by_date
	Skipped    []spread.Day `json:"skipped,omitempty"`
	Overflow   Overflow     `json:"overflow,omitempty"`
	PerHour    int          `json:"per_hour,omitempty"` // maximum number of messages per hour; 0: no limit besides those of the lanes
	Lanes      []LaneShare  `json:"lanes,omitempty"`    // nil: one lane, resolved by carriers
}

// names reports whether the list contains a lane.
func (d Delivery) names(l id.Lane) bool {
	return slices.ContainsFunc(d.Lanes, func(s LaneShare) bool { return s.Lane == l })
}

// LaneShare is a lane and its weight: the share of each sender's mail it should carry, relative to
// the others.
type LaneShare struct {
	Lane   id.Lane `json:"lane"`
	Weight float64 `json:"weight"`
}
