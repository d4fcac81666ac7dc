// Package turns shares the use of a resource fairly between owners.
package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrOwnerBusy means that too much work of the same owner is waiting already.
var ErrOwnerBusy = errors.New("too much work of this owner is waiting")

// ErrBusy means that too much work of other owners is waiting.
var ErrBusy = errors.New("too much work is waiting")

// Policy chooses the waiting owner that has the next turn. The work of one owner is done in the order
// of arrival.
type Policy int

const (
	// RoundRobin: after a turn of one owner comes one of each other waiting owner.
	RoundRobin Policy = iota
	// FewestTurns: the owner with the fewest turns in progress is next, and among these the one whose
	// work has waited longest.
	FewestTurns
)

// Turns decides what is done next. Its exported fields must be set before it is used; 0 is no limit,
// except for Slots. It is safe for concurrent use.
type Turns[Owner comparable] struct {
	Policy          Policy
	Slots           int // how many turns there are at the same time
	OwnerSlots      int // how many of them one owner has
	MaxWaiting      int // how many may wait, of all owners
	MaxOwnerWaiting int // of one owner

	mu       sync.Mutex
	held     int
	owned    map[Owner]int      // turns in progress; nil where neither Policy nor OwnerSlots needs them
	queues   map[Owner][]waiter // an owner without waiters has no entry
	order    []Owner            // the owners in queues, by RoundRobin
	waiting  int
	arrivals uint64
}

// waiter waits for a turn: it receives true, or false if it loses its place.
type waiter struct {
	ready   chan bool
	arrival uint64
}

// Acquire waits for a turn of the owner, which ends with Release. If all places to wait are taken, an
// owner without any gets the last place of the owner with most. The error is ErrOwnerBusy, ErrBusy or
// the cause of the end of ctx.
func (t *Turns[Owner]) Acquire(ctx context.Context, owner Owner) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ready, err := t.enqueue(owner)
	if ready == nil {
		return err
	}
	select {
	case granted := <-ready:
		if !granted {
			return ErrBusy
		}
		return nil
	case <-ctx.Done():
		t.cancel(owner, ready)
		return context.Cause(ctx)
	}
}

// enqueue takes a turn if one is free, otherwise a place. The channel is nil if a turn was free or
// there is no place.
func (t *Turns[Owner]) enqueue(owner Owner) (chan bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.isFree(owner):
		t.begin(owner)
		return nil, nil
	case t.MaxOwnerWaiting > 0 && len(t.queues[owner]) >= t.MaxOwnerWaiting:
		return nil, ErrOwnerBusy
	case t.MaxWaiting > 0 && t.waiting >= t.MaxWaiting && !t.makeRoom(owner):
		return nil, ErrBusy
	}
	return t.appendWaiter(owner), nil
}

// isFree reports whether an owner may have a turn now. Then no other owner waits for the slot: end
// gives it to a waiter if there is one that may have it. The caller holds mu.
func (t *Turns[Owner]) isFree(owner Owner) bool {
	return t.held < t.Slots && (t.OwnerSlots == 0 || t.owned[owner] < t.OwnerSlots)
}

// begin counts a turn. The caller holds mu.
func (t *Turns[Owner]) begin(owner Owner) {
	t.held++
	if t.Policy == FewestTurns || t.OwnerSlots > 0 {
		if t.owned == nil {
			t.owned = map[Owner]int{}
		}
		t.owned[owner]++
	}
}

// appendWaiter appends a waiter. The caller holds mu.
func (t *Turns[Owner]) appendWaiter(owner Owner) chan bool {
	if t.queues == nil {
		t.queues = map[Owner][]waiter{}
	}
	queue := t.queues[owner]
	if len(queue) == 0 {
		t.order = append(t.order, owner)
	}
	ready := make(chan bool, 1) // so that end does not wait for a waiter that has left
	t.queues[owner] = append(queue, waiter{ready, t.arrivals})
	t.arrivals++
	t.waiting++
	return ready
}

// makeRoom takes the last place of the owner with most, if the given owner has none and the other
// has more than one. The caller holds mu.
func (t *Turns[Owner]) makeRoom(owner Owner) bool {
	if len(t.queues[owner]) > 0 {
		return false
	}
	most := slices.MaxFunc(t.order, func(a, b Owner) int { return len(t.queues[a]) - len(t.queues[b]) })
	queue := t.queues[most]
	if len(queue) < 2 {
		return false
	}
	queue[len(queue)-1].ready <- false
	t.removeWaiter(most, len(queue)-1)
	return true
}

// cancel removes a waiter from its queue, or passes on the turn if it has just received it.
func (t *Turns[Owner]) cancel(owner Owner, ready chan bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.queues[owner], func(w waiter) bool { return w.ready == ready })
	if i >= 0 {
		t.removeWaiter(owner, i)
	} else if <-ready {
		t.end(owner)
	}
}

// Release ends a turn of the owner, and passes it to the next waiting owner.
func (t *Turns[Owner]) Release(owner Owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(owner)
}

// end is Release for a caller that holds mu.
func (t *Turns[Owner]) end(owner Owner) {
	t.held--
	if t.owned != nil {
		if t.owned[owner]--; t.owned[owner] == 0 {
			delete(t.owned, owner)
		}
	}
	i := t.next()
	if i < 0 {
		return
	}
	next := t.order[i]
	w := t.queues[next][0]
	if t.removeWaiter(next, 0); len(t.queues[next]) > 0 { // after the other owners
		t.order = append(slices.Delete(t.order, i, i+1), next)
	}
	t.begin(next)
	w.ready <- true
}

// next returns the index in order of the owner that has the next turn, or -1. The caller holds mu.
func (t *Turns[Owner]) next() int {
	best := -1
	for i, o := range t.order {
		switch {
		case !t.isFree(o):
		case t.Policy == RoundRobin:
			return i
		case best < 0 || t.precedes(o, t.order[best]):
			best = i
		}
	}
	return best
}

// precedes reports whether FewestTurns prefers the waiting owner a to b. The caller holds mu.
func (t *Turns[Owner]) precedes(a, b Owner) bool {
	if t.owned[a] != t.owned[b] {
		return t.owned[a] < t.owned[b]
	}
	return t.queues[a][0].arrival < t.queues[b][0].arrival
}

// removeWaiter removes the waiter with index i from a queue. The caller holds mu.
func (t *Turns[Owner]) removeWaiter(owner Owner, i int) {
	t.waiting--
	queue := slices.Delete(t.queues[owner], i, i+1)
	if len(queue) > 0 {
		t.queues[owner] = queue
		return
	}
	delete(t.queues, owner)
	n := slices.Index(t.order, owner)
	t.order = slices.Delete(t.order, n, n+1)
}

// TryAcquire takes a turn of the owner if one is free.
func (t *Turns[Owner]) TryAcquire(owner Owner) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isFree(owner) {
		return false
	}
	t.begin(owner)
	return true
}

// AcquireUnlimited waits for a turn of the owner, however many are waiting.
func (t *Turns[Owner]) AcquireUnlimited(owner Owner) {
	t.mu.Lock()
	if t.isFree(owner) {
		t.begin(owner)
		t.mu.Unlock()
		return
	}
	ready := t.appendWaiter(owner)
	t.mu.Unlock()
	if !<-ready {
		t.AcquireUnlimited(owner)
	}
}

// Waiting returns how many wait for a turn.
func (t *Turns[Owner]) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

// Held returns how many turns are in progress.
func (t *Turns[Owner]) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}
