package spread

import (
	"fmt"
	"strconv"
	"time"
)

// Window is the part of each day in which mail leaves, in minutes of wall time:
// from Start until just before End.
type Window struct{ Start, End int }

// minutes is how many a day has, as wall clocks count.
const minutes = 24 * 60

// AllDay is the window that leaves nothing out.
var AllDay = Window{0, minutes}

// ParseClock reads a wall time of the form 08:30 as minutes of the day; 24:00 is
// the end of it.
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

// ParseWindow reads a window from the times at which it begins and ends. One
// that wraps past midnight is none.
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

// instant returns the first moment at which the clocks of a zone show a minute
// of a day. When they leave it out, that is the moment at which they jump.
func instant(day Day, minute int, zone *time.Location) time.Time {
	t, _ := time.Parse(time.DateOnly, string(day)) // a Day is always one
	wall := t.Add(time.Duration(minute) * time.Minute)
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	// What the clocks were set to a day before and a day after: at most one of
	// their changes lies between.
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

// Span returns when the window begins and ends on a day: the first time that
// the clocks show its start, and the first time that they have shown its last
// minute. An hour that the clocks show twice therefore counts once when the
// window begins or ends in it, and twice when it lies within.
func (w Window) Span(day Day, zone *time.Location) (from, to time.Time) {
	from = instant(day, w.Start, zone)
	to = instant(day, w.End-1, zone).Add(time.Minute)
	if last := instant(day, w.End, zone); last.Before(to) { // its last minute is left out by the clocks
		to = last
	}
	if to.Before(from) {
		to = from
	}
	return from, to
}

// Hours returns how long the window is open on a day, from a moment on.
func (w Window) Hours(day Day, zone *time.Location, since time.Time) float64 {
	from, to := w.Span(day, zone)
	if from.Before(since) {
		from = since
	}
	return max(0, to.Sub(from).Hours())
}

// Quarter is how far batches lie apart.
const Quarter = 15 * time.Minute

// Batches returns when the batches of a day leave: a quarter of an hour apart
// over the window, beginning the offset after its start, so that the sends of a
// day do not all leave at the full hour. Those before since are left out.
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
