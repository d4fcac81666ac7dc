package mjml

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestWatchCountsWhatAGoroutineComputes(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	var stopped atomic.Bool
	start := time.Now()
	end := watch(limit, func() { stopped.Store(true) })
	turns := 0
	for !stopped.Load() && time.Since(start) < time.Minute {
		turns++
	}
	end()
	if took := time.Since(start); !stopped.Load() || took < limit {
		t.Errorf("stopped %v after %v and %d turns, want it after %v", stopped.Load(), took, turns, limit)
	}
}

func TestWatchDoesNotCountWaiting(t *testing.T) {
	t.Parallel()
	if threadClock() == nil {
		t.Skip("there is no clock of a thread's processor time here")
	}
	end := watch(20*time.Millisecond, func() { t.Error("stopped while it waited") })
	<-time.After(200 * time.Millisecond)
	end()
}
