package segment

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Counter counts segments for whoever asks. However many ask at once, a segment
// is counted for one of them at a time; and nobody is told what was counted
// before they asked, so that those who come while it is being counted share the
// next count.
type Counter struct {
	DB  *sqldb.DB
	Now func() time.Time

	mu     sync.Mutex
	latest map[counted]*turnOut
}

type counted struct {
	tenant  id.Tenant
	segment id.Segment
}

// turnOut is one count, which several may wait for.
type turnOut struct {
	before *turnOut // the count to wait for; nil: none
	begun  bool     // guarded by Counter.mu; who comes later waits for the next
	done   chan struct{}
	s      Segment // once done
	err    error
}

// Recount counts a segment's members anew.
func (c *Counter) Recount(ctx context.Context, tenant id.Tenant, segment id.Segment) (Segment, error) {
	ctx, cancel := c.DB.Timed(ctx) // to wait for the count of another is part of the time
	defer cancel()
	s, err := c.recount(ctx, counted{tenant, segment})
	return s, fault.Timely(ctx, err)
}

func (c *Counter) recount(ctx context.Context, k counted) (Segment, error) {
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
		// Who counted may have gone away: that is no reason for the others to.
		if t.err == nil || !errors.Is(t.err, context.Canceled) && !errors.Is(t.err, context.DeadlineExceeded) {
			return t.s, t.err
		}
	}
}

// join returns the next count that has not begun, and whether the caller has to do it.
func (c *Counter) join(k counted) (t *turnOut, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.latest[k]
	if before != nil && !before.begun {
		return before, false
	}
	if c.latest == nil {
		c.latest = map[counted]*turnOut{}
	}
	t = &turnOut{before: before, done: make(chan struct{})}
	c.latest[k] = t
	return t, true
}

func (c *Counter) count(ctx context.Context, k counted, t *turnOut) {
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
	t.err = context.Canceled // should counting panic, the others go on
	t.s, t.err = Recount(ctx, c.DB, k.tenant, k.segment, c.Now())
}
