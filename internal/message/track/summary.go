package track

import (
	"slices"
	"strconv"
	"time"
)

// summary is what one message adds to the sums of its send by time, attribute and link.
type summary struct {
	verified, opened, clicked *Hit // the first that counts as each; nil: none
	programs, devices         map[string]acts
	links                     map[string]LinkSums
}

// acts are what a recipient did.
type acts struct{ opened, clicked bool }

func (a acts) sums(sign int) AttributeSums {
	var s AttributeSums
	if a.opened {
		s.Opened = sign
	}
	if a.clicked {
		s.Clicked = sign
	}
	return s
}

// summarize returns the summary of the hits of a message with the classes that classOf returns. It
// is the same for the hits in any order.
func summarize(hits []Hit, classOf func(*Hit) Class) summary {
	s := summary{programs: map[string]acts{}, devices: map[string]acts{}, links: map[string]LinkSums{}}
	for i := range hits {
		h := &hits[i]
		class := classOf(h)
		if h.Late || h.Honeypot || !class.counts() || h.Click && class != Human {
			continue
		}
		keepFirst(&s.verified, h)
		program, device := s.programs[h.Client.Program()], s.devices[h.Client.Device()]
		if h.Click {
			keepFirst(&s.clicked, h)
			program.clicked, device.clicked = true, true
			s.links[h.URL] = s.links[h.URL].with(h.At)
		} else {
			program.opened, device.opened = true, true
			if class == Human {
				keepFirst(&s.opened, h)
			}
		}
		s.programs[h.Client.Program()], s.devices[h.Client.Device()] = program, device
	}
	return s
}

// keepFirst sets *first to h if that is earlier.
func keepFirst(first **Hit, h *Hit) {
	if *first == nil || h.At.Before((*first).At) || h.At.Equal((*first).At) && h.delay() < (*first).delay() {
		*first = h
	}
}

// delay returns the number of the time since the message was accepted (delayOf), or -1 if that is
// unknown.
func (h *Hit) delay() int {
	if h.SinceSent == nil {
		return -1
	}
	return delayOf(*h.SinceSent)
}

// LinkSums are the clicks by people on a link.
type LinkSums struct {
	Unique, Total   int
	FirstAt, LastAt time.Time // zero: none
}

// with adds a click of the same recipient.
func (l LinkSums) with(at time.Time) LinkSums {
	l.Unique = 1
	l.Total++
	if l.FirstAt.IsZero() || at.Before(l.FirstAt) {
		l.FirstAt = at
	}
	if at.After(l.LastAt) {
		l.LastAt = at
	}
	return l
}

// plus returns the clicks of two groups of recipients.
func (l LinkSums) plus(o LinkSums) LinkSums {
	l.Unique += o.Unique
	l.Total += o.Total
	if l.FirstAt.IsZero() || !o.FirstAt.IsZero() && o.FirstAt.Before(l.FirstAt) {
		l.FirstAt = o.FirstAt
	}
	if o.LastAt.After(l.LastAt) {
		l.LastAt = o.LastAt
	}
	return l
}

// The times since acceptance are counted in ranges whose length grows with the time, by about a
// tenth from one to the next.

// delayBounds are the beginnings of the ranges in seconds.
var delayBounds = makeDelayBounds()

func makeDelayBounds() []int64 {
	list := []int64{0}
	for last := int64(0); last < int64((90 * 24 * time.Hour).Seconds()); {
		last = max(last+1, last*11/10)
		list = append(list, last)
	}
	return list
}

// delayOf returns the number of the range of a time since acceptance.
func delayOf(since time.Duration) int {
	i, found := slices.BinarySearch(delayBounds, int64(since/time.Second))
	if found {
		return i
	}
	return max(i-1, 0)
}

// MedianDelay returns the median of times since acceptance, given their number by range
// (AttributeDelay), and whether there are any. It is exact up to some seconds, and within a tenth
// above.
func MedianDelay(counts map[string]int) (time.Duration, bool) {
	byRange, total := make([]int, len(delayBounds)), 0
	for value, n := range counts {
		if i, err := strconv.Atoi(value); err == nil && i >= 0 && i < len(byRange) && n > 0 {
			byRange[i] += n
			total += n
		}
	}
	if total == 0 {
		return 0, false
	}
	before := 0
	for i, n := range byRange {
		if 2*(before+n) < total {
			before += n
			continue
		}
		begin, length := float64(delayBounds[i]), 0.0
		if i+1 < len(delayBounds) {
			length = float64(delayBounds[i+1] - delayBounds[i] - 1)
		}
		share := (float64(total)/2 - float64(before)) / float64(n)
		return time.Duration((begin + share*length) * float64(time.Second)).Round(time.Second), true
	}
	return 0, false
}
