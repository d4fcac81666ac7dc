package rule

import (
	"strings"
	"time"
)

// bounds returns the interval [from, to) of a window; a zero time means unbounded. A nil window is
// unbounded.
func (w *Window) bounds(env Env) (from, to time.Time) {
	if w == nil {
		return
	}
	if w.InTheLast != nil {
		return w.InTheLast.before(env.Now, env.zone()), env.Now.Add(time.Microsecond)
	}
	if w.From != nil {
		from, _ = w.From.span(env.zone())
	}
	if w.To != nil {
		_, to = w.To.span(env.zone())
	}
	return from, to
}

// holds reports whether a time is in the window.
func (w *Window) holds(env Env, at time.Time) bool {
	from, to := w.bounds(env)
	return !at.Before(from) && (to.IsZero() || at.Before(to))
}

// sql renders the test that an expression in microseconds is in the window: a predicate that begins
// with AND, or nothing.
func (w *Window) sql(b *builder, expr string) string {
	from, to := w.bounds(b.env)
	var s strings.Builder
	if !from.IsZero() {
		s.WriteString(" AND " + expr + " >= " + b.at(from))
	}
	if !to.IsZero() {
		s.WriteString(" AND " + expr + " < " + b.at(to))
	}
	return s.String()
}

// span returns the interval [from, to) of a date in a time zone: a whole day, or the precision of a
// time, which is usually a millisecond.
func (d Date) span(zone *time.Location) (from, to time.Time) {
	switch {
	case d.Day:
		return startOf(d.Moment, zone), startOf(d.Moment.AddDate(0, 0, 1), zone)
	case d.Moment.Nanosecond()%int(time.Millisecond) == 0:
		return d.Moment, d.Moment.Add(time.Millisecond)
	}
	return d.Moment, d.Moment.Add(time.Microsecond)
}

// before returns the beginning of the last span: hours are exact, longer units begin at 00:00 of
// that many before today.
func (s Span) before(now time.Time, zone *time.Location) time.Time {
	if s.Unit == Hour {
		return now.Add(-time.Duration(s.Amount) * time.Hour)
	}
	return startOf(s.from(today(now, zone), -1), zone)
}

// after returns the exclusive end of the next span: hours are exact, longer units end with the day
// that many after today.
func (s Span) after(now time.Time, zone *time.Location) time.Time {
	if s.Unit == Hour {
		return now.Add(time.Duration(s.Amount)*time.Hour + time.Microsecond)
	}
	return startOf(s.from(today(now, zone), +1).AddDate(0, 0, 1), zone)
}

// hoursOf has the units of a fixed length.
var hoursOf = map[Unit]int{Hour: 1, Day: 24, Week: 7 * 24}

// elapsed returns the length of a span of at most maxWithin, in one of hoursOf.
func (s Span) elapsed() time.Duration { return time.Duration(s.Amount*hoursOf[s.Unit]) * time.Hour }

// from returns the day that is the span away from another, in the direction of sign. Both are days
// at 00:00 UTC. If a month has no such day, its last day is used.
func (s Span) from(day time.Time, sign int) time.Time {
	n := s.Amount * sign
	switch s.Unit {
	case Week:
		return day.AddDate(0, 0, 7*n)
	case Month:
		return addMonths(day, n)
	case Year:
		return addMonths(day, 12*n)
	}
	return day.AddDate(0, 0, n)
}

func addMonths(day time.Time, n int) time.Time {
	y, m, d := day.Date()
	first := time.Date(y, m+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(d, last)-1)
}

// today returns the current day in a time zone, at 00:00 UTC.
func today(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// startOf returns the first moment of a day in a time zone. Where clocks change at midnight, it is
// not 00:00, or 00:00 occurs twice.
func startOf(day time.Time, zone *time.Location) time.Time {
	y, m, d := day.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if today(t, zone).Equal(day) && today(t.Add(-time.Second), zone).Before(day) {
		return t.UTC()
	}
	lo, hi := t.Add(-30*time.Hour).Truncate(time.Second), t.Add(30*time.Hour).Truncate(time.Second)
	for hi.Sub(lo) > time.Second {
		if mid := lo.Add(hi.Sub(lo) / 2).Truncate(time.Second); today(mid, zone).Before(day) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi.UTC()
}
