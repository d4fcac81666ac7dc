package sqldb

import (
	"context"
	"slices"
	"sync"
)

// turns limits how many evaluations run at a time, in total and for each owner. Others wait. The
// next one to run is that of the owner with the fewest running evaluations, and among these the one
// that has waited longest.
type turns struct {
	total, each int

	mu      sync.Mutex
	running map[string]int // by owner
	busy    int
	waiting []*turn // in order of arrival
}

type turn struct {
	owner   string
	granted chan struct{} // closed when it may run
}

func newTurns(total, each int) *turns {
	return &turns{total: total, each: each, running: map[string]int{}}
}

// acquire waits for a turn. If it returns nil, the caller must call release.
func (t *turns) acquire(ctx context.Context, owner string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &turn{owner, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.grant()
	t.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	} else { // it was granted at the same time
		t.releaseLocked(owner)
	}
	return ctx.Err()
}

// release ends a turn.
func (t *turns) release(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked(owner)
}

func (t *turns) releaseLocked(owner string) {
	t.busy--
	if t.running[owner]--; t.running[owner] == 0 {
		delete(t.running, owner)
	}
	t.grant()
}

// grant starts waiting evaluations up to the limits.
func (t *turns) grant() {
	for t.busy < t.total {
		next := -1
		for i, w := range t.waiting {
			if n := t.running[w.owner]; n < t.each && (next < 0 || n < t.running[t.waiting[next].owner]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		t.busy++
		t.running[w.owner]++
		close(w.granted)
	}
}
