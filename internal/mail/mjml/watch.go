package mjml

import (
	"runtime"
	"sync"
	"time"
)

// maxWait is how many times its limit of CPU time a document may take in wall time on a busy machine.
const maxWait = 5

// watch calls stop when the calling goroutine has computed for limit, and returns a function that
// ends the watch. It measures CPU time where that is available, so that a document is not stopped
// because the machine is busy. The goroutine is locked to its thread until the watch has ended.
func watch(limit time.Duration, stop func()) (end func()) {
	runtime.LockOSThread()
	w := &watcher{limit: limit, stop: stop, clock: threadClock()}
	if w.clock != nil {
		w.start, _ = w.clock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.look)
	return w.end
}

type watcher struct {
	limit time.Duration
	stop  func()
	clock func() (time.Duration, bool)
	start time.Duration // of clock

	mu    sync.Mutex
	ended bool
	timer *time.Timer
}

// look calls stop if the limit is exceeded, and otherwise schedules the next check.
func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if w.clock != nil {
		if now, ok := w.clock(); ok && now-w.start < w.limit {
			w.timer.Reset(max(w.limit-(now-w.start), time.Millisecond))
			return
		}
	}
	w.stop()
}

func (w *watcher) end() {
	w.mu.Lock()
	w.ended = true
	w.timer.Stop()
	w.mu.Unlock()
	runtime.UnlockOSThread()
}
