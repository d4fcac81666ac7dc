package journal

import (
	"math"
	"strings"
	"time"
)

// moment is a time, or a whole day where only that was written.
type moment struct {
	at  time.Time // UTC; of a day, its date at 00:00
	day bool
}

// String returns the moment as it is stored.
func (m moment) String() string {
	if m.day {
		return m.at.Format(time.DateOnly)
	}
	return m.at.Format(time.RFC3339Nano)
}

// readDate reads RFC 3339; without an offset it is UTC, and a date alone is a day.
func readDate(s string) (moment, bool) {
	s = strings.TrimSpace(s)
	if len(s) < len(time.DateOnly) || len(s) > 64 || s[4] != '-' {
		return moment{}, false
	}
	if at, err := time.Parse(time.DateOnly, s); err == nil {
		return moment{at, true}, true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999"} {
		if at, err := time.Parse(layout, s); err == nil {
			return moment{at.UTC(), false}, true
		}
	}
	return moment{}, false
}

// length is a stretch of time as it is written: {"amount": 30, "unit": "day"}.
type length struct {
	amount int
	unit   string
}

func readSpan(v any) (length, bool) {
	o, _ := v.(map[string]any)
	amount, ok := o["amount"].(float64)
	unit, _ := o["unit"].(string)
	unit = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(unit)), "s")
	switch unit {
	case "hour", "day", "week", "month", "year":
	default:
		return length{}, false
	}
	return length{int(amount), unit}, ok && amount == math.Trunc(amount) && amount >= 1 && amount <= maxAmount
}

// clock is a moment in an account's time zone.
type clock struct {
	now  time.Time
	zone *time.Location
}

// midnight returns the start of the day that is some units from today.
func (c clock) midnight(l length, sign int) time.Time {
	y, m, d := c.now.In(c.zone).Date()
	n := l.amount * sign
	switch l.unit {
	case "day":
		d += n
	case "week":
		d += 7 * n
	case "month", "year":
		if l.unit == "year" {
			n *= 12
		}
		first := time.Date(y, m+time.Month(n), 1, 0, 0, 0, 0, time.UTC) // a month without that day ends earlier
		y, m = first.Year(), first.Month()
		d = min(d, first.AddDate(0, 1, -1).Day())
	}
	return time.Date(y, m, d, 0, 0, 0, 0, c.zone)
}

// start returns when a stretch that ends now begins; hours are exact, longer
// units begin with a day (contract Z12).
func (c clock) start(l length) time.Time {
	if l.unit == "hour" {
		return c.now.Add(-time.Duration(l.amount) * time.Hour)
	}
	return c.midnight(l, -1)
}

// end returns when a stretch that begins now is over.
func (c clock) end(l length) time.Time {
	if l.unit == "hour" {
		return c.now.Add(time.Duration(l.amount) * time.Hour)
	}
	y, m, d := c.midnight(l, 1).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, c.zone)
}

// bounds returns the first moment of what was written and the first after it.
func (c clock) bounds(m moment) (from, to time.Time) {
	if !m.day {
		return m.at, m.at.Add(1)
	}
	y, month, d := m.at.Date()
	return time.Date(y, month, d, 0, 0, 0, 0, c.zone), time.Date(y, month, d+1, 0, 0, 0, 0, c.zone)
}

func (c clock) passes(have moment, operator string, want any) bool {
	at, _ := c.bounds(have)
	switch w := want.(type) {
	case string:
		m, ok := readDate(w)
		if !ok {
			return false
		}
		from, to := c.bounds(m)
		switch operator {
		case "on":
			return !at.Before(from) && at.Before(to)
		case "before":
			return at.Before(from)
		case "after":
			return !at.Before(to)
		case "on_or_before":
			return at.Before(to)
		case "on_or_after":
			return !at.Before(from)
		}
	case []any:
		first, _ := w[0].(string)
		last, _ := w[1].(string)
		a, ok1 := readDate(first)
		b, ok2 := readDate(last)
		if operator != "between" || !ok1 || !ok2 {
			return false
		}
		from, _ := c.bounds(a)
		_, to := c.bounds(b)
		return !at.Before(from) && at.Before(to)
	case map[string]any:
		l, ok := readSpan(w)
		return ok && c.relative(at, have.day, operator, l)
	}
	return false
}

func (c clock) relative(at time.Time, day bool, operator string, l length) bool {
	switch operator {
	case "in_the_last":
		return !at.Before(c.start(l)) && !at.After(c.now)
	case "more_than_ago":
		return at.Before(c.start(l))
	case "in_the_next":
		since := c.now
		if day { // the day itself has not passed yet
			since = c.midnight(length{0, "day"}, 1)
		}
		return !at.Before(since) && at.Before(c.end(l))
	case "anniversary_in_next":
		today := c.midnight(length{0, "day"}, 1)
		_, m, d := at.In(c.zone).Date()
		next := time.Date(today.Year(), m, d, 0, 0, 0, 0, c.zone)
		if next.Before(today) {
			next = time.Date(today.Year()+1, m, d, 0, 0, 0, 0, c.zone)
		}
		return next.Before(c.end(l))
	}
	return false
}
