// Package turns shares the use of a resource fairly between owners: after the work of one owner
// comes that of each other waiting owner, in the order of arrival.
package turns

import (
	"context"
	"errors"
	"sync"
)

// ErrOwnerBusy means that too much work of the same owner is waiting already.
var ErrOwnerBusy = errors.New("too much work of this owner is waiting")

// ErrBusy means that too much work of other owners is waiting.
var ErrBusy = errors.New("too much work is waiting")

// Turns decides what is done next. Its exported fields must be set before it is used. It is safe for
// concurrent use.
type Turns struct {
	Slots           int // how many turns there are at the same time
	MaxWaiting      int // how many may wait, of all owners
	MaxOwnerWaiting int // of one owner

	mu      sync.Mutex
	held    int
	queues  map[string][]*waiter // by owner; an owner without waiters has no entry
	order   []string             // the owners in queues, the next one first
	waiting int
}

// waiter waits for a turn: it receives nil, or an error if it is refused.
type waiter struct{ ready chan error }

// Acquire waits for a turn of the owner, which ends with Release. If all places are taken, an owner
// without any gets the last place of the owner with most. The error is ErrOwnerBusy, ErrBusy or the
// cause of the end of ctx.
func (t *Turns) Acquire(ctx context.Context, owner string) error {
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

// enqueue takes a turn if one is free, otherwise a place. The waiter is nil if a turn was free or there
// is no place.
func (t *Turns) enqueue(owner string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.held < t.Slots:
		t.held++
		return nil, nil
	case len(t.queues[owner]) >= t.MaxOwnerWaiting:
		return nil, ErrOwnerBusy
	case t.waiting >= t.MaxWaiting && !t.makeRoom(owner):
		return nil, ErrBusy
	}
	w := &waiter{ready: make(chan error, 1)}
	t.appendWaiter(owner, w)
	return w, nil
}

// appendWaiter appends a waiter. The caller holds mu.
func (t *Turns) appendWaiter(owner string, w *waiter) {
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
func (t *Turns) makeRoom(owner string) bool {
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
func (t *Turns) cancel(owner string, w *waiter) {
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

// Release ends a turn, and passes it to the next waiting owner.
func (t *Turns) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked()
}

// releaseLocked is Release for a caller that holds mu.
func (t *Turns) releaseLocked() {
	if len(t.order) == 0 {
		t.held--
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
func (t *Turns) removeWaiter(owner string, i int) {
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

// TryAcquire takes a turn if one is free.
func (t *Turns) TryAcquire() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held >= t.Slots {
		return false
	}
	t.held++
	return true
}

// Waiting returns how many wait for a turn.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

// AcquireUnqueued waits for a turn without a place in a queue.
func (t *Turns) AcquireUnqueued() {
	t.mu.Lock()
	if t.held < t.Slots {
		t.held++
		t.mu.Unlock()
		return
	}
	w := &waiter{ready: make(chan error, 1)}
	t.appendWaiter("", w)
	t.mu.Unlock()
	<-w.ready
}
