package mjml

import (
	"context"
	"errors"
	"sync"
)

// How many documents may wait for the interpreter.
const (
	maxWaiting      = 64 // of all owners
	maxOwnerWaiting = 16 // of one owner
)

// ErrOwnerBusy means that too many documents of the same owner are waiting already.
var ErrOwnerBusy = errors.New("mjml: too many documents of this owner wait to be compiled")

// ErrBusy means that too many documents of other owners are waiting.
var ErrBusy = errors.New("mjml: too many documents wait to be compiled")

// turns decides which document is compiled next. Owners take turns: after one document of an owner
// comes one of each other waiting owner, in the order of arrival. The zero value is ready to use.
type turns struct {
	mu      sync.Mutex
	held    bool
	queues  map[string][]*waiter // by owner; an owner without waiters has no entry
	order   []string             // the owners in queues, the next one first
	waiting int
}

// waiter waits for a turn: it receives nil, or an error if it is refused.
type waiter struct{ ready chan error }

// acquire waits for a turn of the owner, which ends with release. If all places are taken, an owner without
// any gets the last place of the owner with most.
func (t *turns) acquire(ctx context.Context, owner string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w, err := t.enqueue(owner)
	if w == nil {
		return err
	}
	select {
	case err := <-w.ready:
		return err
	case <-ctx.Done():
		t.cancel(owner, w)
		return context.Cause(ctx)
	}
}

// enqueue takes the turn if it is free, otherwise a place. The waiter is nil if the turn was free or
// there is no place.
func (t *turns) enqueue(owner string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.held:
		t.held = true
		return nil, nil
	case len(t.queues[owner]) >= maxOwnerWaiting:
		return nil, ErrOwnerBusy
	case t.waiting >= maxWaiting && !t.makeRoom(owner):
		return nil, ErrBusy
	}
	w := &waiter{ready: make(chan error, 1)}
	t.appendWaiter(owner, w)
	return w, nil
}

// appendWaiter appends a waiter. The caller holds mu.
func (t *turns) appendWaiter(owner string, w *waiter) {
	if t.queues == nil {
		t.queues = map[string][]*waiter{}
	}
	if len(t.queues[owner]) == 0 {
		t.order = append(t.order, owner)
	}
	t.queues[owner] = append(t.queues[owner], w)
	t.waiting++
}

// makeRoom refuses the last waiter of the owner with most, if the given owner has none and the other
// has more than one. The caller holds mu.
func (t *turns) makeRoom(owner string) bool {
	if len(t.queues[owner]) > 0 {
		return false
	}
	most := ""
	for _, o := range t.order {
		if len(t.queues[o]) > len(t.queues[most]) {
			most = o
		}
	}
	q := t.queues[most]
	if len(q) < 2 {
		return false
	}
	q[len(q)-1].ready <- ErrBusy
	t.removeWaiter(most, len(q)-1)
	return true
}

// cancel removes a waiter from its queue, or passes on the turn if it has just received it.
func (t *turns) cancel(owner string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.queues[owner] {
		if other == w {
			t.removeWaiter(owner, i)
			return
		}
	}
	if err := <-w.ready; err == nil {
		t.releaseLocked()
	}
}

// release ends the turn, and passes it to the next waiting owner.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked()
}

// releaseLocked is release for a caller that holds mu.
func (t *turns) releaseLocked() {
	if len(t.order) == 0 {
		t.held = false
		return
	}
	owner := t.order[0]
	w := t.queues[owner][0]
	t.removeWaiter(owner, 0)
	if len(t.queues[owner]) > 0 { // after the other owners
		t.order = append(t.order[1:], owner)
	}
	w.ready <- nil
}

// removeWaiter removes the waiter with index i from a queue. The caller holds mu.
func (t *turns) removeWaiter(owner string, i int) {
	q := append(t.queues[owner][:i:i], t.queues[owner][i+1:]...)
	t.waiting--
	if len(q) > 0 {
		t.queues[owner] = q
		return
	}
	delete(t.queues, owner)
	for n, o := range t.order {
		if o == owner {
			t.order = append(t.order[:n:n], t.order[n+1:]...)
			return
		}
	}
}

// tryAcquire takes the turn if it is free.
func (t *turns) tryAcquire() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		return false
	}
	t.held = true
	return true
}

// acquireUnqueued waits for a turn without a place in a queue.
func (t *turns) acquireUnqueued() {
	t.mu.Lock()
	if !t.held {
		t.held = true
		t.mu.Unlock()
		return
	}
	w := &waiter{ready: make(chan error, 1)}
	t.appendWaiter("", w)
	t.mu.Unlock()
	<-w.ready
}
