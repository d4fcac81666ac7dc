package deliver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/senders/destination"
)

// How often the states of sites are exchanged with other processes, and by how much of the past two
// reads overlap: other processes may have other clocks.
const (
	exchangeEvery = 5 * time.Second
	readOverlap   = time.Minute
)

// state returns the state of a site if it has changed since the last call.
func (s *site) state() (destination.State, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed {
		return destination.State{}, false
	}
	s.changed = false
	state := destination.State{
		Key: s.key, Suspended: s.suspended, Reason: s.reason, Slow: s.slow, TLSRequired: s.requireTLS,
		Down: s.down, Retry: s.retry, Backoff: s.backoff,
	}
	if n := len(s.hits); n > 0 {
		state.Hint = s.hits[n-1]
	}
	return state, true
}

// windowChange returns the change of the number of connections since the site was last stored or merged, if it
// makes a difference: the numbers differ as integers.
func (s *site) windowChange() (destination.Window, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shared || int(s.window) == int(s.base) {
		return destination.Window{}, false
	}
	return destination.Window{Key: s.key, Window: s.window, Change: s.window - s.base, Most: float64(s.shape.Connections)}, true
}

// windowStored notes that a change was stored.
func (s *site) windowStored(w destination.Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base += w.Change
}

// markChanged makes state return the state again, because it could not be stored.
func (s *site) markChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = true
}

// merge adds what other processes, or earlier ones, found out.
func (s *site) merge(o destination.State, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Suspended.After(s.suspended) {
		s.suspended, s.reason = o.Suspended, o.Reason
	}
	if now.Sub(o.Slow) < slowFor {
		s.slow = later(s.slow, o.Slow)
	}
	s.requireTLS = later(s.requireTLS, o.TLSRequired)
	if now.Sub(o.Hint) < hitsWithin && !slices.ContainsFunc(s.hits, func(at time.Time) bool { return !at.Before(o.Hint) }) {
		s.hits = append(s.hits, o.Hint)
	}
	if !s.changed {
		s.down, s.retry, s.backoff = o.Down, o.Retry, o.Backoff
	}
	if s.shared && o.Window > 0 && now.Sub(o.WindowAt) < destination.WindowLasts { // and what is not stored of its own changes
		s.base, s.window = o.Window, s.within(o.Window+s.window-s.base)
	}
}

// exchangeSites stores what this process found out about sites, and reads what others did.
func (e *Engine) exchangeSites(ctx context.Context) error {
	l, now := &e.sites, e.Now()
	l.mu.Lock()
	all, broken := slices.Collect(maps.Values(l.known)), append(l.broken, e.router().BrokenTLS()...)
	l.broken = nil
	since := l.readUntil
	l.mu.Unlock()
	var changed []destination.State
	var windows []destination.Window
	var of, moved []*site
	for _, s := range all {
		if state, ok := s.state(); ok {
			changed, of = append(changed, state), append(of, s)
		}
		if w, ok := s.windowChange(); ok {
			windows, moved = append(windows, w), append(moved, s)
		}
	}
	if err := destination.Save(ctx, e.DB, changed, now); err != nil {
		for _, s := range of {
			s.markChanged()
		}
		return err
	}
	if err := destination.SaveWindows(ctx, e.DB, windows, now); err != nil {
		return err
	}
	for i, s := range moved {
		s.windowStored(windows[i])
	}
	if err := destination.SaveBrokenTLS(ctx, e.DB, broken, now); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.broken = append(l.broken, broken...)
		return err
	}
	if since.IsZero() {
		since = now.Add(-destination.Keep)
	}
	list, err := destination.Changed(ctx, e.DB, since.Add(-readOverlap))
	if err != nil {
		return err
	}
	hosts, err := destination.BrokenTLS(ctx, e.DB, since.Add(-readOverlap))
	if err != nil {
		return err
	}
	for host, at := range hosts {
		e.router().NoteBrokenTLS(host, at)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readUntil = now
	if l.stored == nil {
		l.stored = map[siteKey]destination.State{}
	}
	for _, state := range list {
		l.stored[state.Key] = state
		if s := l.known[state.Key]; s != nil {
			s.merge(state, now)
		}
	}
	return nil
}

// keepSites exchanges the states of sites until ctx ends, and once more then.
func (e *Engine) keepSites(ctx context.Context) {
	tick, sweep := time.NewTicker(exchangeEvery), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := e.exchangeSites(ctx); err != nil && ctx.Err() == nil {
				e.Log.Error("exchange states of destinations failed, will retry", "err", err)
			}
		case <-sweep.C:
			if err := destination.Sweep(ctx, e.DB, e.Now()); err != nil && ctx.Err() == nil {
				e.Log.Error("delete old states of destinations failed", "err", err)
			}
			e.sites.dropStored(e.Now())
		}
	}
}

// dropStored drops stored states that have no effect any more.
func (l *sites) dropStored(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.stored, func(_ siteKey, s destination.State) bool {
		last := later(later(later(s.Suspended, s.Retry), later(s.Slow, s.Hint)), later(s.TLSRequired, s.WindowAt))
		return now.Sub(last) > destination.Keep
	})
}
