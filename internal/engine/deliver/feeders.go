package deliver

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
)

const (
	maxFeeders = 64              // sends fed at a time
	turnFor    = 2 * time.Second // how long one is fed while others wait
	afterError = 5 * time.Second // until one is looked at again that could not be fed
)

type sendKey struct {
	tenant id.Tenant
	send   id.Send
}

func (k sendKey) compare(o sendKey) int {
	return cmp.Or(cmp.Compare(k.tenant, o.tenant), id.Compare(k.send, o.send))
}

// feeders are the sends being fed, and those that nobody need look at for a
// while. When there are more sends than feeders, they take turns.
type feeders struct {
	mu     sync.Mutex
	busy   map[sendKey]feeding
	rests  map[sendKey]deferral
	last   sendKey       // was seated last; the next to be seated comes after it
	full   bool          // some found no seat
	ready  bool          // there were sends to look at
	again  chan struct{} // there is a seat again
	wg     sync.WaitGroup
	shares fairShare
	waits  waits
}

// feeding is one send being fed.
type feeding struct {
	since time.Time
	end   context.CancelFunc
}

func (f *feeders) init() {
	f.busy, f.rests, f.again = map[sendKey]feeding{}, map[sendKey]deferral{}, make(chan struct{}, 1)
}

// any reports whether there are sends that have messages waiting.
func (f *feeders) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready
}

// feedReady gives every send that has due messages, or was cancelled, a feeder.
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
				work = e.sweep
			}
			h, err := work(ctx, k.tenant, k.send)
			if err != nil && ctx.Err() == nil {
				e.Log.Error("feed send failed", "tenant", k.tenant, e.senderOf(ctx, k.tenant, k.send), "err", err)
				h = &deferral{until: e.Now().Add(afterError), reason: "it could not be fed"}
			}
			if e.feeders.finish(k, h) {
				e.Log.Warn("send held back", "tenant", k.tenant, e.senderOf(ctx, k.tenant, k.send), "why", h.reason)
			}
		})
		return feeding{e.Now(), end}
	})
	return nil
}

// sweep cancels what waits of a cancelled send, page by page.
func (e *Engine) sweep(ctx context.Context, tenant id.Tenant, send id.Send) (*deferral, error) {
	for ctx.Err() == nil {
		if n, err := outbox.CancelWaiting(ctx, e.DB, tenant, send, e.Now()); err != nil || n == 0 {
			return nil, err
		}
	}
	return nil, nil
}

// senderOf names in the log what a send belongs to, or the send if that cannot be
// read.
func (e *Engine) senderOf(ctx context.Context, tenant id.Tenant, send id.Send) slog.Attr {
	from, err := outbox.Sources(ctx, e.DB, tenant, []id.Send{send})
	if s, ok := from[send]; ok && err == nil {
		return slog.Any(string(s.Kind), s.ID)
	}
	return slog.Any("send", send)
}

// seat starts a feeder for each send that can use one. When there is no room
// it ends the turns of those that were fed longest.
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
		if busy || later && !r.Cancelled || now.Before(f.rests[k].until) {
			continue
		}
		due, cancelled[k] = append(due, k), r.Cancelled
	}
	for k := range f.rests {
		if !known[k] {
			delete(f.rests, k)
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
				if now.Sub(t.since) >= turnFor {
					t.end()
				}
			}
			return
		}
		f.last = k
		f.busy[k] = start(k, cancelled[k])
	}
}

// finish ends a turn and notes whether the send is held. It reports whether
// that is news.
func (f *feeders) finish(k sendKey, h *deferral) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, k)
	if f.full {
		select {
		case f.again <- struct{}{}:
		default:
		}
	}
	if h == nil {
		delete(f.rests, k)
		return false
	}
	news := f.rests[k].reason != h.reason
	f.rests[k] = *h
	return news
}
