package mjml

import (
	"runtime"
	"sync"
	"time"
)

// maxWait is how many times its limit a document may take on a machine that has
// other things to do.
const maxWait = 5

// watch calls stop when the calling goroutine has computed for limit, and
// returns what ends the watch. What counts is the processor time, where it can
// be had: a document is not worse for coming while the machine is busy. The
// goroutine keeps its thread until the watch has ended.
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

// look stops what took too long, and looks again when it cannot have been.
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
