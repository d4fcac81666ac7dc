// Package ratelimit limits how often something may be done, per key.
//
// A limit is a number of permits per fixed window. The window of a key starts with its first Acquire
// and ends Window later; a refused Acquire uses no permit. On SQLite, with its single process, windows
// are in memory and exact. On PostgreSQL processes share them: a row counts the permits that were
// granted, and each process leases several at a time, fewer as the window fills, so the limit is
// never exceeded and most calls do not use the database. Permits that a process has leased and does
// not use are not available to others until the window ends.
//
// Memory is bounded. If there are too many windows, the least used of a sample are dropped, so many
// new keys cannot reset windows that are full.
package ratelimit

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Rule is a limit: at most Max takes per key in Window.
type Rule struct {
	Name   string // the namespace of the rule's keys
	Max    int
	Window time.Duration
}

// State describes a window after Acquire or Peek.
type State struct {
	Allowed   bool
	Limit     int
	Remaining int
	Reset     time.Duration // until the window ends; Rule.Window if none has begun
}

// Limiter keeps the windows. It is safe for concurrent use.
type Limiter struct {
	store store

	mu      sync.Mutex
	windows map[string]*window
	sweepAt int // number of windows at which ended ones are dropped
	most    int // maximum number of windows
}

// store grants permits of windows that several processes share.
type store interface {
	lease(ctx context.Context, name string, r Rule, n int, now time.Time) (grant, error)
	look(ctx context.Context, name string, r Rule, now time.Time) (grant, error)
	giveBack(ctx context.Context, name string, now time.Time) error
	clear(ctx context.Context, name string) error
	sweep(ctx context.Context, now time.Time) error
}

// grant is n permits of the window that ends at ends, and the number used so far, by all processes.
type grant struct {
	n    int
	used int
	ends time.Time // zero: no window
}

// window is the window of one key. If it is shared, used counts the permits of all processes, and
// held those of them that this process has leased and not used.
type window struct {
	mu   sync.Mutex
	max  int // of its rule
	ends time.Time
	used int
	held int
	seen time.Time // when the store was last read
}

const (
	sweepFrom  = 4096
	mostKept   = 100_000
	sampleSize = 16 // windows compared to find the least used
)

// New returns a limiter for the processes that use db.
func New(db *sqldb.DB) *Limiter {
	l := &Limiter{windows: map[string]*window{}, sweepAt: sweepFrom, most: mostKept}
	if db != nil && db.Dialect() == sqldb.Postgres {
		l.store = rows{db}
	}
	return l
}

// Acquire uses one permit of key, if one is left.
func (l *Limiter) Acquire(ctx context.Context, r Rule, key string, now time.Time) (State, error) {
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
		// Read a full window once a second: another process may have returned a permit.
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

// Peek returns the state of key's window and uses no permit. Allowed reports whether Acquire would
// succeed now.
func (l *Limiter) Peek(ctx context.Context, r Rule, key string, now time.Time) (State, error) {
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

// GiveBack returns a permit that Acquire used in the current window.
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

// Clear resets the window of key.
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

// Sweep deletes windows that have ended.
func (l *Limiter) Sweep(ctx context.Context, now time.Time) error {
	l.mu.Lock()
	l.dropEnded(now)
	l.mu.Unlock()
	if l.store == nil {
		return nil
	}
	return l.store.sweep(ctx, now)
}

// portion returns how many permits to lease at once: fewer as the window fills, and one at a time
// if the limit is small.
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

// makeRoom drops windows that have ended, if that is due, or else the least used of a sample. Map
// iteration begins at a random place.
func (l *Limiter) makeRoom(now time.Time) {
	if len(l.windows) >= l.sweepAt {
		l.dropEnded(now)
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

// fullness returns the used part of the window, from 0 to 1.
func (w *window) fullness(now time.Time) float64 {
	if !now.Before(w.ends) || w.max == 0 {
		return 0
	}
	return float64(w.used-w.held) / float64(w.max)
}

// dropEnded drops windows that have ended and are not locked.
func (l *Limiter) dropEnded(now time.Time) {
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

// subnet is the length of the IPv6 prefix that is counted as one client: a site with one address
// of a /64 can use all of them (RFC 6177).
const subnet = 64

// Address returns the key of a client's address: an IPv4 address, also one that is mapped into
// IPv6, or the /64 prefix of an IPv6 address.
func Address(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() {
		return ip.String()
	}
	p, err := ip.Prefix(subnet)
	if err != nil {
		return ip.String()
	}
	return p.String()
}
