package sqldb

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// queued starts waiting for a turn, and returns when it is in the queue or has a turn.
func queued(ctx context.Context, t *turns, owner string) <-chan error {
	t.mu.Lock()
	before := t.busy + len(t.waiting)
	t.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- t.acquire(ctx, owner) }()
	for {
		t.mu.Lock()
		there := t.busy+len(t.waiting) > before
		t.mu.Unlock()
		if there {
			return done
		}
		runtime.Gosched()
	}
}

func TestAnOwnerWaitsOnlyForItsOwnEvaluations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := newTurns(3, 2)
	for range 2 {
		if err := g.acquire(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
	third := queued(ctx, g, "a")
	if err := g.acquire(ctx, "b"); err != nil { // comes later and runs at once
		t.Fatal(err)
	}
	if len(g.waiting) != 1 {
		t.Fatalf("%d wait, want the third of a", len(g.waiting))
	}
	g.release("b")
	if len(g.waiting) != 1 {
		t.Error("the third of a runs beside two others of a")
	}
	g.release("a")
	if err := <-third; err != nil {
		t.Error(err)
	}
	g.release("a")
	g.release("a")
	if g.busy != 0 || len(g.running) != 0 {
		t.Errorf("all have ended, but %d run: %v", g.busy, g.running)
	}
}

func TestAFreeTurnGoesToTheOwnerWithTheFewestRunning(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := newTurns(3, 2)
	for _, owner := range []string{"a", "a", "b"} {
		if err := g.acquire(ctx, owner); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := queued(ctx, g, "a"), queued(ctx, g, "b"), queued(ctx, g, "c")
	g.release("a")
	if err := <-c; err != nil { // it came last, but a and b have one each
		t.Fatal(err)
	}
	g.release("a")
	if err := <-a; err != nil { // a has none any more, b has one
		t.Fatal(err)
	}
	g.release("c")
	if err := <-b; err != nil {
		t.Fatal(err)
	}
}

func TestACancelledWaitUsesNoTurn(t *testing.T) {
	t.Parallel()
	g := newTurns(1, 1)
	if err := g.acquire(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	waiting := queued(ctx, g, "b")
	stop()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("acquire = %v, want %v", err, context.Canceled)
	}
	g.release("a")
	if err := g.acquire(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if g.busy != 1 || len(g.waiting) != 0 {
		t.Errorf("%d run and %d wait, want 1 and none", g.busy, len(g.waiting))
	}
	if err := g.acquire(ctx, "d"); !errors.Is(err, context.Canceled) {
		t.Errorf("acquire with a cancelled context = %v, want %v", err, context.Canceled)
	}
}
