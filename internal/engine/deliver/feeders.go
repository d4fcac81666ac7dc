package deliver

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

const (
	maxFeeders = 64              // sends fed at a time
	feedTurn   = 2 * time.Second // how long a send is fed while others wait
	errorRetry = 5 * time.Second // until a send is fed again after an error
	logAgain   = time.Minute     // after the end of a deferral, until the same reason is logged again
)

type sendKey struct {
	tenant id.Tenant
	send   id.Send
}

func (k sendKey) compare(o sendKey) int {
	return cmp.Or(cmp.Compare(k.tenant, o.tenant), id.Compare(k.send, o.send))
}

// feeders are the sends being fed, and those that are not fed for a while because their messages
// cannot be sent. When there are more sends than feeders, they take turns.
type feeders struct {
	mu       sync.Mutex
	busy     map[sendKey]feeding
	deferred map[sendKey]deferral
	last     sendKey       // got a feeder last; the next is the one after it
	full     bool          // some sends got no feeder
	ready    bool          // there were sends with waiting messages
	seatFree chan struct{} // receives when a feeder has ended while others wait
	wg       sync.WaitGroup
	shares   fairShare
	waits    waits
}

// feeding is one send being fed.
type feeding struct {
	since time.Time
	end   context.CancelFunc
}

func (f *feeders) init() {
	f.busy, f.deferred, f.seatFree = map[sendKey]feeding{}, map[sendKey]deferral{}, make(chan struct{}, 1)
}

// any reports whether there are sends that have messages waiting.
func (f *feeders) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready
}

// feedReady starts a feeder for each send that has due messages or was cancelled.
func (e *Engine) feedReady(ctx context.Context) error {
	if !e.leased() { // the clock jumped, or the database was away
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	ready, err := outbox.ReadySends(ctx, e.DB)
	if err != nil {
		return err
	}
	e.feeders.seat(ready, e.Now(), func(k sendKey, cancelled bool) feeding {
		ctx, end := context.WithCancel(ctx)
		e.feeders.wg.Go(func() {
			defer end()
			work := e.feed
			if cancelled {
				work = e.cancelWaiting
			}
			h, err := work(ctx, k.tenant, k.send)
			if err != nil && ctx.Err() == nil {
				e.Log.Error("feed send failed", "tenant", k.tenant, e.sourceAttr(ctx, k.tenant, k.send), "err", err)
				h = &deferral{until: e.Now().Add(errorRetry), reason: "feed send failed"}
			}
			if e.feeders.finish(k, h, e.Now()) {
				e.Log.Warn("send deferred", "tenant", k.tenant, e.sourceAttr(ctx, k.tenant, k.send), "reason", h.reason)
			}
		})
		return feeding{e.Now(), end}
	})
	return nil
}

// cancelWaiting cancels the waiting messages of a cancelled send, page by page.
func (e *Engine) cancelWaiting(ctx context.Context, tenant id.Tenant, send id.Send) (*deferral, error) {
	for ctx.Err() == nil {
		if n, err := outbox.CancelWaiting(ctx, e.DB, tenant, send, e.Now()); err != nil || n == 0 {
			return nil, err
		}
	}
	return nil, nil
}

// sourceAttr returns a log attribute with the id of a send's source, or of the send if the source
// cannot be read.
func (e *Engine) sourceAttr(ctx context.Context, tenant id.Tenant, send id.Send) slog.Attr {
	from, err := outbox.Sources(ctx, e.DB, tenant, []id.Send{send})
	if s, ok := from[send]; ok && err == nil {
		return slog.Any(string(s.Kind), s.ID)
	}
	return slog.Any("send", send)
}

// seat starts a feeder for each send that can use one. When maxFeeders are busy, it ends those that
// have run for feedTurn.
func (f *feeders) seat(ready []outbox.Ready, now time.Time, start func(k sendKey, cancelled bool) feeding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = len(ready) > 0
	var due []sendKey
	known, cancelled := make(map[sendKey]bool, len(ready)), map[sendKey]bool{}
	for _, r := range ready {
		k := sendKey{r.Tenant, r.Send}
		known[k] = true
		_, busy := f.busy[k]
		later := r.NextDue.IsZero() || r.NextDue.After(now)
		if busy || later && !r.Cancelled || now.Before(f.deferred[k].until) {
			continue
		}
		due, cancelled[k] = append(due, k), r.Cancelled
	}
	for k := range f.deferred {
		if !known[k] {
			delete(f.deferred, k)
		}
	}
	slices.SortFunc(due, sendKey.compare)
	first, _ := slices.BinarySearchFunc(due, f.last, func(k, last sendKey) int {
		return cmp.Or(k.compare(last), -1) // the last one itself comes last
	})
	f.full = false
	for _, k := range slices.Concat(due[first:], due[:first]) {
		if f.full = len(f.busy) >= maxFeeders; f.full {
			for _, t := range f.busy {
				if now.Sub(t.since) >= feedTurn {
					t.end()
				}
			}
			return
		}
		f.last = k
		f.busy[k] = start(k, cancelled[k])
	}
}

// finish ends a feeder's turn and stores the deferral of its send, if any. It reports whether the
// deferral is to be logged: its reason is not that of the last deferral, or that one ended more than
// logAgain ago. A send whose lane is probed again and again is logged once.
func (f *feeders) finish(k sendKey, h *deferral, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, k)
	if f.full {
		select {
		case f.seatFree <- struct{}{}:
		default:
		}
	}
	last, known := f.deferred[k]
	if h == nil {
		if known && last.until.After(now) {
			f.deferred[k] = deferral{until: now, reason: last.reason}
		}
		return false
	}
	f.deferred[k] = *h
	return last.reason != h.reason || now.Sub(last.until) > logAgain
}
