package broadcast

import (
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
)

// Limits on spreading.
const (
	MaxWindowDays   = 60
	MaxSkippedDates = 60
	maxPerHour      = 1_000_000_000
)

// DeliveryChange holds the changes that a request makes to a broadcast's delivery. Nil leaves a
// value unchanged; a pointer to nil clears it.
type DeliveryChange struct {
	Mode       *Mode
	WindowDays **int
	WindowDate **string // a day
	Skipped    *[]string
	Overflow   *Overflow
	PerHour    **int
	Lanes      *[]LaneShare // existing lanes; empty: one lane, resolved by carriers
}

// check validates the change independently of the broadcast.
func (c *DeliveryChange) check(p *fault.Problems) {
	if c.Mode != nil && !slices.Contains([]Mode{Now, OverDays, ByDate}, *c.Mode) {
		p.Add("delivery_mode", "must be now, over_days or by_date")
	}
	if c.Overflow != nil && *c.Overflow != Extend && *c.Overflow != Holdback {
		p.Add("overflow_mode", "must be extend or holdback")
	}
	if n := c.WindowDays; n != nil && *n != nil && (**n < 1 || **n > MaxWindowDays) {
		p.Add("delivery_window_days", fmt.Sprintf("must be 1 to %d", MaxWindowDays))
	}
	if n := c.PerHour; n != nil && *n != nil && (**n < 1 || **n > maxPerHour) {
		p.Add("throttle_per_hour", fmt.Sprintf("must be 1 to %d", maxPerHour))
	}
	if d := c.WindowDate; d != nil && *d != nil {
		if _, err := spread.ParseDay(**d); err != nil {
			p.Add("delivery_window_date", dayProblem)
		}
	}
	if c.Skipped != nil {
		checkDays(p, *c.Skipped)
	}
	if c.Lanes != nil {
		checkLanes(p, *c.Lanes)
	}
}

const dayProblem = "must be a day such as 2026-03-02"

// checkDays validates a list of days to skip.
func checkDays(p *fault.Problems, days []string) {
	if len(distinct(days)) > MaxSkippedDates {
		p.Add("skipped_dates", fmt.Sprintf("must hold at most %d days", MaxSkippedDates))
		return
	}
	for _, d := range days {
		if _, err := spread.ParseDay(d); err != nil {
			p.AddElement("skipped_dates", dayProblem)
		}
	}
}

func checkLanes(p *fault.Problems, lanes []LaneShare) {
	seen := map[id.Lane]bool{}
	for i, s := range lanes {
		path := fmt.Sprintf("delivery_lanes[%d]", i)
		if seen[s.Lane] && !s.Lane.IsZero() {
			p.Add(path, "names an MTA config that is in the list already")
		}
		seen[s.Lane] = true
		if !(s.Weight > 0 && s.Weight <= maxWeight) {
			p.Add(path+".weight", "must be a number over 0 and at most a million")
		}
	}
}

// apply returns d with a validated change applied.
func (c *DeliveryChange) apply(d Delivery) Delivery {
	if c == nil {
		return d
	}
	set(&d.Mode, c.Mode)
	set(&d.Overflow, c.Overflow)
	clearable(&d.WindowDays, c.WindowDays)
	clearable(&d.PerHour, c.PerHour)
	if set(&d.Lanes, c.Lanes); len(d.Lanes) == 0 {
		d.Lanes = nil
	}
	if c.WindowDate != nil {
		d.WindowDate = ""
		if *c.WindowDate != nil {
			d.WindowDate = spread.Day(**c.WindowDate)
		}
	}
	if c.Skipped != nil {
		d.Skipped = daysOf(*c.Skipped)
	}
	return d
}

// daysOf returns validated days, sorted and without duplicates.
func daysOf(texts []string) []spread.Day {
	days := make([]spread.Day, len(texts))
	for i, d := range texts {
		days[i] = spread.Day(d)
	}
	slices.Sort(days)
	return slices.Compact(days)
}

func clearable[T any](to *T, from **T) {
	if from == nil {
		return
	}
	var none T
	*to = none
	if *from != nil {
		*to = **from
	}
}

// checkRequired adds the fields that the mode of d requires and that are missing. The last day must
// not be before first; why describes first in the message. It is checked when the last day or the
// mode is written, and when a draft is scheduled.
func (d Delivery) checkRequired(p *fault.Problems, first spread.Day, why string) {
	switch {
	case d.Mode == OverDays && d.WindowDays == 0:
		p.Add("delivery_window_days", "is required for delivery_mode over_days")
	case d.Mode == ByDate && d.WindowDate == "":
		p.Add("delivery_window_date", "is required for delivery_mode by_date")
	case d.WindowDate != "" && d.WindowDate < first:
		p.Add("delivery_window_date", "must not lie before "+why)
	}
}

// checkRequiredAfter is checkRequired for the delivery that a change produced.
func (c *DeliveryChange) checkRequiredAfter(d Delivery, today spread.Day) error {
	if c == nil {
		return nil
	}
	var p fault.Problems
	if c.WindowDate == nil && (c.Mode == nil || d.Mode != ByDate) {
		d.WindowDate = max(d.WindowDate, today) // this request did not set the outdated day
	}
	d.checkRequired(&p, today, "today, "+string(today))
	return p.Err()
}

// Spread reports whether the send is spread over several days. Only then are its days planned and
// shown, and can be rescheduled.
func (d Delivery) Spread() bool { return d.Mode == ByDate || d.Mode == OverDays && d.WindowDays > 1 }

// Days returns the days of the window of a send that starts on a day, without the skipped ones, and
// the first day after the window.
func (d Delivery) Days(start spread.Day) (days []spread.Day, next spread.Day) {
	switch {
	case d.Mode == OverDays:
		return spread.Over(start, d.WindowDays, d.Skipped), start.Add(d.WindowDays)
	case d.Mode == ByDate && d.WindowDate >= start:
		return spread.Until(start, d.WindowDate, d.Skipped), min(d.WindowDate, start.Add(spread.MaxDays-1)).Add(1)
	case d.Mode == ByDate:
		return nil, start
	}
	return []spread.Day{start}, start.Add(1)
}
