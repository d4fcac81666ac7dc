package sequence

import (
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

// until returns when a wait for a time ends, which may be in the past. Account is the account's
// zone, own the contact's; date is the date in the wait's field, or nil if the contact has none.
func (w WaitStep) until(now time.Time, own, account *time.Location, date *calendar.Date) time.Time {
	switch w.Mode {
	case ForDuration:
		return calendar.Span{Amount: w.Amount, Unit: w.Unit}.After(now.In(account)).UTC()
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

// untilDate returns the end of a wait until a date. Without a date the wait is over. A day begins at
// midnight in the contact's zone; time replaces the time of day.
func (w WaitStep) untilDate(now time.Time, own *time.Location, date *calendar.Date) time.Time {
	if w.At != nil {
		return *w.At
	}
	if date == nil {
		return now
	}
	return date.Near(w.Offset, w.Time, own).UTC()
}

// nextTime returns the first moment from now on at which it is one of the days and the time of day in
// a zone, as calendar.Moment defines it.
func nextTime(now time.Time, zone *time.Location, days []int, at string) time.Time {
	local := now.In(zone)
	for ahead := 0; ahead <= 8; ahead++ {
		t := calendar.Moment(local, ahead, calendar.TimeOfDay(at), zone)
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
		start := calendar.Moment(local, ahead, calendar.TimeOfDay(w.Start), zone)
		end := calendar.Moment(local, ahead+nextDay, calendar.TimeOfDay(w.End), zone)
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
