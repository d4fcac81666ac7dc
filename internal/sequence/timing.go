package sequence

import (
	"slices"
	"time"
)

// until returns when a wait for a time ends, which may be in the past. Account is the account's
// zone, own the contact's; date is the date in the wait's field, or nil if the contact has none.
func (w WaitStep) until(now time.Time, own, account *time.Location, date *FieldDate) time.Time {
	switch w.Mode {
	case ForDuration:
		return Span{w.Amount, w.Unit}.After(now.In(account)).UTC()
	case UntilDate:
		return w.untilDate(now, own, date)
	case UntilTime:
		return nextTime(now, w.zone(own, account), w.Days, w.Time)
	}
	return w.Timeout.After(now.In(account)).UTC()
}

func (w WaitStep) zone(own, account *time.Location) *time.Location {
	if w.Zone == ContactZone {
		return own
	}
	return account
}

// FieldDate is the date of a contact's field.
type FieldDate struct {
	At  time.Time // for a day: its date at 00:00 UTC
	Day bool
}

// untilDate returns the end of a wait until a date. Without a date the wait is over. A day begins at
// midnight in the contact's zone; time replaces the time of day.
func (w WaitStep) untilDate(now time.Time, own *time.Location, date *FieldDate) time.Time {
	if w.At != nil {
		return *w.At
	}
	if date == nil {
		return now
	}
	t := date.At.In(own)
	if date.Day {
		t = moment(date.At, 0, 0, own)
	}
	if w.Offset != nil {
		t = w.Offset.From(t)
	}
	if w.Time != "" {
		t = moment(t, 0, clock(w.Time), own)
	}
	return t.UTC()
}

// moment returns the moment at which it is a time of day, some days after the date of t, in a zone.
// Where the clock skips the time, it is the moment of the change; where it repeats, the first.
func moment(t time.Time, days int, ofDay time.Duration, zone *time.Location) time.Time {
	year, month, day := t.Date()
	want := time.Date(year, month, day+days, 0, 0, 0, int(ofDay), time.UTC) // what the clock shows, as if it were in UTC
	// The clock may show it with any of the offsets that the zone has around that time, a day being
	// more than the difference of two offsets.
	best := time.Time{}
	for _, about := range []time.Time{want.Add(-36 * time.Hour), want.Add(36 * time.Hour)} {
		_, offset := about.In(zone).Zone()
		got := want.Add(-time.Duration(offset) * time.Second)
		if sameClock(got.In(zone), want) && (best.IsZero() || got.Before(best)) {
			best = got
		}
	}
	if !best.IsZero() {
		return best.In(zone)
	}
	if got := time.Date(year, month, day+days, 0, 0, 0, int(ofDay), zone); sameClock(got, want) {
		return got
	} else if start, end := got.ZoneBounds(); clockOf(got).Before(want) {
		return end // the time after the change is later than wanted
	} else {
		return start
	}
}

// sameClock reports whether t shows the date and time of day that want has in UTC.
func sameClock(t, want time.Time) bool { return clockOf(t).Equal(want) }

// clockOf returns the date and time of day of t as if it were in UTC.
func clockOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// nextTime returns the first moment from now on at which it is one of the days and the time of day in
// a zone, as moment defines it.
func nextTime(now time.Time, zone *time.Location, days []int, at string) time.Time {
	local := now.In(zone)
	for ahead := 0; ahead <= 8; ahead++ {
		t := moment(local, ahead, clock(at), zone)
		if !t.Before(now) && slices.Contains(days, weekday(local, ahead)) {
			return t.UTC()
		}
	}
	return now.UTC()
}

// weekday returns the day of the week some days after the date of t, from 1 for Monday to 7 for
// Sunday.
func weekday(t time.Time, days int) int {
	year, month, day := t.Date()
	return (int(time.Date(year, month, day+days, 0, 0, 0, 0, time.UTC).Weekday())+6)%7 + 1
}

// opening returns the first moment from now on that is in the window.
func (w Window) opening(now time.Time, own, account *time.Location) time.Time {
	zone := account
	if w.Zone == ContactZone {
		zone = own
	}
	local := now.In(zone)
	nextDay := 0
	if w.End <= w.Start {
		nextDay = 1
	}
	first := time.Time{}
	for ahead := -1; ahead <= 15; ahead++ { // the clock may skip the window once
		if !slices.Contains(w.Days, weekday(local, ahead)) {
			continue
		}
		start := moment(local, ahead, clock(w.Start), zone)
		end := moment(local, ahead+nextDay, clock(w.End), zone)
		if !start.Before(end) { // the clock skips the window on this day
			continue
		}
		switch {
		case !now.Before(start) && now.Before(end):
			return now.UTC()
		case start.After(now) && (first.IsZero() || start.Before(first)):
			first = start
		}
	}
	return first.UTC()
}
