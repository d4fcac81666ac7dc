package segment

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Counter counts segments on request. At most one count of a segment runs at a time. A request that
// arrives while one runs waits for the next, which all requests that arrive meanwhile share: a
// count that began before the request may miss changes that its caller has made.
//
// It also counts the segments of small tenants for readers (Current).
type Counter struct {
	DB  *sqldb.DB
	Now func() time.Time

	mu     sync.Mutex
	latest map[countKey]*sharedCount

	current cache.Cache[countKey, currentCount]
}

// countKey identifies the counts of one segment.
type countKey struct {
	tenant  id.Tenant
	segment id.Segment
}

// sharedCount is one count that several callers may wait for.
type sharedCount struct {
	before *sharedCount // the count that must end first; nil: none
	begun  bool         // guarded by Counter.mu; later callers need the next count
	done   chan struct{}
	s      Segment // set before done is closed
	err    error
}

// Recount counts the members of a segment, or waits for a count that begins after the call.
func (c *Counter) Recount(ctx context.Context, tenant id.Tenant, segment id.Segment) (Segment, error) {
	ctx, cancel := c.DB.WithDeadline(ctx) // the deadline includes the wait for another count
	defer cancel()
	s, err := c.recount(ctx, countKey{tenant, segment})
	return s, fault.Timely(ctx, err)
}

// EnsureCounted counts s if it has never been counted. If the count does not end before the
// deadline, it returns s without counts, and the Refresher will count it.
func (c *Counter) EnsureCounted(ctx context.Context, tenant id.Tenant, s Segment) (Segment, error) {
	if s.EvaluatedAt != nil {
		return s, nil
	}
	counted, err := c.Recount(ctx, tenant, s.ID)
	if errors.Is(err, fault.ErrDeadline) {
		return s, nil
	}
	return counted, err
}

func (c *Counter) recount(ctx context.Context, k countKey) (Segment, error) {
	for {
		t, mine := c.join(k)
		if mine {
			c.count(ctx, k, t)
			return t.s, t.err
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return Segment{}, ctx.Err()
		}
		// The caller that counted was canceled or ran out of time: the others try again.
		if t.err == nil || !errors.Is(t.err, context.Canceled) && !errors.Is(t.err, context.DeadlineExceeded) {
			return t.s, t.err
		}
	}
}

// join returns the next count that has not begun, and whether the caller has to run it.
func (c *Counter) join(k countKey) (t *sharedCount, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.latest[k]
	if before != nil && !before.begun {
		return before, false
	}
	if c.latest == nil {
		c.latest = map[countKey]*sharedCount{}
	}
	t = &sharedCount{before: before, done: make(chan struct{})}
	c.latest[k] = t
	return t, true
}

// count waits for the count before t, and counts.
func (c *Counter) count(ctx context.Context, k countKey, t *sharedCount) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.begun, t.before = true, nil
		if c.latest[k] == t {
			delete(c.latest, k)
		}
		close(t.done)
	}()
	if t.before != nil {
		select {
		case <-t.before.done:
		case <-ctx.Done():
			t.err = ctx.Err()
			return
		}
	}
	c.mu.Lock()
	t.begun = true
	c.mu.Unlock()
	t.err = context.Canceled // if Recount panics, waiting callers try again
	t.s, t.err = Recount(ctx, c.DB, k.tenant, k.segment, c.Now())
}
