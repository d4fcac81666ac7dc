package pace

import "time"

const second = time.Second

// horizon is how far ahead slots may be reserved, and so how long a process may
// have to wait for its turn.
const horizon = time.Second

type rateKey struct {
	key string
	per time.Duration
}

// rate is one limit as this process knows it. Moments are durations since the
// pacer's epoch.
//
// In memory, next is the next free slot. Of a shared limit, the slots next,
// next+every, … (left of them) are this process's own.
type rate struct {
	key    rateKey
	shared bool

	max   int
	every time.Duration // from slot to slot
	burst int           // slots of one second, at least 1
	life  time.Duration // how long after its moment a slot may be used

	next time.Duration
	left int
	late time.Duration // how much of life is lost to not knowing the shared clock exactly

	until time.Duration // a shared limit has nothing before
	err   error         // why, if the database did not answer
	busy  chan struct{} // closed when a refill under way has ended

	batch      int // how many slots to reserve
	got, spent int // of the run of slots in hand
	end        int64

	asked time.Duration // when a take last looked
	turn  uint64        // the last take that spent
}

// begin sets what follows from the limit and forgets the slots in hand.
//
// A slot s is used in [s, s+life). What is used within a period has its slot
// within period+life, and there are at most ⌈(period+life)/every⌉ of these:
// with every = period/max that is max plus one burst; with
// every = (period+life)/max it is max.
func (r *rate) begin(most int, at time.Duration) {
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
	r.batch, r.got, r.spent = r.few(), 0, 0
}

// few is how many slots a process reserves while others want some.
func (r *rate) few() int { return max(r.burst/8, 1) }

// lapse drops slots that were not used in time.
func (r *rate) lapse(at time.Duration) {
	if !r.shared {
		// An idle limit has saved up a burst, no more.
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

// ready returns how many slots may be used now. If none may, next is when one
// may, as far as is known; it is not after at when the database must be asked.
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

// wanted is how many slots to reserve for a take of n: twice as many as the last
// time if those were all used, else one more than were.
func (r *rate) wanted(n int) int {
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
