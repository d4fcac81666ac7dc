package smtpclient

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// leaving does something when a context ends. A connection mostly serves the same
// context for message after message, so it is asked for the news once and not for
// each of them. The zero leaving heeds nothing.
type leaving struct {
	mu      sync.Mutex
	done    <-chan struct{} // of the context that is heeded
	forget  func() bool
	stopped bool
}

// watch calls f when ctx ends, and no longer when an earlier one does. For the same
// ctx it must be the same f; it must not call heed or stop.
func (l *leaving) watch(ctx context.Context, f func()) {
	done := ctx.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == done || l.stopped {
		return
	}
	if l.forget != nil {
		l.forget()
	}
	l.done, l.forget = done, context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.done == done { // else it is late
			f()
		}
	})
}

// stop ends heeding for good.
func (l *leaving) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.forget != nil {
		l.forget()
	}
	l.done, l.forget = nil, nil
}

// watch aborts what is being sent when its context ends.
type watch struct {
	leaving
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

// end says that the context has no say any more, and reports false if the message
// was aborted before.
func (w *watch) end() bool { return w.at.CompareAndSwap(sending, idle) || w.at.Load() == idle }
