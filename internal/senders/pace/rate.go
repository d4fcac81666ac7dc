package pace

import "time"

const second = time.Second

// horizon is how far ahead slots may be reserved, and so the longest wait of a process for its
// turn.
const horizon = time.Second

type rateKey struct {
	key string
	per time.Duration
}

// rate is one limit as this process knows it. Times are durations since the pacer's epoch.
//
// In memory, next is the next free slot. Of a shared limit, this process has reserved the slots
// next, next+every, … (left of them).
type rate struct {
	key    rateKey
	shared bool

	max   int
	every time.Duration // interval between slots
	burst int           // slots in one second, at least 1
	life  time.Duration // how long after its time a slot may be used

	next time.Duration
	left int
	late time.Duration // part of life that is lost because the shared clock is known only within the round trip

	until time.Duration // a shared limit has no free slot before
	err   error         // the database's error, if that is the reason
	busy  chan struct{} // closed when the current refill ends

	batch      int // how many slots to reserve
	got, spent int // of the last reservation: slots reserved, slots used
	end        int64

	asked time.Duration // time of the last take that read this limit
	turn  uint64        // number of the last take that used slots of it
}

// reset initializes the state for a maximum, and drops the slots in hand.
//
// A slot s is used in [s, s+life). The slots used within a period therefore lie within period+life,
// which contains at most ⌈(period+life)/every⌉ of them: with every = period/max that is max plus
// one burst; with every = (period+life)/max it is max.
func (r *rate) reset(most int, at time.Duration) {
	span := r.key.per
	if span >= time.Minute {
		span += second
	}
	n := time.Duration(most)
	r.max = most
	r.every = max((span+n-1)/n, 1)
	r.burst = max(int(second/r.every), 1)
	r.life = min(time.Duration(r.burst)*r.every, second)
	r.next, r.left, r.until, r.err = at-second, 0, 0, nil
	r.batch, r.got, r.spent = r.smallBatch(), 0, 0
}

// smallBatch is how many slots a process reserves while others also want some.
func (r *rate) smallBatch() int { return max(r.burst/8, 1) }

// expire drops slots that have expired.
func (r *rate) expire(at time.Duration) {
	if !r.shared {
		// An idle limit accumulates one burst at most.
		r.next = max(r.next, at-time.Duration(r.burst-1)*r.every)
		return
	}
	if r.left == 0 {
		return
	}
	if over := at - r.next - (r.life - r.late); over >= 0 {
		gone := min(int(over/r.every)+1, r.left)
		r.left -= gone
		r.next += time.Duration(gone) * r.every
	}
}

// ready returns how many slots may be used now. If none, next is the earliest time at which one may
// be usable; if that is not after at, the database must be asked.
func (r *rate) ready(at time.Duration) (n int, next time.Duration) {
	switch {
	case r.shared && r.left == 0:
		return 0, max(r.until, at)
	case r.next > at:
		return 0, r.next
	}
	n = int((at-r.next)/r.every) + 1
	if r.shared {
		n = min(n, r.left)
	}
	return n, at
}

// spend uses n slots that are ready.
func (r *rate) spend(n int) {
	r.next += time.Duration(n) * r.every
	if r.shared {
		r.left -= n
		r.spent += n
	}
}

// batchFor returns how many slots to reserve for a take of n: twice the last batch if all of it was
// used, else one more than were used.
func (r *rate) batchFor(n int) int {
	switch {
	case r.got == 0:
	case r.spent >= r.got:
		r.batch = min(2*r.batch, r.burst)
	default:
		r.batch = r.spent + 1
	}
	r.got, r.spent = 0, 0
	return min(max(n, r.batch), r.burst)
}
