package deliver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/senders/destination"
)

// How often the states of destinations are exchanged with other processes, and by how much of the past two
// reads overlap: other processes may have other clocks.
const (
	exchangeEvery = 5 * time.Second
	readOverlap   = time.Minute
)

// state returns the state of a destination if it has changed since the last call.
func (d *dest) state() (destination.State, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.changed {
		return destination.State{}, false
	}
	d.changed = false
	state := destination.State{
		Key: d.key, Suspended: d.suspended, Reason: d.reason, Slow: d.slow, TLSRequired: d.requireTLS,
		Down: d.down, Retry: d.retry, Backoff: d.backoff,
	}
	if n := len(d.hits); n > 0 {
		state.Hint = d.hits[n-1]
	}
	return state, true
}

// windowChange returns the change of the number of connections since the destination was last stored or merged, if it
// makes a difference: the numbers differ as integers.
func (d *dest) windowChange() (destination.Window, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.shared || int(d.window) == int(d.base) {
		return destination.Window{}, false
	}
	return destination.Window{Key: d.key, Window: d.window, Change: d.window - d.base, Most: float64(d.shape.Connections)}, true
}

// windowStored notes that a change was stored.
func (d *dest) windowStored(w destination.Window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base += w.Change
}

// markChanged makes state return the state again, because it could not be stored.
func (d *dest) markChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = true
}

// merge adds what other processes, or earlier ones, found out.
func (d *dest) merge(o destination.State, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.Suspended.After(d.suspended) {
		d.suspended, d.reason = o.Suspended, o.Reason
	}
	if now.Sub(o.Slow) < slowFor {
		d.slow = later(d.slow, o.Slow)
	}
	d.requireTLS = later(d.requireTLS, o.TLSRequired)
	if now.Sub(o.Hint) < hitsWithin && !slices.ContainsFunc(d.hits, func(at time.Time) bool { return !at.Before(o.Hint) }) {
		d.hits = append(d.hits, o.Hint)
	}
	if !d.changed {
		d.down, d.retry, d.backoff = o.Down, o.Retry, o.Backoff
	}
	if d.shared && o.Window > 0 && now.Sub(o.WindowAt) < destination.WindowLasts { // and what is not stored of its own changes
		d.base, d.window = o.Window, d.within(o.Window+d.window-d.base)
	}
}

// exchangeDestinations stores what this process found out about destinations, and reads what others did.
func (e *Engine) exchangeDestinations(ctx context.Context) error {
	l, now := &e.dests, e.Now()
	l.mu.Lock()
	all, broken := slices.Collect(maps.Values(l.known)), append(l.broken, e.router().BrokenTLS()...)
	l.broken = nil
	since := l.readUntil
	l.mu.Unlock()
	var changed []destination.State
	var windows []destination.Window
	var stored, moved []*dest
	for _, d := range all {
		if state, ok := d.state(); ok {
			changed, stored = append(changed, state), append(stored, d)
		}
		if w, ok := d.windowChange(); ok {
			windows, moved = append(windows, w), append(moved, d)
		}
	}
	if err := destination.Save(ctx, e.DB, changed, now); err != nil {
		for _, d := range stored {
			d.markChanged()
		}
		return err
	}
	if err := destination.SaveWindows(ctx, e.DB, windows, now); err != nil {
		return err
	}
	for i, d := range moved {
		d.windowStored(windows[i])
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
		l.stored = map[destination.Key]destination.State{}
	}
	for _, state := range list {
		l.stored[state.Key] = state
		if d := l.known[state.Key]; d != nil {
			d.merge(state, now)
		}
	}
	return nil
}

// keepDestinations exchanges the states of destinations until ctx ends, and once more then.
func (e *Engine) keepDestinations(ctx context.Context) {
	tick, sweep := time.NewTicker(exchangeEvery), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := e.exchangeDestinations(ctx); err != nil && ctx.Err() == nil {
				e.Log.Error("exchange states of destinations failed, will retry", "err", err)
			}
		case <-sweep.C:
			if err := destination.Sweep(ctx, e.DB, e.Now()); err != nil && ctx.Err() == nil {
				e.Log.Error("delete old states of destinations failed", "err", err)
			}
			e.dests.dropStored(e.Now())
		}
	}
}

// dropStored drops stored states that have no effect any more.
func (l *dests) dropStored(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.stored, func(_ destination.Key, d destination.State) bool {
		last := later(later(later(d.Suspended, d.Retry), later(d.Slow, d.Hint)), later(d.TLSRequired, d.WindowAt))
		return now.Sub(last) > destination.Keep
	})
}
