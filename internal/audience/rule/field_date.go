package rule

import (
	"time"
)

// interval is the range [from, to) of times; a zero time means unbounded. For fields of dates,
// times are dates at 00:00 UTC.
type interval struct{ from, to time.Time }

func (i interval) holds(at time.Time) bool {
	return (i.from.IsZero() || !at.Before(i.from)) && (i.to.IsZero() || at.Before(i.to))
}

// oldest is the first year of which anniversaries are found for fields of times.
const oldest = 1900

// intervals returns the ranges that a positive operator selects for a field of times.
func intervals(op Operator, v Value, env Env) []interval {
	zone := env.zone()
	switch op {
	case InTheLast:
		return []interval{{v.Span.before(env.Now, zone), env.Now.Add(time.Microsecond)}}
	case InTheNext:
		return []interval{{env.Now, v.Span.after(env.Now, zone)}}
	case MoreThanAgo:
		return []interval{{to: v.Span.before(env.Now, zone)}}
	case AnniversaryInNext:
		return anniversaries(v.Span, env)
	}
	from, to := v.Dates[0].span(zone)
	switch op {
	case Before:
		return []interval{{to: from}}
	case After:
		return []interval{{from: to}}
	case OnOrBefore:
		return []interval{{to: to}}
	case OnOrAfter:
		return []interval{{from: from}}
	case Between:
		_, to = v.Dates[1].span(zone)
	}
	return []interval{{from, to}}
}

// days is intervals for a field of dates. It does not support anniversaries.
func days(op Operator, v Value, env Env) interval {
	zone := env.zone()
	now := today(env.Now, zone)
	switch op {
	case InTheLast:
		return interval{today(v.Span.before(env.Now, zone), zone), now.AddDate(0, 0, 1)}
	case InTheNext:
		return interval{now, today(v.Span.after(env.Now, zone).Add(-time.Microsecond), zone).AddDate(0, 0, 1)}
	case MoreThanAgo:
		return interval{to: today(v.Span.before(env.Now, zone), zone)}
	}
	day := func(d Date) time.Time {
		if d.Day {
			return d.Moment
		}
		return today(d.Moment, zone)
	}
	from := day(v.Dates[0])
	to := from.AddDate(0, 0, 1)
	switch op {
	case Before:
		return interval{to: from}
	case After:
		return interval{from: to}
	case OnOrBefore:
		return interval{to: to}
	case OnOrAfter:
		return interval{from: from}
	case Between:
		to = day(v.Dates[1]).AddDate(0, 0, 1)
	}
	return interval{from, to}
}

// season is a part of the year, from one day to another inclusively, both as MM-DD. It may include
// the end of the year. An anniversary of 29 February is on the 28th in other years.
type season struct {
	from, to string
	before   time.Time // today; an anniversary requires an earlier date
	whole    bool      // the whole year
}

// anniversary returns the season that begins today and lasts for the span.
func anniversary(s Span, env Env) season {
	now := today(env.Now, env.zone())
	end := today(s.after(env.Now, env.zone()).Add(-time.Microsecond), env.zone())
	to := end.Format("01-02")
	if to == "02-28" && end.AddDate(0, 0, 1).Month() == time.March {
		to = "02-29"
	}
	return season{now.Format("01-02"), to, now, !end.Before(addMonths(now, 12).AddDate(0, 0, -1))}
}

func (s season) holds(day time.Time) bool {
	if !day.Before(s.before) {
		return false
	}
	d := day.Format("01-02")
	switch {
	case s.whole:
		return true
	case s.from <= s.to:
		return s.from <= d && d <= s.to
	}
	return s.from <= d || d <= s.to
}

// anniversaries returns the range of the season of anniversary in each past year.
func anniversaries(s Span, env Env) []interval {
	season := anniversary(s, env)
	start := startOf(season.before, env.zone())
	if season.whole {
		return []interval{{to: start}}
	}
	var list []interval
	for y := oldest - 1; y <= season.before.Year(); y++ {
		ends := y
		if season.from > season.to {
			ends++
		}
		i := interval{startOf(dayIn(y, season.from), env.zone()), startOf(dayAfter(ends, season.to), env.zone())}
		if i.to.After(start) {
			i.to = start
		}
		if i.from.Before(i.to) {
			list = append(list, i)
		}
	}
	return list
}

// dayIn returns a day of a year, or the next one if it does not exist.
func dayIn(year int, monthDay string) time.Time {
	d, _ := time.Parse("2006-01-02", "2000-"+monthDay) // a leap year, in which each day exists
	return time.Date(year, d.Month(), d.Day(), 0, 0, 0, 0, time.UTC)
}

// dayAfter returns the day after a day of a year; that after 29 February is always 1 March.
func dayAfter(year int, monthDay string) time.Time {
	if monthDay == "02-29" {
		return time.Date(year, time.March, 1, 0, 0, 0, 0, time.UTC)
	}
	return dayIn(year, monthDay).AddDate(0, 0, 1)
}
