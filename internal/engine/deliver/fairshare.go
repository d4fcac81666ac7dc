package deliver

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/pace"
)

const (
	waitGrace = 2 * time.Second // how long after its time a waiting send is still waited for
	limitIdle = time.Minute     // after how long an unused limit is dropped
)

// fairShare divides the permits of rates between the sends that wait for them. Without it, most
// would go to the send that requests most often: one that keeps its next message in memory, before
// one that defers its messages because it has others to send meanwhile.
//
// fairShare counts the permits that each send got of a limit. A send that waits for more may catch
// up: no other send gets further ahead of it than by what the limit allows until its next request,
// plus one interval of the engine, plus one permit. A send that does not request in time is not
// waited for. A send that begins to wait starts with the count of the sends that have most.
type fairShare struct {
	mu     sync.Mutex
	limits map[string]*sharedLimit // by key
}

// sharedLimit is what each send got of the limits with one key.
type sharedLimit struct {
	highest  float64 // the highest count before the last grant; never falls
	sends    map[id.Send]*sendShare
	lastUsed time.Time
}

// sendShare is the part of one send in a limit.
type sendShare struct {
	granted   float64   // permits counted so far
	waits     bool      // the send will request again at until
	until     time.Time // when it requests again
	satisfied time.Time // when it got all that it requested; zero: something else limits it
}

// waiting reports whether other sends must leave permits for this one.
func (s *sendShare) waiting(now time.Time) bool { return s.waits && now.Before(s.until.Add(waitGrace)) }

// takePermits requests n permits for a send, as pacer.Acquire does. It grants no more than fair shares
// allow while other sends wait for the same limits.
func (r *fairShare) takePermits(ctx context.Context, pacer *pace.Pacer, send id.Send, n int, limits []pace.Limit, now time.Time) (granted int, not denial, err error) {
	may, at := r.allowed(send, n, limits, now)
	if may > 0 {
		granted, not.retryAt, err = pacer.Acquire(ctx, may, limits)
	}
	switch {
	case granted < may: // a limit has no more
		at = max(pacer.Tightest(limits), 0)
	case may < n: // other sends come first
		not.retryAt = now.Add(connectionRetry)
	}
	not.limit = limits[at]
	r.record(send, granted, granted == n, limits, now)
	if granted < n && err == nil {
		r.noteWaiting(send, not.limit.Key, not.retryAt)
	}
	return granted, not, err
}

// denial describes why a send got fewer permits than it requested.
type denial struct {
	limit   pace.Limit
	retryAt time.Time // when there may be more permits
}

// allowed returns how many permits a send may request. If they are fewer than n, other sends wait
// for limits[where].
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
			if left := max(int(math.Floor(other.granted+soon-mine.granted))+1, 0); left < may {
				may, where = left, i
			}
		}
	}
	return may, where
}

// record counts n permits granted to a send, and ends its wait. If all is set, it got as many as it
// requested; otherwise it waits again only after a call of wait.
func (r *fairShare) record(send id.Send, n int, all bool, limits []pace.Limit, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range limits {
		at := r.limit(l.Key, now)
		mine := at.send(send, now)
		if mine.waits, mine.satisfied = false, (time.Time{}); all {
			mine.satisfied = now
		}
		if n > 0 && !sameKey(limits[:i], l.Key) {
			at.highest = max(at.highest, mine.granted)
			mine.granted += float64(n)
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

// noteWaiting notes when a send will request more of a limit.
func (r *fairShare) noteWaiting(send id.Send, key string, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.limits[key]; at != nil && at.sends[send] != nil {
		at.sends[send].waits, at.sends[send].until = true, until
	}
}

// limit returns the state of a limit, after dropping unused ones if it is new.
func (r *fairShare) limit(key string, now time.Time) *sharedLimit {
	at := r.limits[key]
	if at == nil {
		for k, l := range r.limits {
			if now.Sub(l.lastUsed) > limitIdle {
				delete(r.limits, k)
			}
		}
		if r.limits == nil {
			r.limits = map[string]*sharedLimit{}
		}
		at = &sharedLimit{sends: map[id.Send]*sendShare{}}
		r.limits[key] = at
	}
	at.lastUsed = now
	return at
}

// send returns the share of a send. One that neither waited nor requested recently starts with the
// highest count.
func (l *sharedLimit) send(name id.Send, now time.Time) *sendShare {
	s := l.sends[name]
	if s == nil {
		for n, other := range l.sends {
			if !other.waiting(now) && now.Sub(other.satisfied) > lookEvery && other.granted < l.highest {
				delete(l.sends, n) // it would start with the highest count again
			}
		}
		s = &sendShare{}
		l.sends[name] = s
	}
	if !s.waiting(now) && now.Sub(s.satisfied) > lookEvery {
		s.granted = max(s.granted, l.highest)
	}
	return s
}
