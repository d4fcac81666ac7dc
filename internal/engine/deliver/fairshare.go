package deliver

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/pace"
)

const (
	lateness  = 2 * time.Second // how long after its time a send may come for its permits
	forgotten = time.Minute     // how long a limit that nobody asks for is remembered
)

// fairShare divides what rates let through between the sends that wait for it. Left
// to chance, most would go to whoever asks most often: one that holds its next
// message in hand, before one that must put off what may not leave, because it
// has others to send meanwhile.
//
// Each send has had so many permits of a limit. One that waits for more is let
// catch up: nobody else gets further ahead of it than by what the limit lets
// through until it comes again, give or take a look of the engine, and one permit.
// One that does not come when it should is not waited for. Whoever begins to wait
// has had as much as the others at that time.
type fairShare struct {
	mu     sync.Mutex
	limits map[string]*sharedLimit // by key
}

// sharedLimit is what the sends have had of the limits of one key.
type sharedLimit struct {
	most  float64 // had by whoever took last, before it did; never falls
	sends map[id.Send]*sendShare
	asked time.Time
}

type sendShare struct {
	had   float64
	waits bool
	until time.Time // when it comes again
	met   time.Time // when it got all that it asked for; zero: something else holds it up
}

// waiting reports whether the others are to leave it something.
func (s *sendShare) waiting(now time.Time) bool { return s.waits && now.Before(s.until.Add(lateness)) }

// take is pacer.Take for a send. It gets no more than the others that wait for
// the same limits leave it.
func (r *fairShare) take(ctx context.Context, pacer *pace.Pacer, send id.Send, n int, limits []pace.Limit, now time.Time) (granted int, not denial, err error) {
	may, at := r.allowed(send, n, limits, now)
	if may > 0 {
		granted, not.again, err = pacer.Take(ctx, may, limits)
	}
	switch {
	case granted < may: // a limit has no more
		at = max(pacer.Tightest(limits), 0)
	case may < n: // others come first
		not.again = now.Add(breath)
	}
	not.limit = limits[at]
	r.record(send, granted, granted == n, limits, now)
	if granted < n && err == nil {
		r.wait(send, not.limit.Key, not.again)
	}
	return granted, not, err
}

// denial is why a send did not get all that it asked for.
type denial struct {
	limit pace.Limit
	again time.Time // when there may be more
}

// allowed returns how many permits a send may ask for. If they are fewer than n,
// others wait for the limit in place where.
func (r *fairShare) allowed(send id.Send, n int, limits []pace.Limit, now time.Time) (may, where int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	may = n
	for i, l := range limits {
		at := r.limit(l.Key, now)
		mine := at.send(send, now)
		for name, other := range at.sends {
			if name == send || !other.waiting(now) {
				continue
			}
			soon := float64(l.Max) * float64(max(other.until.Sub(now), 0)+lookEvery) / float64(l.Per)
			if left := max(int(math.Floor(other.had+soon-mine.had))+1, 0); left < may {
				may, where = left, i
			}
		}
	}
	return may, where
}

// record notes that a send was given permits and does not wait: it got all that it
// wanted, or is held up by something else.
func (r *fairShare) record(send id.Send, n int, all bool, limits []pace.Limit, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range limits {
		at := r.limit(l.Key, now)
		mine := at.send(send, now)
		if mine.waits, mine.met = false, (time.Time{}); all {
			mine.met = now
		}
		if n > 0 && !sameKey(limits[:i], l.Key) {
			at.most = max(at.most, mine.had)
			mine.had += float64(n)
		}
	}
}

func sameKey(limits []pace.Limit, key string) bool {
	for _, l := range limits {
		if l.Key == key {
			return true
		}
	}
	return false
}

// wait notes that a send comes again for more of a limit.
func (r *fairShare) wait(send id.Send, key string, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.limits[key]; at != nil && at.sends[send] != nil {
		at.sends[send].waits, at.sends[send].until = true, until
	}
}

// limit returns what is known of a limit, and forgets those nobody asks for.
func (r *fairShare) limit(key string, now time.Time) *sharedLimit {
	at := r.limits[key]
	if at == nil {
		for k, l := range r.limits {
			if now.Sub(l.asked) > forgotten {
				delete(r.limits, k)
			}
		}
		if r.limits == nil {
			r.limits = map[string]*sharedLimit{}
		}
		at = &sharedLimit{sends: map[id.Send]*sendShare{}}
		r.limits[key] = at
	}
	at.asked = now
	return at
}

// send returns what a send has had. One that did not wait, nor asked a moment ago,
// has had as much as whoever took last.
func (l *sharedLimit) send(name id.Send, now time.Time) *sendShare {
	s := l.sends[name]
	if s == nil {
		for n, other := range l.sends {
			if !other.waiting(now) && now.Sub(other.met) > lookEvery && other.had < l.most {
				delete(l.sends, n) // it would begin anew anyway
			}
		}
		s = &sendShare{}
		l.sends[name] = s
	}
	if !s.waiting(now) && now.Sub(s.met) > lookEvery {
		s.had = max(s.had, l.most)
	}
	return s
}
