package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestOwnersTakeTurnsOnEachSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &Turns[string]{Slots: 2, MaxWaiting: 10, MaxOwnerWaiting: 4}
		var mu sync.Mutex
		var began []string
		end := make(chan struct{})
		work := func(owner string) {
			go func() {
				err := q.Acquire(t.Context(), owner)
				mu.Lock()
				began = append(began, fmt.Sprint(owner, " ", err))
				mu.Unlock()
				if err == nil {
					<-end
					q.Release(owner)
				}
			}()
			synctest.Wait()
		}
		for range 7 { // two have a turn, four wait, one is refused
			work("a")
		}
		work("b")
		if n := q.Waiting(); n != 5 {
			t.Errorf("%d wait, want 5", n)
		}
		for range 7 {
			end <- struct{}{}
			synctest.Wait()
		}
		no := fmt.Sprint("a ", ErrOwnerBusy)
		if want := []string{"a <nil>", "a <nil>", no, "a <nil>", "b <nil>", "a <nil>", "a <nil>", "a <nil>"}; !slices.Equal(began, want) {
			t.Errorf("turns: %q, want %q", began, want)
		}
		if q.held != 0 || q.waiting != 0 || len(q.queues) != 0 || len(q.order) != 0 {
			t.Errorf("after all turns: %+v", q)
		}
	})
}

func TestACallThatHasEndedGetsNoTurn(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	q := &Turns[string]{Slots: 1}
	if err := q.Acquire(ctx, "a"); !errors.Is(err, gone) || !q.TryAcquire("a") {
		t.Errorf("Acquire = %v; want the cause, and the turn free", err)
	}
}
