// Package spread plans sends that take days: which days, how many messages each
// of them carries, and when within the day they leave. It knows no database and
// no clock; everything is a plain function over values.
package spread

import (
	"fmt"
	"time"
)

// Day is a calendar day, written YYYY-MM-DD, in whatever time zone its owner
// lives. Days compare as texts do.
type Day string

// ParseDay reads a day.
func ParseDay(s string) (Day, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", fmt.Errorf("%q is not a day, such as 2026-03-02", s)
	}
	return Day(s), nil
}

// DayOf returns the day of a moment in a time zone.
func DayOf(at time.Time, zone *time.Location) Day { return Day(at.In(zone).Format(time.DateOnly)) }

// Add returns the day n days later.
func (d Day) Add(n int) Day {
	t, _ := time.Parse(time.DateOnly, string(d)) // a Day is always one
	return Day(t.AddDate(0, 0, n).Format(time.DateOnly))
}
