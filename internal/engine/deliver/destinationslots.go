package deliver

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/senders/pace"
)

// How processes share the connections to a destination.
const (
	slotsSpace   = "site:"          // as stored in pace_slot
	slotsFor     = 15 * time.Second // how long slots may be used without being requested again, as pace grants them
	slotsRenew   = 4 * time.Second  // after which they are requested again
	slotsHungry  = time.Second      // the same for a destination with jobs that need more
	slotsTick    = time.Second
	slotsQuiet   = 10 * time.Second // after which idle connections of a destination without jobs are closed instead
	demandLasts  = 5 * time.Second
	withoutRetry = time.Second // until a message is tried again whose destination has no slots for this process
)

// slots are this process's part of the connections to a destination.
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

// withoutSlots returns the deferral of a message to a destination whose connections other processes use.
func withoutSlots(now time.Time) *deferral {
	return &deferral{until: now.Add(withoutRetry), reason: "other processes use the connections to its destination"}
}

// leaser requests the slots of destinations.
type leaser struct {
	requests sync.Mutex // held during a request: there is one at a time for a destination

	mu   sync.Mutex
	used map[*dest]bool // destinations with slots, or with jobs that need some
}

// demands notes that n jobs wait for connections to the destination.
func (d *dest) demands(n int, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots.demand, d.slots.demandAt = n, now
}

// wants returns how many connections this process could use, when it has a number of them open. Twice as
// many as there are jobs, so that few requests are needed while their number grows. The caller holds d.mu.
func (d *dest) wants(now time.Time, open int) int {
	jobs := d.inFlight
	if now.Sub(d.slots.demandAt) < demandLasts {
		jobs += d.slots.demand
	}
	return min(d.accepts(now), max(2*jobs, open))
}

// needsSlots reports whether jobs wait for connections that were not requested a short time ago.
func (d *dest) needsSlots(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	have, answered := d.slots.at(now), now.Before(d.slots.until)
	return (!answered || now.Sub(d.slots.asked) >= slotsHungry) && have < min(d.accepts(now), d.inFlight+d.slots.demand)
}

// isDue reports whether slots of the destination must be requested or returned now.
func (d *dest) isDue(now time.Time, open int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	have, since := d.slots.at(now), now.Sub(d.slots.asked)
	switch want := d.wants(now, open); {
	case since >= slotsRenew || since < 0:
		return true
	case want > have, open > have, want == 0: // more are needed, too many were open, or all are returned
		return since >= slotsHungry
	}
	return false
}

// request returns the request for slots. No more than it wants are used from now on.
func (d *dest) request(now time.Time, conns interface{ Open(string) int }) pace.Request {
	open := conns.Open(d.name)
	d.mu.Lock()
	r := pace.Request{Key: slotsSpace + d.name, Want: d.wants(now, open), Limit: d.accepts(now)}
	d.slots.granted, d.slots.asked = min(d.slots.granted, r.Want), now
	d.mu.Unlock()
	r.Held = conns.Open(d.name) // again, because connections may have been made before granted was lowered
	return r
}

// grant notes the answer to a request.
func (d *dest) grant(granted int, r pace.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots.granted, d.slots.until = granted, d.slots.asked.Add(slotsFor)
	if r.Want == 0 { // all were returned; the next job requests some at once
		d.slots.until = time.Time{}
	}
}

// isQuiet reports whether the destination has had no jobs for so long that connections to it are not kept.
func (d *dest) isQuiet(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inFlight == 0 && now.Sub(d.used) >= slotsQuiet
}

// requestSlots requests slots for the destinations of jobs that have too few, in one transaction.
func (e *Engine) requestSlots(ctx context.Context, jobs []*job) {
	if !e.dests.shared {
		return
	}
	count := map[*dest]int{}
	for _, j := range jobs {
		if j.dest != nil {
			count[j.dest]++
		}
	}
	now := e.Now()
	var list []*dest
	for d, n := range count {
		d.demands(n, now)
		if d.needsSlots(now) {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return
	}
	l := &e.dests.leaser
	l.requests.Lock()
	defer l.requests.Unlock()
	list = slices.DeleteFunc(list, func(d *dest) bool { return !d.needsSlots(e.Now()) }) // another feeder was faster
	e.leaseSlots(ctx, list)
}

// leaseSlots requests slots of destinations. The caller holds requests.
func (e *Engine) leaseSlots(ctx context.Context, list []*dest) {
	if len(list) == 0 {
		return
	}
	l, conns := &e.dests.leaser, e.dests.conns
	requests := make([]pace.Request, len(list))
	for i, d := range list {
		requests[i] = d.request(e.Now(), conns)
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
		l.used = map[*dest]bool{}
	}
	for i, d := range list {
		d.grant(granted[i], requests[i])
		conns.Limit(d.name, granted[i])
		if requests[i].Want == 0 && requests[i].Held == 0 {
			delete(l.used, d)
		} else {
			l.used[d] = true
		}
	}
}

// keepSlots keeps slots as long as they are used, and returns them afterwards, until ctx ends.
func (e *Engine) keepSlots(ctx context.Context) {
	if !e.dests.shared {
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

// renewSlots requests the slots of destinations again for which it is time. Connections to a destination that has lost
// its slots, or that had no jobs for a while, are closed if they are idle.
func (e *Engine) renewSlots(ctx context.Context) {
	l, conns := &e.dests.leaser, e.dests.conns
	l.requests.Lock()
	defer l.requests.Unlock()
	l.mu.Lock()
	used := slices.Collect(maps.Keys(l.used))
	l.mu.Unlock()
	now := e.Now()
	var due []*dest
	for _, d := range used {
		switch {
		case d.isQuiet(now):
			conns.Limit(d.name, 0)
		case d.most(now) == 0:
			conns.Limit(d.name, 0)
		}
		if d.isDue(now, conns.Open(d.name)) {
			due = append(due, d)
		}
	}
	e.leaseSlots(ctx, due)
}
