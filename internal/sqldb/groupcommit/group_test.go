package groupcommit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

func TestWithinReturnsWhenItsContextEnds(t *testing.T) {
	begun, hang := make(chan struct{}), make(chan struct{})
	g := groupcommit.New(10, func(context.Context, []int) error {
		close(begun)
		<-hang
		return nil
	})
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Run(running) }()
	why := errors.New("time is up")
	caller, giveUp := context.WithCancelCause(t.Context())
	go func() {
		<-begun
		giveUp(why)
	}()
	if err := g.Within(caller, 1); !errors.Is(err, groupcommit.ErrAbandoned) || !errors.Is(err, why) {
		t.Errorf("while the write hangs: %v, want ErrAbandoned and the cause", err)
	}
	if err := g.Within(caller, 2); !errors.Is(err, context.Canceled) || errors.Is(err, groupcommit.ErrAbandoned) {
		t.Errorf("before the write: %v, want only that the context was cancelled", err)
	}
	close(hang)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A batch ends with the value by which its weight is enough, and every value is written once.
func TestTheWeightOfABatchIsLimited(t *testing.T) {
	const enough = 10
	begun, goOn := make(chan struct{}), make(chan struct{})
	var batches [][]int
	first := true
	g := groupcommit.New(100, func(_ context.Context, batch []int) error {
		if first { // so that the others wait
			first = false
			close(begun)
			<-goOn
		}
		batches = append(batches, slices.Clone(batch))
		return nil
	})
	g.Weigh(func(v int) int { return v }, enough)
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Run(running) }()
	var callers sync.WaitGroup
	for v := range 30 {
		if v == 1 {
			<-begun
		}
		callers.Go(func() {
			if err := g.Do(running, v); err != nil {
				t.Error(err)
			}
		})
	}
	close(goOn)
	callers.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	var all []int
	for _, batch := range batches {
		sum := 0
		for _, v := range batch[:len(batch)-1] {
			sum += v
		}
		if sum >= enough {
			t.Errorf("the batch %v has more than enough", batch)
		}
		all = append(all, batch...)
	}
	slices.Sort(all)
	for v := range 30 {
		if len(all) != 30 || all[v] != v {
			t.Fatalf("%v were written", all)
		}
	}
}
