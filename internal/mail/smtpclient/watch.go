package smtpclient

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// contextWatch calls a function when a context ends. A connection mostly serves the
// same context for message after message, so context.AfterFunc is called once and
// not for each of them. The zero contextWatch watches nothing.
type contextWatch struct {
	mu      sync.Mutex
	done    <-chan struct{} // of the context that is watched
	forget  func() bool
	stopped bool
}

// watch calls f when ctx ends, and no longer when an earlier one does. For the same
// ctx it must be the same f; it must not call watch or stop.
func (w *contextWatch) watch(ctx context.Context, f func()) {
	done := ctx.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == done || w.stopped {
		return
	}
	if w.forget != nil {
		w.forget()
	}
	w.done, w.forget = done, context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.done == done { // else it is late
			f()
		}
	})
}

// stop ends watching for good.
func (w *contextWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.forget != nil {
		w.forget()
	}
	w.done, w.forget = nil, nil
}

// watch aborts what is being sent when its context ends.
type watch struct {
	contextWatch
	at atomic.Int32 // one of the below
}

const (
	idle    = iota // nothing is sent, or it is too late to abort it
	sending        // may be aborted
	aborted
)

// begin says that a message is being sent, unless ctx has ended.
func (w *watch) begin(ctx context.Context, conn net.Conn) bool {
	w.watch(ctx, func() {
		// Closing is the one way to abort that no later deadline undoes.
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

// end stops the context from aborting the message, and reports false if it was
// aborted before.
func (w *watch) end() bool { return w.at.CompareAndSwap(sending, idle) || w.at.Load() == idle }
