package notify

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
)

const (
	firstWindow  = 4               // requests at a time of an endpoint that was healthy
	slowAnswer   = 2 * time.Second // an endpoint that takes longer on average is slow
	slowFailures = 3               // failures in a row, after which an endpoint is slow
	healthEvery  = time.Second     // how often successes change the health of a healthy endpoint
)

// server delivers to one endpoint while the engine has the lease. One goroutine runs it; attempts
// send it events.
type server struct {
	engine *Engine
	lease  webhook.Lease
	target webhook.Target
	ctx    context.Context
	lose   context.CancelFunc

	waiting  []webhook.Item       // loaded and not attempted, in order
	taken    map[id.Delivery]bool // loaded and without a stored result
	subjects map[id.Source]bool   // with a first attempt in flight
	inFlight int                  // requests
	window   int                  // how many there may be
	events   chan event           // never blocks: there is room for all of taken
	begun    time.Time            // when serving began
	end      bool                 // begin no more attempts
	drained  bool                 // no more deliveries were due at the last load
	failures int                  // in a row
	latency  time.Duration        // average

	// What attempts use:
	unhealthy atomic.Bool  // the next success changes the health of the endpoint
	healthAt  atomic.Int64 // when a success last did, in nanoseconds
}

// event is what an attempt reports: that the request has ended, or that its result is stored.
type event struct {
	item     webhook.Item
	attempt  webhook.Attempt
	stored   bool
	aborted  bool
	disabled bool
	err      error
}

// maxTaken bounds the deliveries of an endpoint in memory.
const maxTaken = 8 * maxWindow

func newServer(ctx context.Context, e *Engine, l webhook.Lease) *server {
	s := &server{
		engine: e, lease: l, taken: map[id.Delivery]bool{}, subjects: map[id.Source]bool{},
		window: firstWindow, events: make(chan event, 2*maxTaken), begun: e.Now(),
	}
	if l.Slow {
		s.window = 1
	}
	s.ctx, s.lose = context.WithCancel(ctx)
	return s
}

// run delivers until nothing is due, the lease is lost, or the endpoint must yield.
func (s *server) run() {
	defer s.engine.remove(s)
	defer s.lose()
	log := s.engine.Log.With("tenant", s.lease.Tenant, "endpoint", s.lease.Endpoint)
	err := s.load()
	if err == nil {
		err = s.serve()
	}
	if err != nil && s.ctx.Err() == nil {
		log.Error("deliver webhooks failed", "err", err)
		// The lease expires, so that the endpoint is served again after a pause.
	}
}

// load reads the endpoint. If it was deleted or disabled, its deliveries are ended.
func (s *server) load() (err error) {
	s.target, err = s.lease.Target(s.ctx, s.engine.DB, s.engine.Box)
	deleted := errors.Is(err, webhook.ErrNotFound)
	if err != nil && !deleted {
		return err
	}
	if !deleted && s.target.Active {
		s.unhealthy.Store(s.target.FailingSince != nil)
		return nil
	}
	return s.endAll(deleted)
}

// endAll ends the waiting deliveries, or deletes all of them.
func (s *server) endAll(deleted bool) error {
	s.end = true
	for more := true; more; {
		var err error
		if more, err = s.lease.End(s.ctx, s.engine.DB, deleted); err != nil {
			return err
		}
	}
	return nil
}

// serve makes attempts until nothing is left to do, and releases the lease.
func (s *server) serve() error {
	timer := time.NewTicker(reload)
	defer timer.Stop()
	done := s.ctx.Done()
	var failed error
	for {
		s.mayYield()
		if !s.end {
			if err := s.fill(); err != nil {
				s.end = true
				if s.ctx.Err() == nil {
					failed = err
				}
			}
			s.start()
		}
		if len(s.taken) == 0 || s.end && s.inFlight == 0 && len(s.taken) == len(s.waiting) {
			if failed != nil { // released, the endpoint would be due again at once
				return failed
			}
			// Also when the program stops, so that another process need not wait for the lease to expire.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), grace)
			more, err := s.lease.Release(ctx, s.engine.DB, s.end, s.isSlow(), s.engine.Now())
			cancel()
			if err != nil || !more {
				return err
			}
			s.drained = false
			continue
		}
		select {
		case ev := <-s.events:
			s.handle(ev)
		case <-timer.C:
			s.drained = false
		case <-done:
			s.end, done = true, nil
		}
	}
}

