package calendar

import "time"

// Date is a day, which begins at a different moment in each time zone, or a moment.
type Date struct {
	At  time.Time // for a day: its date at 00:00 UTC
	Day bool
}

// In returns when the date is in a zone: for a day, when it begins there.
func (d Date) In(zone *time.Location) time.Time {
	if d.Day {
		return Moment(d.At, 0, 0, zone)
	}
	return d.At.In(zone)
}

// Near returns the moment that has an offset from the date, in a zone; a nil offset is none. A time of
// day, unless it is "", replaces that of the moment.
func (d Date) Near(offset *Offset, at string, zone *time.Location) time.Time {
	t := d.In(zone)
	if offset != nil {
		t = offset.From(t)
	}
	if at != "" {
		t = Moment(t, 0, TimeOfDay(at), zone)
	}
	return t
}

// Year returns the year of the date in a zone.
func (d Date) Year(zone *time.Location) int {
	if d.Day {
		return d.At.Year()
	}
	return d.At.In(zone).Year()
}

// InYear returns the anniversary of the date in a year: the same day of the same month, and for a
// moment the same time of day in the zone. That of February 29 is February 28 in years without one.
func (d Date) InYear(year int, zone *time.Location) Date {
	t := d.At.UTC()
	if !d.Day {
		t = Shown(d.At.In(zone))
	}
	_, month, day := t.Date()
	if month == time.February && day == 29 && time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Month() != month {
		day = 28
	}
	on := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if d.Day {
		return Date{At: on, Day: true}
	}
	return Date{At: Moment(on, 0, timeOfDay(t), zone).UTC()}
}
