package broadcast

import (
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/spread"
)

// Mode says over how long a send is spread.
type Mode string

// The modes.
const (
	Now      Mode = "now"
	OverDays Mode = "over_days"
	ByDate   Mode = "by_date"
)

// Overflow says what becomes of messages that do not fit the days of a send.
type Overflow string

// What may become of them.
const (
	Extend   Overflow = "extend"   // they go on the days that follow
	Holdback Overflow = "holdback" // they never go
)

// Delivery is how a broadcast's mail is spread over time and lanes.
type Delivery struct {
	Mode       Mode         `json:"mode,omitempty"`
	WindowDays int          `json:"window_days,omitempty"` // of over_days
	WindowDate spread.Day   `json:"window_date,omitempty"` // the last day, of by_date
	Skipped    []spread.Day `json:"skipped,omitempty"`
	Overflow   Overflow     `json:"overflow,omitempty"`
	PerHour    int          `json:"per_hour,omitempty"` // at most so many an hour; 0: as fast as the lanes allow
	Lanes      []LaneShare  `json:"lanes,omitempty"`    // nil: the one lane that resolves
}

// names reports whether a lane stands in the list.
func (d Delivery) names(l id.MTAConfig) bool {
	return slices.ContainsFunc(d.Lanes, func(s LaneShare) bool { return s.Lane == l })
}

// LaneShare is a lane and how much of each sender's mail it should carry,
// relative to the others.
type LaneShare struct {
	Lane   id.MTAConfig `json:"lane"`
	Weight float64      `json:"weight"`
}
