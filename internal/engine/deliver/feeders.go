package deliver

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/outbox"
)

const (
	maxFeeders = 64              // streams fed at a time
	turnFor    = 2 * time.Second // how long one is fed while others wait
	afterError = 5 * time.Second // until one is looked at again that could not be fed
)

type streamKey struct {
	tenant id.Tenant
	stream id.Send
}

func (k streamKey) compare(o streamKey) int {
	return cmp.Or(cmp.Compare(k.tenant, o.tenant), id.Compare(k.stream, o.stream))
}

// feeders are the streams being fed, and those that nobody need look at for a
// while. When there are more streams than feeders, they take turns.
type feeders struct {
	mu    sync.Mutex
	busy  map[streamKey]turn
	rests map[streamKey]held
	last  streamKey     // was seated last; the next to be seated comes after it
	full  bool          // some found no seat
	ready bool          // there were streams to look at
	again chan struct{} // there is a seat again
	wg    sync.WaitGroup
	rota  rota
	waits waits
}

// turn is one stream being fed.
type turn struct {
	since time.Time
	end   context.CancelFunc
}

func (f *feeders) init() {
	f.busy, f.rests, f.again = map[streamKey]turn{}, map[streamKey]held{}, make(chan struct{}, 1)
}

// any reports whether there are streams that have messages waiting.
func (f *feeders) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready
}

// look gives every stream that has due messages a feeder, and cancels what waits
// of cancelled ones.
func (e *Engine) look(ctx context.Context) error {
	if !e.leased() { // the clock jumped, or the database was away
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	ready, err := outbox.ReadyStreams(ctx, e.DB)
	if err != nil {
		return err
	}
	for _, r := range ready {
		if !r.Cancelled {
			continue
		}
		if _, err := outbox.Sweep(ctx, e.DB, r.Tenant, r.Stream); err != nil {
			e.Log.Error("a cancelled stream is not emptied", "tenant", r.Tenant, e.senderOf(ctx, r.Tenant, r.Stream), "err", err)
		}
	}
	e.feeders.seat(ready, e.Now(), func(k streamKey) turn {
		ctx, end := context.WithCancel(ctx)
		e.feeders.wg.Go(func() {
			defer end()
			h, err := e.feed(ctx, k.tenant, k.stream)
			if err != nil && ctx.Err() == nil {
				e.Log.Error("a stream is not fed", "tenant", k.tenant, e.senderOf(ctx, k.tenant, k.stream), "err", err)
				h = &held{until: e.Now().Add(afterError), why: "it could not be fed"}
			}
			if e.feeders.leave(k, h) {
				e.Log.Warn("a stream is held back", "tenant", k.tenant, e.senderOf(ctx, k.tenant, k.stream), "why", h.why)
			}
		})
		return turn{e.Now(), end}
	})
	return nil
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

// seat starts a feeder for each stream that can use one. When there is no room
// it ends the turns of those that were fed longest.
func (f *feeders) seat(ready []outbox.Ready, now time.Time, start func(streamKey) turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = len(ready) > 0
	var due []streamKey
	known := make(map[streamKey]bool, len(ready))
	for _, r := range ready {
		k := streamKey{r.Tenant, r.Stream}
		known[k] = true
		_, busy := f.busy[k]
		if r.Cancelled || busy || r.NextDue.IsZero() || r.NextDue.After(now) || now.Before(f.rests[k].until) {
			continue
		}
		due = append(due, k)
	}
	for k := range f.rests {
		if !known[k] {
			delete(f.rests, k)
		}
	}
	slices.SortFunc(due, streamKey.compare)
	first, _ := slices.BinarySearchFunc(due, f.last, func(k, last streamKey) int {
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
		f.busy[k] = start(k)
	}
}

// leave ends a turn and notes whether the stream is held. It reports whether
// that is news.
func (f *feeders) leave(k streamKey, h *held) bool {
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
	news := f.rests[k].why != h.why
	f.rests[k] = *h
	return news
}
