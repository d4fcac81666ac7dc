package demo

import (
	"sync"
	"time"
)

// Clock is a clock that runs from a time of the past and is put forward, but never beyond the present. It
// is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	at  time.Time // the time of the clock
	put time.Time // when it was at
}

// NewClock returns a clock that begins to run at a time.
func NewClock(at time.Time) *Clock { return &Clock{at: at, put: time.Now()} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now(time.Now())
}

// Forward puts the clock forward to a time; one that has passed changes nothing.
func (c *Clock) Forward(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); to.After(c.now(now)) {
		c.at, c.put = to, now
	}
}

func (c *Clock) now(present time.Time) time.Time {
	if at := c.at.Add(present.Sub(c.put)); at.Before(present) {
		return at
	}
	return present
}
