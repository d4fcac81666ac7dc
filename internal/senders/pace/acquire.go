package pace

import (
	"context"
	"fmt"
	"time"
)

// minWait is the shortest wait after a take that got nothing.
const minWait = time.Millisecond

// maxRefills is the maximum number of refills in one take.
const maxRefills = 12

// Acquire takes up to n permits of all limits together and returns how many it got. If fewer than n,
// again is the earliest time at which the next may be available. A permit must be used at once; an
// unused one is lost.
//
// A refusal by one limit does not consume permits of the others. If the database fails, nothing is
// granted, and err has the cause.
func (p *Pacer) Acquire(ctx context.Context, n int, limits []Limit) (granted int, again time.Time, err error) {
	for asked := 0; ; {
		now := p.now()
		p.mu.Lock()
		v := p.tryTake(p.since(now), n, limits)
		if v.ask == nil && v.wait == nil {
			p.mu.Unlock()
			return v.granted, now.Add(v.again), v.err
		}
		if v.wait != nil {
			p.mu.Unlock()
			select {
			case <-v.wait:
			case <-ctx.Done():
				return 0, now, ctx.Err()
			}
			continue
		}
		if asked++; asked > maxRefills { // other goroutines took the slots, or the answers were too slow
			p.mu.Unlock()
			return 0, now.Add(horizon / 8), nil
		}
		v.ask.busy = make(chan struct{})
		p.mu.Unlock()
		if err := p.refill(ctx, v.ask, v.granted); err != nil {
			return 0, now, err
		}
	}
}

// view is the result of weigh. Ask is a limit that must be refilled first, wait is closed when
// another take has refilled it. Again is relative to now.
type view struct {
	granted int
	again   time.Duration
	ask     *rate
	wait    chan struct{}
	err     error
}

// tryTake takes permits if all limits have some. A limit known to have none yet ends the take before
// others are refilled for it. Of the limits to refill, the slowest comes first, for the same
// reason.
func (p *Pacer) tryTake(at time.Duration, n int, limits []Limit) view {
	if p.closed {
		return view{again: time.Hour, err: errClosed}
	}
	v := view{granted: max(n, 0)}
	blocked := at
	for _, l := range limits {
		if l.Per <= 0 {
			return view{again: time.Hour, err: fmt.Errorf("pace: limit %q has no period", l.Key)}
		}
		if l.Max < 1 {
			blocked = max(blocked, at+l.Per)
			continue
		}
		r := p.rate(l, at)
		r.expire(at)
		switch ready, next := r.ready(at); {
		case ready > 0:
			v.granted = min(v.granted, ready)
		case next > at:
			blocked = max(blocked, next)
			if r.err != nil {
				v.err = r.err
			}
		case v.ask == nil || r.every > v.ask.every:
			v.ask = r
		}
	}
	if n <= 0 {
		return view{}
	}
	if blocked > at {
		return view{again: max(blocked-at, minWait), err: v.err}
	}
	if v.ask != nil {
		v.wait = v.ask.busy
		return v
	}
	p.turn++
	for _, l := range limits {
		r := p.rates[rateKey{l.Key, l.Per}]
		if r.turn == p.turn { // the same limit twice
			continue
		}
		r.turn = p.turn
		r.spend(v.granted)
	}
	if v.granted < n {
		for _, l := range limits {
			if ready, next := p.rates[rateKey{l.Key, l.Per}].ready(at); ready == 0 {
				v.again = max(v.again, next-at)
			}
		}
	}
	return v
}

// rate returns the state of a limit. If Max has changed, the state is reset.
func (p *Pacer) rate(l Limit, at time.Duration) *rate {
	k := rateKey{l.Key, l.Per}
	r := p.rates[k]
	if r == nil {
		r = &rate{key: k, shared: p.shared()}
		p.rates[k] = r
	}
	if r.max != l.Max {
		r.reset(l.Max, at)
	}
	r.asked = at
	return r
}

// dropRates drops limits that have not been used lately.
func (p *Pacer) dropRates() {
	at := p.since(p.now())
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, r := range p.rates {
		r.expire(at)
		if r.busy == nil && r.left == 0 && at-r.asked > time.Minute && r.next < at-second && r.until < at {
			delete(p.rates, k)
		}
	}
}

// Tightest returns the index of the limit that a take which got too little must wait for: the one
// whose next permit is available last, as far as this process knows. It is -1 if all have permits.
func (p *Pacer) Tightest(limits []Limit) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.since(p.now())
	tightest, latest := -1, at
	for i, l := range limits {
		if l.Max < 1 {
			return i
		}
		r := p.rate(l, at)
		ready, next := r.ready(at)
		if ready > 0 || tightest >= 0 && (next < latest || next == latest && r.every <= p.rate(limits[tightest], at).every) {
			continue
		}
		tightest, latest = i, next
	}
	return tightest
}
