package deliver

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/senders/pace"
)

// How processes share the connections to a site.
const (
	slotsSpace   = "site:"
	slotsFor     = 15 * time.Second // how long slots may be used without being requested again, as pace grants them
	slotsRenew   = 4 * time.Second  // after which they are requested again
	slotsHungry  = time.Second      // the same for a site with jobs that need more
	slotsTick    = time.Second
	slotsQuiet   = 10 * time.Second // after which idle connections of a site without jobs are closed instead
	demandLasts  = 5 * time.Second
	withoutRetry = time.Second // until a message is tried again whose site has no slots for this process
)

// slots are this process's part of the connections to a site.
type slots struct {
	granted  int
	until    time.Time // they must not be used after it
	asked    time.Time // when they were last requested
	demand   int       // jobs that waited for connections
	demandAt time.Time
}

// at returns how many connections may be open.
func (l slots) at(now time.Time) int {
	if !now.Before(l.until) || !now.Round(0).Before(l.until.Round(0)) { // by the monotonic clock or by the wall clock
		return 0
	}
	return l.granted
}

// withoutSlots returns the deferral of a message to a site whose connections other processes use.
func withoutSlots(now time.Time) *deferral {
	return &deferral{until: now.Add(withoutRetry), reason: "other processes use the connections to its destination"}
}

// leaser requests the slots of sites.
type leaser struct {
	requests sync.Mutex // held during a request: there is one at a time for a site

	mu   sync.Mutex
	used map[*site]bool // sites with slots, or with jobs that need some
}

// demands notes that n jobs wait for connections to the site.
func (s *site) demands(n int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots.demand, s.slots.demandAt = n, now
}

// wants returns how many connections this process could use, when it has a number of them open. Twice as
// many as there are jobs, so that few requests are needed while their number grows. The caller holds s.mu.
func (s *site) wants(now time.Time, open int) int {
	jobs := s.inFlight
	if now.Sub(s.slots.demandAt) < demandLasts {
		jobs += s.slots.demand
	}
	return min(s.accepts(now), max(2*jobs, open))
}

// needsSlots reports whether jobs wait for connections that were not requested a short time ago.
func (s *site) needsSlots(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, answered := s.slots.at(now), now.Before(s.slots.until)
	return (!answered || now.Sub(s.slots.asked) >= slotsHungry) && have < min(s.accepts(now), s.inFlight+s.slots.demand)
}

// isDue reports whether slots of the site must be requested or returned now.
func (s *site) isDue(now time.Time, open int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, since := s.slots.at(now), now.Sub(s.slots.asked)
	switch want := s.wants(now, open); {
	case since >= slotsRenew || since < 0:
		return true
	case want > have, open > have, want == 0: // more are needed, too many were open, or all are returned
		return since >= slotsHungry
	}
	return false
}

// request returns the request for slots. No more than it wants are used from now on.
func (s *site) request(now time.Time, conns interface{ Open(string) int }) pace.Request {
	open := conns.Open(s.name)
	s.mu.Lock()
	r := pace.Request{Key: slotsSpace + s.name, Want: s.wants(now, open), Limit: s.accepts(now)}
	s.slots.granted, s.slots.asked = min(s.slots.granted, r.Want), now
	s.mu.Unlock()
	r.Held = conns.Open(s.name) // again, because connections may have been made before granted was lowered
	return r
}

// grant notes the answer to a request.
func (s *site) grant(granted int, r pace.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots.granted, s.slots.until = granted, s.slots.asked.Add(slotsFor)
	if r.Want == 0 { // all were returned; the next job requests some at once
		s.slots.until = time.Time{}
	}
}

// isQuiet reports whether the site has had no jobs for so long that connections to it are not kept.
func (s *site) isQuiet(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight == 0 && now.Sub(s.used) >= slotsQuiet
}

// requestSlots requests slots for the sites of jobs that have too few, in one transaction.
func (e *Engine) requestSlots(ctx context.Context, jobs []*job) {
	if !e.sites.shared {
		return
	}
	count := map[*site]int{}
	for _, j := range jobs {
		if j.site != nil {
			count[j.site]++
		}
	}
	now := e.Now()
	var list []*site
	for s, n := range count {
		s.demands(n, now)
		if s.needsSlots(now) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return
	}
	l := &e.sites.leaser
	l.requests.Lock()
	defer l.requests.Unlock()
	list = slices.DeleteFunc(list, func(s *site) bool { return !s.needsSlots(e.Now()) }) // another feeder was faster
	e.leaseSites(ctx, list)
}

// leaseSites requests slots of sites. The caller holds requests.
func (e *Engine) leaseSites(ctx context.Context, list []*site) {
	if len(list) == 0 {
		return
	}
	l, conns := &e.sites.leaser, e.sites.conns
	requests := make([]pace.Request, len(list))
	for i, s := range list {
		requests[i] = s.request(e.Now(), conns)
	}
	granted, err := e.pacer.SlotsOf(ctx, requests)
	if err != nil {
		if ctx.Err() == nil {
			e.Log.Error("lease connections to destinations failed, will retry", "err", err)
		}
		return // the slots remain usable until their time is over
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		l.used = map[*site]bool{}
	}
	for i, s := range list {
		s.grant(granted[i], requests[i])
		conns.Limit(s.name, granted[i])
		if requests[i].Want == 0 && requests[i].Held == 0 {
			delete(l.used, s)
		} else {
			l.used[s] = true
		}
	}
}

// keepSlots keeps slots as long as they are used, and returns them afterwards, until ctx ends.
func (e *Engine) keepSlots(ctx context.Context) {
	if !e.sites.shared {
		return
	}
	tick := time.NewTicker(slotsTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.renewSlots(ctx)
		}
	}
}

// renewSlots requests the slots of sites again for which it is time. Connections to a site that has lost
// its slots, or that had no jobs for a while, are closed if they are idle.
func (e *Engine) renewSlots(ctx context.Context) {
	l, conns := &e.sites.leaser, e.sites.conns
	l.requests.Lock()
	defer l.requests.Unlock()
	l.mu.Lock()
	used := slices.Collect(maps.Keys(l.used))
	l.mu.Unlock()
	now := e.Now()
	var due []*site
	for _, s := range used {
		switch {
		case s.isQuiet(now):
			conns.Limit(s.name, 0)
		case s.most(now) == 0:
			conns.Limit(s.name, 0)
		}
		if s.isDue(now, conns.Open(s.name)) {
			due = append(due, s)
		}
	}
	e.leaseSites(ctx, due)
}
