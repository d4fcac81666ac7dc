package sqldb

import (
	"context"
	"slices"
	"sync"
)

// turns bounds how many evaluations run at a time, in all and for each owner.
// Others wait. A turn that becomes free goes to the owner with the fewest running
// ones, and among the evaluations of equal owners to the one that came first.
type turns struct {
	total, each int

	mu      sync.Mutex
	running map[string]int // by owner
	busy    int
	waiting []*turn // in the order of their arrival
}

type turn struct {
	owner   string
	granted chan struct{} // closed when it may run
}

func newTurns(total, each int) *turns {
	return &turns{total: total, each: each, running: map[string]int{}}
}

// take waits for a turn. When it returns nil, give has to be called.
func (t *turns) take(ctx context.Context, owner string) error {
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
	} else { // it was granted at the same moment
		t.end(owner)
	}
	return ctx.Err()
}

// give ends a turn.
func (t *turns) give(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(owner)
}

func (t *turns) end(owner string) {
	t.busy--
	if t.running[owner]--; t.running[owner] == 0 {
		delete(t.running, owner)
	}
	t.grant()
}

// grant lets as many run as there is room for.
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
