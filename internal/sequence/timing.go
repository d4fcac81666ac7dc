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
		t = time.Date(date.At.Year(), date.At.Month(), date.At.Day(), 0, 0, 0, 0, own)
	}
	if w.Offset != nil {
		t = w.Offset.From(t)
	}
	if w.Time != "" {
		hour, minute := clock(w.Time)
		t = time.Date(t.Year(), t.Month(), t.Day(), hour, minute, 0, 0, own)
	}
	return t.UTC()
}

// nextTime returns the first moment from now on at which it is one of the days and the time of day in
// a zone. Where the clock skips the time, it is the moment of the change; where it repeats, the
// first.
func nextTime(now time.Time, zone *time.Location, days []int, at string) time.Time {
	hour, minute := clock(at)
	local := now.In(zone)
	for ahead := 0; ahead <= 8; ahead++ {
		t := time.Date(local.Year(), local.Month(), local.Day()+ahead, hour, minute, 0, 0, zone)
		if !t.Before(now) && slices.Contains(days, weekday(t)) {
			return t.UTC()
		}
	}
	return now.UTC()
}

// weekday returns the day of the week, from 1 for Monday to 7 for Sunday.
func weekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// opening returns the first moment from now on that is in the window.
func (w Window) opening(now time.Time, own, account *time.Location) time.Time {
	zone := account
	if w.Zone == ContactZone {
		zone = own
	}
	local := now.In(zone)
	first := time.Time{}
	for ahead := -1; ahead <= 8; ahead++ {
		startHour, startMinute := clock(w.Start)
		endHour, endMinute := clock(w.End)
		start := time.Date(local.Year(), local.Month(), local.Day()+ahead, startHour, startMinute, 0, 0, zone)
		if !slices.Contains(w.Days, weekday(time.Date(local.Year(), local.Month(), local.Day()+ahead, 12, 0, 0, 0, zone))) {
			continue
		}
		end := time.Date(local.Year(), local.Month(), local.Day()+ahead, endHour, endMinute, 0, 0, zone)
		if w.End <= w.Start { // it ends on the next day
			end = time.Date(local.Year(), local.Month(), local.Day()+ahead+1, endHour, endMinute, 0, 0, zone)
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
