package directmx

import (
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

const (
	idleFor    = 30 * time.Second // how long an unused connection is kept
	probeAfter = time.Second      // how long one may have been idle without being checked before use
)

// Pool keeps connections to sites for reuse. It counts them, and closes the one that was idle longest
// to make place for a new one. Each user has at most one connection at a time, and there are at most
// as many users as the pool has places. It is safe for concurrent use.
type Pool struct {
	mu      sync.Mutex
	places  int
	open    int        // connections in use, idle or being closed
	closing int        // of these, being closed
	ended   *sync.Cond // signaled when one was closed
	idle    []idleConn // the one used last comes last
	reap    *time.Timer
	closed  bool
	ending  sync.WaitGroup
}

type idleConn struct {
	site  string
	conn  *smtpclient.Conn
	since time.Time
}

// NewPool returns a pool with a number of places.
func NewPool(places int) *Pool {
	p := &Pool{places: places}
	p.ended = sync.NewCond(&p.mu)
	return p
}

// Take returns an idle connection to a site. Without one it returns nil and reserves a place for a new
// connection, which the caller gives back with Put or Release.
func (p *Pool) Take(site string) *smtpclient.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		c := p.idle[i]
		if c.site != site {
			continue
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		if time.Since(c.since) < probeAfter {
			return c.conn
		}
		p.mu.Unlock()
		alive := c.conn.Alive()
		p.mu.Lock()
		if alive {
			return c.conn
		}
		_ = c.conn.Close()
		p.open--
		p.ended.Broadcast()
		i = len(p.idle)
	}
	for p.open >= p.places && (len(p.idle) > 0 || p.closing > 0) {
		if len(p.idle) > 0 {
			p.end(p.idle[0].conn)
			p.idle = slices.Delete(p.idle, 0, 1)
		}
		p.ended.Wait() // for a connection that is being closed
	}
	p.open++
	return nil
}

// Release gives back a place without a connection.
func (p *Pool) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.ended.Broadcast()
}

// Put gives back a connection to a site, which may have carried up to a number of messages. One that
// cannot or must not be used again is closed.
func (p *Pool) Put(site string, c *smtpclient.Conn, messages int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !c.Usable() || c.Sent() >= messages || p.open-p.closing > p.places {
		p.end(c)
		return
	}
	p.idle = append(p.idle, idleConn{site, c, time.Now()})
	if p.reap == nil {
		p.reap = time.AfterFunc(idleFor, p.reapIdle)
	}
}

// Resize changes the number of places.
func (p *Pool) Resize(places int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places = places
	surplus := min(max(p.open-p.closing-places, 0), len(p.idle))
	for _, i := range p.idle[:surplus] {
		p.end(i.conn)
	}
	p.idle = slices.Delete(p.idle, 0, surplus)
}

// Close closes all idle connections and waits until they are closed.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, i := range p.idle {
		p.end(i.conn)
	}
	p.idle = nil
	if p.reap != nil {
		p.reap.Stop()
	}
	p.mu.Unlock()
	p.ending.Wait()
}

// end closes a connection, with QUIT if possible. The caller holds p.mu.
func (p *Pool) end(c *smtpclient.Conn) {
	p.closing++
	p.ending.Go(func() {
		_ = c.Quit()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.open--
		p.closing--
		p.ended.Broadcast()
	})
}

// reapIdle closes connections that were idle for too long.
func (p *Pool) reapIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reap = nil
	if p.closed {
		return
	}
	now, stale := time.Now(), 0
	for stale < len(p.idle) && now.Sub(p.idle[stale].since) >= idleFor {
		p.end(p.idle[stale].conn)
		stale++
	}
	p.idle = slices.Delete(p.idle, 0, stale)
	if len(p.idle) > 0 {
		p.reap = time.AfterFunc(idleFor-now.Sub(p.idle[0].since), p.reapIdle)
	}
}
