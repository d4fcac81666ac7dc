package directmx

import (
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// idleFor is how long an unused connection is kept.
const idleFor = 30 * time.Second

// Target is what a connection leads to. Connections with the same target can be used for each other.
type Target struct {
	Destination string // the servers, and our address
	Key         string // these and what was verified
}

// Destinations counts the connections of several pools by destination, since servers count them by our address. It
// is safe for concurrent use.
type Destinations struct {
	mu     sync.Mutex // guards the pools, too
	ended  *sync.Cond // signaled when a connection was closed or became idle, or more may be open
	open   map[string]count
	pools  map[*Pool]bool
	wanted int // calls of Reserve that wait
}

// NewDestinations returns an empty Destinations.
func NewDestinations() *Destinations {
	d := &Destinations{open: map[string]count{}, pools: map[*Pool]bool{}}
	d.ended = sync.NewCond(&d.mu)
	return d
}

// Open returns how many connections to a destination are open, being made or being closed.
func (d *Destinations) Open(dest string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[dest].open
}

// Limit closes idle connections to a destination until it has no more than most, as far as there are any, and lets
// calls of Reserve look at their maximum again.
func (d *Destinations) Limit(dest string, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.open[dest].staying() > most && d.endIdle(dest) {
	}
	d.ended.Broadcast()
}

// endIdle closes the connection to a destination that was idle longest in its pool, and reports whether there was
// one. The caller holds d.mu.
func (d *Destinations) endIdle(dest string) bool {
	for p := range d.pools {
		if i := slices.IndexFunc(p.idle, func(c idleConn) bool { return c.to.Destination == dest }); i >= 0 {
			c := p.idle[i]
			p.remove(i)
			p.end(c.to, c.conn)
			return true
		}
	}
	return false
}

// Pool keeps connections for reuse. It counts them, and its Destinations counts them by destination. It closes the
// one that was idle longest to make place for a new one. Each user has at most one connection at a time, and there
// are at most as many users as the pool has places. It is safe for concurrent use.
type Pool struct {
	dests  *Destinations
	places int
	wanted int // calls of Reserve that wait
	all    count
	idle   []idleConn     // the one used last comes last
	free   map[string]int // idle connections by key
	reap   *time.Timer
	closed bool
	ending sync.WaitGroup
}

// count counts connections.
type count struct {
	open    int // in use, idle or being closed
	closing int // of these, being closed
}

// staying returns the number of connections that are not being closed.
func (c count) staying() int { return c.open - c.closing }

type idleConn struct {
	to    Target
	conn  *smtpclient.Conn
	since time.Time
}

// NewPool returns a pool with a number of places.
func NewPool(places int, dests *Destinations) *Pool {
	p := &Pool{places: places, dests: dests, free: map[string]int{}}
	dests.mu.Lock()
	defer dests.mu.Unlock()
	dests.pools[p] = true
	return p
}

// Idle reports whether there is an idle connection with a key.
func (p *Pool) Idle(key string) bool {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	return p.free[key] > 0
}

// Spare reports whether a connection can be made without closing one that was idle for less than a time.
func (p *Pool) Spare(idle time.Duration) bool {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	return p.all.open < p.places || len(p.idle) > 0 && time.Since(p.idle[0].since) >= idle
}

// Take returns the idle connection with a key that was used last, and for how long it was idle, or nil.
// The caller gives it back with Put or Discard.
func (p *Pool) Take(key string) (*smtpclient.Conn, time.Duration) {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	if p.free[key] == 0 {
		return nil, 0
	}
	for i, c := range slices.Backward(p.idle) {
		if c.to.Key == key {
			p.remove(i)
			return c.conn, time.Since(c.since)
		}
	}
	return nil, 0
}

// Reserve takes a place for a new connection, which the caller gives back with Put, Discard or Release.
// It closes idle connections if there are no other places, or if the destination has as many as most returns, which
// other pools may have opened. It waits until they are closed, or connections in use become idle. It returns
// false if the destination may have no connections at all.
func (p *Pool) Reserve(to Target, most func() int) bool {
	d := p.dests
	d.mu.Lock()
	defer d.mu.Unlock()
	p.wanted++
	d.wanted++
	defer func() { p.wanted--; d.wanted-- }()
	for {
		allowed, at := most(), d.open[to.Destination]
		if allowed < 1 {
			return false
		}
		crowded, full := at.open >= allowed, p.all.open >= p.places
		switch {
		case at.staying() >= allowed && d.endIdle(to.Destination):
			continue
		case crowded:
		case full && p.all.staying()+p.wanted > p.places && len(p.idle) > 0:
			p.endIdle(1)
			continue
		case !full || p.all.closing == 0:
			p.add(to, 1)
			return true
		}
		d.ended.Wait()
	}
}

// Release gives back a place without a connection.
func (p *Pool) Release(to Target) {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	p.add(to, -1)
	p.dests.ended.Broadcast()
}

// Discard closes a connection that the server has ended.
func (p *Pool) Discard(to Target, c *smtpclient.Conn) {
	_ = c.Close()
	p.Release(to)
}

// Put gives back a connection, which may have carried up to a number of messages. One that cannot or
// must not be used again is closed, also if its destination has more than most.
func (p *Pool) Put(to Target, c *smtpclient.Conn, messages, most int) {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	if p.closed || !c.Usable() || c.Sent() >= messages || p.all.staying() > p.places || p.dests.open[to.Destination].staying() > most {
		p.end(to, c)
		return
	}
	if p.dests.wanted > 0 {
		p.dests.ended.Broadcast()
	}
	p.idle = append(p.idle, idleConn{to, c, time.Now()})
	p.free[to.Key]++
	if p.reap == nil {
		p.reap = time.AfterFunc(idleFor, p.reapIdle)
	}
}

// Resize changes the number of places.
func (p *Pool) Resize(places int) {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	p.places = places
	p.endIdle(min(max(p.all.staying()-places, 0), len(p.idle)))
}

// Close closes all idle connections and waits until they are closed.
func (p *Pool) Close() {
	p.dests.mu.Lock()
	p.closed = true
	delete(p.dests.pools, p)
	p.endIdle(len(p.idle))
	if p.reap != nil {
		p.reap.Stop()
	}
	p.dests.mu.Unlock()
	p.ending.Wait()
}

// add adds n to the number of open connections. The caller holds the lock of p.dests.
func (p *Pool) add(to Target, n int) {
	p.all.open += n
	at := p.dests.open[to.Destination]
	if at.open += n; at.open == 0 {
		delete(p.dests.open, to.Destination)
		return
	}
	p.dests.open[to.Destination] = at
}

// remove removes an idle connection from the list. The caller holds the lock of p.dests.
func (p *Pool) remove(i int) {
	key := p.idle[i].to.Key
	if p.free[key]--; p.free[key] == 0 {
		delete(p.free, key)
	}
	p.idle = slices.Delete(p.idle, i, i+1)
}

// endIdle closes the n connections that were idle longest. The caller holds the lock of p.dests.
func (p *Pool) endIdle(n int) {
	for range n {
		c := p.idle[0]
		p.remove(0)
		p.end(c.to, c.conn)
	}
}

// end closes a connection, with QUIT if possible. The caller holds the lock of p.dests.
func (p *Pool) end(to Target, c *smtpclient.Conn) {
	mark := func(n int) {
		p.all.closing += n
		at := p.dests.open[to.Destination]
		at.closing += n
		p.dests.open[to.Destination] = at
	}
	mark(1)
	p.ending.Go(func() {
		_ = c.Quit()
		p.dests.mu.Lock()
		defer p.dests.mu.Unlock()
		mark(-1)
		p.add(to, -1)
		p.dests.ended.Broadcast()
	})
}

// reapIdle closes connections that were idle for too long.
func (p *Pool) reapIdle() {
	p.dests.mu.Lock()
	defer p.dests.mu.Unlock()
	p.reap = nil
	if p.closed {
		return
	}
	now, stale := time.Now(), 0
	for stale < len(p.idle) && now.Sub(p.idle[stale].since) >= idleFor {
		stale++
	}
	p.endIdle(stale)
	if len(p.idle) > 0 {
		p.reap = time.AfterFunc(idleFor-now.Sub(p.idle[0].since), p.reapIdle)
	}
}
