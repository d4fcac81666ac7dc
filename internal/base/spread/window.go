package spread

import (
	"fmt"
	"strconv"
	"time"
)

// Window is the part of each day in which mail is sent, in minutes of wall time: from Start, inclusive,
// to End, exclusive.
type Window struct{ Start, End int }

// minutes is the number of minutes of a day on a wall clock.
const minutes = 24 * 60

// AllDay is the window of the whole day.
var AllDay = Window{0, minutes}

// ParseClock parses a wall time such as 08:30 and returns the minute of the day; 24:00 is the end of
// the day.
func ParseClock(s string) (int, error) {
	bad := fmt.Errorf("%q is not a time of day, such as 08:30", s)
	if len(s) != 5 || s[2] != ':' {
		return 0, bad
	}
	for i, c := range []byte(s) {
		if i != 2 && (c < '0' || c > '9') {
			return 0, bad
		}
	}
	h, _ := strconv.Atoi(s[:2])
	m, _ := strconv.Atoi(s[3:])
	if m > 59 || h*60+m > minutes {
		return 0, bad
	}
	return h*60 + m, nil
}

// ParseWindow parses the start and the end of a window. A window must not pass midnight.
func ParseWindow(start, end string) (Window, error) {
	from, err := ParseClock(start)
	if err != nil {
		return Window{}, err
	}
	to, err := ParseClock(end)
	if err != nil {
		return Window{}, err
	}
	if from >= to {
		return Window{}, fmt.Errorf("a window must begin before it ends")
	}
	return Window{from, to}, nil
}

// instant returns the first time at which the clocks of a zone show a minute of a day or, if they
// skip it, the time at which they are set forward.
func instant(day Day, minute int, zone *time.Location) time.Time {
	t, _ := time.Parse(time.DateOnly, string(day)) // a Day is always valid
	wall := t.Add(time.Duration(minute) * time.Minute)
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	// The offsets before and after; the clocks are changed at most once between them.
	before, after := offset(wall.AddDate(0, 0, -2)), offset(wall.AddDate(0, 0, 2))
	early, late := wall.Add(-max(before, after)), wall.Add(-min(before, after))
	for _, at := range []time.Time{early, late} {
		if at.Add(offset(at)).Equal(wall) {
			return at.In(zone)
		}
	}
	jump, _ := late.In(zone).ZoneBounds()
	return jump
}

// Span returns when the window begins and ends on a day: when the clocks first show its start, and
// when its last minute has first passed. An hour that occurs twice therefore counts once if the
// window begins or ends in it, and twice if it is inside the window.
func (w Window) Span(day Day, zone *time.Location) (from, to time.Time) {
	from = instant(day, w.Start, zone)
	to = instant(day, w.End-1, zone).Add(time.Minute)
	if last := instant(day, w.End, zone); last.Before(to) { // the clocks skip its last minute
		to = last
	}
	if to.Before(from) {
		to = from
	}
	return from, to
}

// Hours returns how many hours of a day's window are after a time.
func (w Window) Hours(day Day, zone *time.Location, since time.Time) float64 {
	from, to := w.Span(day, zone)
	if from.Before(since) {
		from = since
	}
	return max(0, to.Sub(from).Hours())
}

// Quarter is the time between batches.
const Quarter = 15 * time.Minute

// Batches returns the times of a day's batches: every Quarter within the window, from its start plus
// an offset, so that sends do not all begin on the hour. Times before since are omitted.
func (w Window) Batches(day Day, zone *time.Location, offset time.Duration, since time.Time) []time.Time {
	from, to := w.Span(day, zone)
	length := to.Sub(from)
	if length <= 0 {
		return nil
	}
	var list []time.Time
	for at := from.Add(offset % min(Quarter, length)); at.Before(to); at = at.Add(Quarter) {
		if !at.Before(since) {
			list = append(list, at)
		}
	}
	return list
}

// Shares divides n into parts that differ by at most one.
func Shares(n, parts int) []int {
	list := make([]int, parts)
	for i := range list {
		list[i] = (i+1)*n/parts - i*n/parts
	}
	return list
}
