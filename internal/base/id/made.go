package id

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

// Made returns a fresh identifier for a record that is made at the time t. It sorts
// by that time, to the microsecond, and behind those that this process has made for
// the same microsecond (RFC 9562 section 6.2, methods 3 and 2). It cannot be guessed
// from the others.
func Made[T ~[16]byte](t time.Time) T {
	var u T
	stamp(u[:], t)
	fraction := uint16(t.Sub(t.Truncate(time.Millisecond)).Nanoseconds() >> 8) // of a millisecond, in 12 bits
	u[6], u[7] = 0x70|byte(fraction>>8), byte(fraction)
	binary.BigEndian.PutUint64(u[8:], made.next(binary.BigEndian.Uint64(u[:])))
	return u
}

// counters continue, for each microsecond, from a random number by random steps.
type counters struct {
	mu     sync.Mutex
	last   map[uint64]uint64 // by the first half of an identifier, its second
	random []byte
}

var made = counters{last: map[uint64]uint64{}}

// counting is how many microseconds are remembered.
const counting = 1024

func (c *counters) next(moment uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.last[moment]
	if known {
		last += 1 + uint64(binary.BigEndian.Uint32(c.draw(4)))
	} else {
		last = 1<<63 | binary.BigEndian.Uint64(c.draw(8))>>3 // the variant, and room to count up
		if len(c.last) >= counting {
			for k := range c.last {
				delete(c.last, k)
				break
			}
		}
	}
	c.last[moment] = last
	return last
}

// draw returns random bytes. The system is asked for many at once.
func (c *counters) draw(n int) []byte {
	if len(c.random) < n {
		c.random = make([]byte, 1024)
		_, _ = rand.Read(c.random) // never fails
	}
	b := c.random[:n]
	c.random = c.random[n:]
	return b
}
