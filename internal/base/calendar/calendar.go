// Package calendar computes with dates and times of day as the clocks of a time zone show them, also
// around the changes of these clocks. It consists of pure functions, without a database and a clock.
package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Unit is a unit of a Span.
type Unit string

// The units. Days and weeks are calendar days of the zone they are used in.
const (
	Minute Unit = "minute"
	Hour   Unit = "hour"
	Day    Unit = "day"
	Week   Unit = "week"
)

// Span is a length of time.
type Span struct {
	Amount int  `json:"amount"`
	Unit   Unit `json:"unit"`
}

// maxMinutes is the longest span, in minutes: five years.
const maxMinutes = 5 * 366 * 24 * 60

// Check checks the unit and that the span has an amount. The error names the field.
func (s Span) Check() error {
	minutes := map[Unit]int{Minute: 1, Hour: 60, Day: 24 * 60, Week: 7 * 24 * 60}[s.Unit]
	if minutes == 0 {
		return errors.New("unit: must be one of minute, hour, day, week")
	}
	if s.Amount < 1 || s.Amount > maxMinutes/minutes {
		return errors.New("amount: must be at least 1, and five years at most")
	}
	return nil
}

// After returns the time that is s after t. Days and weeks are counted in the zone of t.
func (s Span) After(t time.Time) time.Time {
	switch s.Unit {
	case Minute:
		return t.Add(time.Duration(s.Amount) * time.Minute)
	case Hour:
		return t.Add(time.Duration(s.Amount) * time.Hour)
	case Day:
		return addDays(t, s.Amount)
	}
	return addDays(t, 7*s.Amount)
}

// addDays returns the time some days after t at which the clock in the zone of t shows the same, as
// Moment defines it.
func addDays(t time.Time, days int) time.Time {
	if days == 0 {
		return t
	}
	return Moment(t, days, timeOfDay(t), t.Location())
}

// timeOfDay returns what the clock shows at t, as the time since midnight.
func timeOfDay(t time.Time) time.Duration {
	shown := Shown(t)
	return shown.Sub(shown.Truncate(24 * time.Hour))
}

// Offset is a distance from a date.
type Offset struct {
	Span
	Direction string `json:"direction"` // "before" or "after"
}

// Check checks an offset. Its amount may be 0. The error names the fields below path.
func (o Offset) Check(path string) error {
	var err error
	if o.Amount != 0 { // 0: on the date itself
		if wrong := o.Span.Check(); wrong != nil {
			err = fmt.Errorf("%s.%w", path, wrong)
		}
	}
	if o.Direction != "before" && o.Direction != "after" {
		err = errors.Join(err, fmt.Errorf("%s.direction: must be one of before, after", path))
	}
	return err
}

// From returns the date at the offset from t.
func (o Offset) From(t time.Time) time.Time {
	s := o.Span
	if o.Direction == "before" {
		s.Amount = -s.Amount
	}
	return s.After(t)
}

var validTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// ValidTime reports whether a text is a time of day such as 09:00.
func ValidTime(text string) bool { return validTime.MatchString(text) }

// TimeOfDay returns a valid time of day, or 24:00, as the time since midnight.
func TimeOfDay(text string) time.Duration {
	if text == "24:00" {
		return 24 * time.Hour
	}
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

// Moment returns the moment at which it is a time of day, some days after the date of t, in a zone.
// Where the clock skips the time, it is the moment of the change; where it repeats, the first.
func Moment(t time.Time, days int, ofDay time.Duration, zone *time.Location) time.Time {
	year, month, day := t.Date()
	want := time.Date(year, month, day+days, 0, 0, 0, int(ofDay), time.UTC) // what the clock shows, as if it were in UTC
	// The clock may show it with any of the offsets that the zone has around that time, a day being
	// more than the difference of two offsets.
	best := time.Time{}
	for _, about := range []time.Time{want.Add(-36 * time.Hour), want.Add(36 * time.Hour)} {
		_, offset := about.In(zone).Zone()
		got := want.Add(-time.Duration(offset) * time.Second)
		if Shown(got.In(zone)).Equal(want) && (best.IsZero() || got.Before(best)) {
			best = got
		}
	}
	if !best.IsZero() {
		return best.In(zone)
	}
	if got := time.Date(year, month, day+days, 0, 0, 0, int(ofDay), zone); Shown(got).Equal(want) {
		return got
	} else if start, end := got.ZoneBounds(); Shown(got).Before(want) {
		return end // the time after the change is later than wanted
	} else {
		return start
	}
}

// Shown returns the date and time of day that the clock in the zone of t shows at t, as if it were in
// UTC.
func Shown(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}
