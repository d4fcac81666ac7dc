package track

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
)

// newQueue returns a queue that calls write, does not pause between retries, and runs until
// stop or the end of the test.
func newQueue(t *testing.T, size int, write func(hits []Hit) error) (q *Queue, stop func()) {
	t.Helper()
	q = &Queue{
		Write: func(_ context.Context, hits []Hit) error { return write(hits) },
		Log:   slog.New(slog.DiscardHandler), in: make(chan *queued, size), stall: time.Hour, pause: func(context.Context, int) {},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = q.Run(ctx) })
	stop = func() { cancel(); run.Wait() }
	t.Cleanup(stop)
	return q, stop
}

func numbered(i int) Hit { return Hit{Message: idtest.Named[id.Message](fmt.Sprint(i)), Agent: "a"} }

// A slow database makes requests wait, until their contexts end; no hit is lost.
func TestNoHitIsLostWhileWritesSucceed(t *testing.T) {
	t.Parallel()
	const many = 500
	written := map[id.Message]int{}
	turns := make(chan struct{})
	q, stop := newQueue(t, 10, func(hits []Hit) error {
		<-turns
		for _, h := range hits {
			written[h.Message]++
		}
		return nil
	})
	over, end := context.WithCancel(t.Context())
	end() // no request waits
	var requests sync.WaitGroup
	for i := range many {
		requests.Go(func() {
			if err := q.Put(over, numbered(i)); err != nil {
				t.Errorf("hit %d: %v", i, err)
			}
		})
	}
	close(turns) // only now is anything written
	requests.Wait()
	stop()
	for i := range many {
		if n := written[numbered(i).Message]; n != 1 {
			t.Errorf("hit %d is written %d times", i, n)
		}
	}
}

func TestAFailedWriteIsRetried(t *testing.T) {
	t.Parallel()
	tries := 0
	q, _ := newQueue(t, 10, func([]Hit) error {
		if tries++; tries < 20 {
			return errors.New("no space left on device")
		}
		return nil
	})
	if err := q.Put(t.Context(), numbered(1)); err != nil || tries != 20 {
		t.Errorf("Keep = %v after %d tries", err, tries)
	}
}

// A full queue rejects hits after a time without successful writes.
func TestAFullQueueRejectsHitsWhenWritesFail(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	q, _ := newQueue(t, 1, func([]Hit) error { <-stuck; return nil })
	t.Cleanup(func() { close(stuck) })
	q.stall = time.Nanosecond
	over, end := context.WithCancel(t.Context())
	end()
	lost := 0
	for i := range 5 { // one is being written, one waits
		if err := q.Put(over, numbered(i)); errors.Is(err, ErrLost) {
			lost++
		}
	}
	if lost < 3 || q.Lost() != int64(lost) {
		t.Errorf("%d of 5 hits are refused, and %d counted as lost", lost, q.Lost())
	}
}

// Headers are cut before a hit is queued.
func TestQueuedHitsAreSmall(t *testing.T) {
	t.Parallel()
	var got []Hit
	q, stop := newQueue(t, 10, func(hits []Hit) error { got = append(got, hits...); return nil })
	h := numbered(1)
	h.Agent, h.Method = strings.Repeat("x", 60_000), strings.Repeat("GET", 1000)
	if err := q.Put(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	stop()
	if len(got) != 1 || len(got[0].Agent) > maxAgent || len(got[0].Method) > maxAgent {
		t.Errorf("%d hits, of an agent of %d bytes", len(got), len(got[0].Agent))
	}
}

// With several writers, batches are written at the same time, and each hit is in one of
// them.
func TestBatchesAreWrittenConcurrently(t *testing.T) {
	t.Parallel()
	const writers, many = 3, 50
	var mu sync.Mutex
	written := map[id.Message]int{}
	begun, all := make(chan struct{}), make(chan struct{})
	q := &Queue{
		Write: func(_ context.Context, hits []Hit) error {
			mu.Lock()
			for _, h := range hits {
				written[h.Message]++
			}
			mu.Unlock()
			select {
			case begun <- struct{}{}:
			case <-all:
			}
			<-all
			return nil
		},
		Log: slog.New(slog.DiscardHandler), in: make(chan *queued), stall: time.Hour, pause: func(context.Context, int) {}, writers: writers,
	}
	ctx, stop := context.WithCancel(t.Context())
	var run, requests sync.WaitGroup
	run.Go(func() { _ = q.Run(ctx) })
	for i := range many {
		requests.Go(func() {
			if err := q.Put(t.Context(), numbered(i)); err != nil {
				t.Errorf("hit %d: %v", i, err)
			}
		})
		switch {
		case i < writers: // none of them ends before all have begun
			<-begun
		case i == writers:
			close(all)
		}
	}
	requests.Wait()
	stop()
	run.Wait()
	for i := range many {
		if n := written[numbered(i).Message]; n != 1 {
			t.Errorf("hit %d was written %d times", i, n)
		}
	}
}
