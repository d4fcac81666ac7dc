package smtpclient

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// contextWatch calls a function when a context ends. A connection mostly sends message after message
// with the same context, so context.AfterFunc is called only when the context changes. The zero
// contextWatch watches nothing.
type contextWatch struct {
	mu           sync.Mutex
	done         <-chan struct{} // of the watched context
	stopWatching func() bool
	stopped      bool
}

// watch calls f when ctx ends, and no longer when an earlier context does. For the same ctx f must be
// the same; it must not call watch or stop.
func (w *contextWatch) watch(ctx context.Context, f func()) {
	done := ctx.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == done || w.stopped {
		return
	}
	if w.stopWatching != nil {
		w.stopWatching()
	}
	w.done, w.stopWatching = done, context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.done == done { // otherwise another context is watched by now
			f()
		}
	})
}

// stop ends watching.
func (w *contextWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.stopWatching != nil {
		w.stopWatching()
	}
	w.done, w.stopWatching = nil, nil
}

// watch aborts the current message when its context ends.
type watch struct {
	contextWatch
	at atomic.Int32 // one of the constants below
}

const (
	idle    = iota // no message is being sent, or it must not be aborted any more
	sending        // may be aborted
	aborted
)

// begin starts watching for a message. It returns false if ctx has ended.
func (w *watch) begin(ctx context.Context, conn net.Conn) bool {
	w.watch(ctx, func() {
		// Only closing aborts a write in a way that no later deadline undoes.
		if w.at.CompareAndSwap(sending, aborted) {
			conn.Close()
		}
	})
	w.at.Store(sending)
	if ctx.Err() == nil {
		return true
	}
	w.at.CompareAndSwap(sending, idle)
	return false
}

// end stops watching, and reports false if the message was aborted before.
func (w *watch) end() bool { return w.at.CompareAndSwap(sending, idle) || w.at.Load() == idle }
