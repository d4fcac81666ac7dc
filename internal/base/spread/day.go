// Package spread plans sends that take several days: which days, how many messages on each of them,
// and when within a day. It consists of pure functions, without a database and a clock.
package spread

import (
	"fmt"
	"slices"
	"time"
)

// Day is a calendar day, written YYYY-MM-DD, in the time zone of the account. Days are ordered like
// strings.
type Day string

// ParseDay parses a day.
func ParseDay(s string) (Day, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", fmt.Errorf("%q is not a day, such as 2026-03-02", s)
	}
	return Day(s), nil
}

// DayOf returns the day of a time in a time zone.
func DayOf(at time.Time, zone *time.Location) Day { return Day(at.In(zone).Format(time.DateOnly)) }

// Add returns the day n days later.
func (d Day) Add(n int) Day {
	t, _ := time.Parse(time.DateOnly, string(d)) // a Day is always valid
	return Day(t.AddDate(0, 0, n).Format(time.DateOnly))
}

// Start returns when the day begins in a time zone: at midnight, or where the clock skips midnight, after the
// change.
func (d Day) Start(zone *time.Location) time.Time {
	t, _ := time.ParseInLocation(time.DateOnly, string(d), zone) // a Day is always valid
	if DayOf(t, zone) < d {
		_, t = t.ZoneBounds()
	}
	return t
}

// Over returns those of the n days from first on that are not skipped.
func Over(first Day, n int, skipped []Day) []Day {
	list := make([]Day, 0, max(0, n))
	for i := range n {
		if d := first.Add(i); !slices.Contains(skipped, d) {
			list = append(list, d)
		}
	}
	return list
}

// MaxDays is the maximum length of a window that is given by its last day.
const MaxDays = 366

// Until returns the days from first to last, inclusive, that are not skipped. Days after the first
// MaxDays are ignored.
func Until(first, last Day, skipped []Day) []Day {
	n := 0
	for n < MaxDays && first.Add(n) <= last {
		n++
	}
	return Over(first, n, skipped)
}
