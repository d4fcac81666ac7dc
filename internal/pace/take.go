package pace

import (
	"context"
	"fmt"
	"time"
)

// tick is the least time between two takes that get nothing.
const tick = time.Millisecond

// rounds is how often one take asks the database at most.
const rounds = 12

// Take takes up to n permits of all limits at once and returns how many it got.
// When they are fewer than n, again is when the next may be had: before that,
// asking is in vain. A permit is to be used at once; one that is not used is
// lost, not owed.
//
// Limits that refuse cost the others nothing. When the database cannot be
// asked, nothing is granted, and err says why.
func (p *Pacer) Take(ctx context.Context, n int, limits []Limit) (granted int, again time.Time, err error) {
	for asked := 0; ; {
		now := p.now()
		p.mu.Lock()
		v := p.weigh(p.since(now), n, limits)
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
		if asked++; asked > rounds { // others were faster, or the answers too slow
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

// view is what a take finds. Ask is a limit that must be refilled first, wait
// another take that is refilling it. Again is from now.
type view struct {
	granted int
	again   time.Duration
	ask     *rate
	wait    chan struct{}
	err     error
}

// weigh looks at all limits and takes what they all have. A limit that is known
// to have nothing yet ends the take before others are refilled for it; of those
// that must be refilled the slowest comes first, for the same reason.
func (p *Pacer) weigh(at time.Duration, n int, limits []Limit) view {
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
		r.lapse(at)
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
		return view{again: max(blocked-at, tick), err: v.err}
	}
	if v.ask != nil {
		v.wait = v.ask.busy
		return v
	}
	p.turn++
	for _, l := range limits {
		r := p.rates[rateKey{l.Key, l.Per}]
		if r.turn == p.turn { // named twice
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

// rate returns what is known of a limit. One whose Max has changed begins anew.
func (p *Pacer) rate(l Limit, at time.Duration) *rate {
	k := rateKey{l.Key, l.Per}
	r := p.rates[k]
	if r == nil {
		r = &rate{key: k, shared: p.shared()}
		p.rates[k] = r
	}
	if r.max != l.Max {
		r.begin(l.Max, at)
	}
	r.asked = at
	return r
}

// forgetRates drops what nobody has asked for lately.
func (p *Pacer) forgetRates() {
	at := p.since(p.now())
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, r := range p.rates {
		r.lapse(at)
		if r.busy == nil && r.left == 0 && at-r.asked > time.Minute && r.next < at-second && r.until < at {
			delete(p.rates, k)
		}
	}
}