// mayYield ends the attempts if others wait and this endpoint had its time, or belongs to the slow ones
// now.
func (s *server) mayYield() {
	served := s.engine.Now().Sub(s.begun)
	if s.ctx.Err() != nil || s.engine.crowded.Load() && served >= slice || s.isSlow() && !s.lease.Slow {
		s.end = true
	}
}

// isSlow reports whether the endpoint fails, or is slow to answer.
func (s *server) isSlow() bool { return s.failures >= slowFailures || s.latency > slowAnswer }

// fill loads deliveries that are due, if few are waiting.
func (s *server) fill() error {
	if s.drained || len(s.waiting) >= s.window || len(s.taken) >= maxTaken-2*maxWindow {
		return nil
	}
	limit := 2*s.window + len(s.taken)
	list, err := s.lease.Due(s.ctx, s.engine.DB, s.engine.Box, limit, s.engine.Now())
	if err != nil {
		return err
	}
	s.drained = len(list) < limit
	for _, item := range list {
		if !s.taken[item.ID] {
			s.taken[item.ID] = true
			s.waiting = append(s.waiting, item)
		}
	}
	return nil
}

// start begins attempts as far as limits allow. A first attempt waits for another about the same
// subject to end, so that these arrive in order.
func (s *server) start() {
	rest := s.waiting[:0]
	full := false
	held := map[id.Source]bool{} // subjects of deliveries that wait here
	for _, item := range s.waiting {
		ordered := item.Tries == 0 && !item.Subject.IsZero()
		full = full || s.inFlight >= s.window
		if full || ordered && (s.subjects[item.Subject] || held[item.Subject]) || !s.engine.begins(s) {
			if ordered {
				held[item.Subject] = true
			}
			rest = append(rest, item)
			continue
		}
		if ordered {
			s.subjects[item.Subject] = true
		}
		s.inFlight++
		go s.attempt(item, s.engine.Now())
	}
	clear(s.waiting[len(rest):])
	s.waiting = rest
}

// attempt makes one request and stores the result.
func (s *server) attempt(item webhook.Item, now time.Time) {
	a, aborted := s.engine.client.post(s.target, item, now)
	s.engine.ends(s)
	s.events <- event{item: item, attempt: a, aborted: aborted}
	if aborted { // the program stops: the attempt does not count
		s.events <- event{item: item, stored: true}
		return
	}
	r := &result{Result: webhook.Result{Lease: s.lease, Item: item, Attempt: a, Health: s.changesHealth(a)}}
	err := s.engine.results.Do(context.WithoutCancel(s.ctx), r)
	s.engine.Metrics.attempted(a, err == nil)
	s.events <- event{item: item, stored: true, disabled: r.disabled != "", err: err}
}

// changesHealth reports whether the health of the endpoint is stored with an attempt: always with a
// failure, and with a success after one, or once a second.
func (s *server) changesHealth(a webhook.Attempt) bool {
	if !a.Success() {
		s.unhealthy.Store(true)
		return true
	}
	last, now := s.healthAt.Load(), a.At.UnixNano()
	due := last == 0 || now-last >= int64(healthEvery)
	return s.unhealthy.Swap(false) || due && s.healthAt.CompareAndSwap(last, now)
}

// handle processes an event.
func (s *server) handle(ev event) {
	if ev.stored {
		delete(s.taken, ev.item.ID)
		if ev.err != nil { // it is still pending in the database
			s.engine.Log.Error("store webhook results failed", "endpoint", s.lease.Endpoint, "err", ev.err)
			s.end = true
		}
		if ev.disabled {
			s.engine.Log.Warn("webhook endpoint disabled", "tenant", s.lease.Tenant, "endpoint", s.lease.Endpoint)
			s.end = true
		}
		return
	}
	s.inFlight--
	if ev.item.Tries == 0 {
		delete(s.subjects, ev.item.Subject)
	}
	if ev.aborted {
		s.end = true
		return
	}
	if ev.attempt.Success() {
		s.failures, s.window = 0, min(s.window+1, maxWindow)
	} else {
		s.failures++
		s.window = max(s.window/2, 1)
	}
	s.latency += (ev.attempt.Took - s.latency) / 8
}
