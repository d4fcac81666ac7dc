package mjml

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestWatchStopsWhatComputesTooLong(t *testing.T) {
	t.Parallel()
	var stopped atomic.Bool
	end := watch(10*time.Millisecond, func() { stopped.Store(true) })
	defer end()
	for !stopped.Load() { // computes until it is stopped
	}
}

func TestWatchDoesNotCountWaiting(t *testing.T) {
	t.Parallel()
	const limit = time.Hour
	computed, stopped := time.Duration(0), 0
	w := &watcher{limit: limit, stop: func() { stopped++ }, clock: func() (time.Duration, bool) { return computed, true }}
	w.timer = time.AfterFunc(limit, func() {})
	defer w.timer.Stop()
	computed = limit - 1
	if w.look(); stopped != 0 { // an hour of the clock on the wall is over
		t.Error("stopped before it has computed for its limit")
	}
	computed = limit
	if w.look(); stopped != 1 {
		t.Errorf("stopped %d times once it has computed for its limit, want 1", stopped)
	}
}
