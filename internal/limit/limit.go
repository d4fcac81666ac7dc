// Package limit counts what may be done only so often.
//
// A limit is a number of permits per fixed window. A key's window starts at its
// first take and ends Window later; what was refused takes nothing. On SQLite,
// where one process serves, windows live in memory and are exact. On PostgreSQL
// several processes share them: a row counts the permits handed out, and each
// process takes a few at a time, fewer as the window fills, so that the limit
// is never exceeded and most takes touch no database. Permits that one process
// holds and does not use are lost to the others until the window ends.
//
// What it keeps in memory is bounded. When there are too many windows, those that
// are emptiest go, so that a flood of keys does not free the ones that are full.
package limit

import (
	"context"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Rule is a limit: at most Max takes per key in Window.
type Rule struct {
	Name   string // tells the keys of one rule from those of another
	Max    int
	Window time.Duration
}

// State is what is left of a window after a take or a look.
type State struct {
	Allowed   bool
	Limit     int
	Remaining int
	Reset     time.Duration // until the window ends; Rule.Window when none has begun
}

// Limiter keeps the windows. It is safe for concurrent use.
type Limiter struct {
	store store

	mu      sync.Mutex
	windows map[string]*window
	sweepAt int // how many windows start a sweep
	most    int // how many windows are kept
}

// store hands out permits of windows that several processes share.
type store interface {
	lease(ctx context.Context, name string, r Rule, n int, now time.Time) (grant, error)
	look(ctx context.Context, name string, r Rule, now time.Time) (grant, error)
	giveBack(ctx context.Context, name string, now time.Time) error
	clear(ctx context.Context, name string) error
	sweep(ctx context.Context, now time.Time) error
}

// grant is what a store gave: n permits of the window that ends at ends, in
// which used are handed out by now.
type grant struct {
	n    int
	used int
	ends time.Time // zero: no window
}

// window is one key's. When it is shared, used counts what all processes took
// and held is what this one still has of that.
type window struct {
	mu   sync.Mutex
	max  int // of its rule
	ends time.Time
	used int
	held int
	seen time.Time // when the store was last asked
}

const (
	sweepFrom  = 4096
	mostKept   = 100_000
	sampleSize = 16 // windows that are compared to find an empty one
)

// New returns a limiter for processes that share db.
func New(db *sqldb.DB) *Limiter {
	l := &Limiter{windows: map[string]*window{}, sweepAt: sweepFrom, most: mostKept}
	if db != nil && db.Dialect() == sqldb.Postgres {
		l.store = rows{db}
	}
	return l
}

// Take takes one permit for key, if one is left.
func (l *Limiter) Take(ctx context.Context, r Rule, key string, now time.Time) (State, error) {
	name := r.Name + ":" + key
	w := l.window(name, r, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !now.Before(w.ends) {
		w.ends, w.used, w.held, w.seen = time.Time{}, 0, 0, time.Time{}
	}
	if l.store == nil {
		if w.ends.IsZero() {
			w.ends = now.Add(r.Window)
		}
		if w.used >= r.Max {
			return w.state(r, false, now), nil
		}
		w.used++
		return w.state(r, true, now), nil
	}
	if w.held == 0 {
		// A full window stays full; it is asked about again now and then,
		// because a permit may have been given back elsewhere.
		if w.used >= r.Max && now.Sub(w.seen) < time.Second {
			return w.state(r, false, now), nil
		}
		g, err := l.store.lease(ctx, name, r, portion(r, w.used), now)
		if err != nil {
			return State{}, err
		}
		w.ends, w.used, w.held, w.seen = g.ends, g.used, g.n, now
		if g.n == 0 {
			return w.state(r, false, now), nil
		}
	}
	w.held--
	return w.state(r, true, now), nil
}

// Look tells the state of key's window and takes nothing. Allowed says whether
// a take would succeed now.
func (l *Limiter) Look(ctx context.Context, r Rule, key string, now time.Time) (State, error) {
	name := r.Name + ":" + key
	w := l.window(name, r, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !now.Before(w.ends) {
		w.ends, w.used, w.held, w.seen = time.Time{}, 0, 0, time.Time{}
	}
	if l.store != nil && now.Sub(w.seen) >= time.Second {
		g, err := l.store.look(ctx, name, r, now)
		if err != nil {
			return State{}, err
		}
		if !g.ends.IsZero() {
			w.ends, w.used = g.ends, g.used
		}
		w.seen = now
	}
	s := w.state(r, false, now)
	s.Allowed = s.Remaining > 0
	return s, nil
}

// GiveBack returns the permit that a take in the present window took.
func (l *Limiter) GiveBack(ctx context.Context, r Rule, key string, now time.Time) error {
	name := r.Name + ":" + key
	w := l.window(name, r, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !now.Before(w.ends) || w.used == 0 {
		return nil
	}
	if l.store != nil {
		if err := l.store.giveBack(ctx, name, now); err != nil {
			return err
		}
	}
	w.used--
	return nil
}

// Clear empties key's window: what was taken in it is forgotten.
func (l *Limiter) Clear(ctx context.Context, r Rule, key string, now time.Time) error {
	name := r.Name + ":" + key
	w := l.window(name, r, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.store != nil {
		if err := l.store.clear(ctx, name); err != nil {
			return err
		}
	}
	w.ends, w.used, w.held, w.seen = time.Time{}, 0, 0, time.Time{}
	return nil
}

// Sweep forgets windows that have ended, for good.
func (l *Limiter) Sweep(ctx context.Context, now time.Time) error {
	l.mu.Lock()
	l.forget(now)
	l.mu.Unlock()
	if l.store == nil {
		return nil
	}
	return l.store.sweep(ctx, now)
}

// portion is how many permits are taken at once: the closer the window is to
// its end, and the smaller the limit, the fewer.
func portion(r Rule, used int) int {
	if r.Max < 100 {
		return 1
	}
	return min(max((r.Max-used)/10, 1), 20)
}

func (l *Limiter) window(name string, r Rule, now time.Time) *window {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.windows[name]
	if w == nil {
		if len(l.windows) >= min(l.sweepAt, l.most) {
			l.makeRoom(now)
		}
		w = &window{max: r.Max}
		l.windows[name] = w
	}
	return w
}

// makeRoom forgets what has ended, when that is due, and otherwise the emptiest
// window of a sample. Map iteration begins at a random place.
func (l *Limiter) makeRoom(now time.Time) {
	if len(l.windows) >= l.sweepAt {
		l.forget(now)
		l.sweepAt = max(sweepFrom, 2*len(l.windows))
	}
	if len(l.windows) < l.most {
		return
	}
	least, emptiest, seen := 2.0, "", 0
	for name, w := range l.windows {
		if !w.mu.TryLock() {
			continue
		}
		if full := w.fullness(now); full < least {
			least, emptiest = full, name
		}
		w.mu.Unlock()
		if seen++; seen == sampleSize {
			break
		}
	}
	delete(l.windows, emptiest)
}

// fullness is how much of the window is used, from 0 to 1.
func (w *window) fullness(now time.Time) float64 {
	if !now.Before(w.ends) || w.max == 0 {
		return 0
	}
	return float64(w.used-w.held) / float64(w.max)
}

// forget drops windows that have ended and that are not in use.
func (l *Limiter) forget(now time.Time) {
	for name, w := range l.windows {
		if !w.mu.TryLock() {
			continue
		}
		if !now.Before(w.ends) {
			delete(l.windows, name)
		}
		w.mu.Unlock()
	}
}

func (w *window) state(r Rule, allowed bool, now time.Time) State {
	reset := r.Window
	if !w.ends.IsZero() {
		reset = w.ends.Sub(now)
	}
	return State{
		Allowed:   allowed,
		Limit:     r.Max,
		Remaining: max(r.Max-w.used, 0) + w.held,
		Reset:     reset,
	}
}
