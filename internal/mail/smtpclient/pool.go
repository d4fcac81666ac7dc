package smtpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrPoolClosed reports a Get on a closed pool.
var ErrPoolClosed = errors.New("the connection pool is closed")

// Limits bound a Pool. A zero field means the default.
type Limits struct {
	Connections int           // open at once, idle ones included; default 10
	Messages    int           // per connection; default 100
	Idle        time.Duration // how long an unused connection is kept; default 30 s
}

// Pool keeps connections to one server for reuse. Every Get must be followed by a Put. It is safe for
// concurrent use.
type Pool struct {
	limits Limits
	dial   func(context.Context) (*Conn, error)

	mu      sync.Mutex
	closed  bool
	open    int // connections that exist, are being opened or closed
	idle    []idleConn
	waiting []chan *Conn // each receives a connection, or nil, which means to try again
	reap    *time.Timer  // set while connections are idle
	closing sync.WaitGroup
}

type idleConn struct {
	c     *Conn
	since time.Time
}

// probeAfter is how long a connection may have been idle without being checked before use.
const probeAfter = time.Second

// NewPool returns a pool of connections made by cfg.
func NewPool(cfg Config, limits Limits) *Pool {
	return &Pool{
		limits: Limits{
			Connections: cmp.Or(limits.Connections, 10),
			Messages:    cmp.Or(limits.Messages, 100),
			Idle:        cmp.Or(limits.Idle, 30*time.Second),
		},
		dial: func(ctx context.Context) (*Conn, error) { return Dial(ctx, cfg) },
	}
}

// Get returns a connection that is ready to send: the one used last, or a new one, as soon as the
// limit allows it. Its errors are those of Dial, the cause of ctx, and ErrPoolClosed.
func (p *Pool) Get(ctx context.Context) (*Conn, error) {
	for {
		c, wait, err := p.takeIdle()
		switch {
		case err != nil:
			return nil, err
		case wait != nil:
			if c, err = p.awaitConn(ctx, wait); err != nil {
				return nil, err
			}
			if c == nil {
				continue
			}
		case c == nil:
			return p.dialNew(ctx)
		}
		return c, nil
	}
}

// takeIdle returns an idle connection, or a place in the queue, or neither, which means that the caller
// may dial.
func (p *Pool) takeIdle() (*Conn, chan *Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.closed {
			return nil, nil, ErrPoolClosed
		}
		n := len(p.idle)
		if n == 0 {
			break
		}
		last := p.idle[n-1]
		p.idle = slices.Delete(p.idle, n-1, n)
		if time.Since(last.since) < probeAfter {
			return last.c, nil, nil
		}
		p.mu.Unlock()
		alive := last.c.Alive()
		p.mu.Lock()
		if alive {
			return last.c, nil, nil
		}
		last.c.Close()
		p.releasePlace()
	}
	if p.open < p.limits.Connections {
		p.open++
		return nil, nil, nil
	}
	wait := make(chan *Conn, 1)
	p.waiting = append(p.waiting, wait)
	return nil, wait, nil
}

// awaitConn waits for a turn.
func (p *Pool) awaitConn(ctx context.Context, wait chan *Conn) (*Conn, error) {
	select {
	case c := <-wait:
		return c, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(p.waiting, wait)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 { // the turn came at the same moment: pass it on
		if c := <-wait; c != nil {
			p.Put(c)
		} else {
			p.mu.Lock()
			p.wakeFirst()
			p.mu.Unlock()
		}
	}
	return nil, fmt.Errorf("wait for a connection: %w", context.Cause(ctx))
}

func (p *Pool) dialNew(ctx context.Context) (*Conn, error) {
	c, err := p.dial(ctx)
	if err != nil {
		p.mu.Lock()
		p.releasePlace()
		p.mu.Unlock()
	}
	return c, err
}

// Put returns a connection to the pool. One that cannot or must not send any more is closed, with
// QUIT if possible.
func (p *Pool) Put(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed { // Close does not wait for closing connections any more
		p.mu.Unlock()
		c.Quit()
		p.mu.Lock()
		p.open--
		return
	}
	if !c.Usable() || c.Sent() >= p.limits.Messages || p.open > p.limits.Connections {
		p.closeConn(c)
		return
	}
	if len(p.waiting) > 0 {
		wait := p.waiting[0]
		p.waiting = slices.Delete(p.waiting, 0, 1)
		wait <- c
		return
	}
	p.idle = append(p.idle, idleConn{c, time.Now()})
	if p.reap == nil {
		p.reap = time.AfterFunc(p.limits.Idle, p.reapIdle)
	}
}

// Resize changes how many connections may be open at once. Surplus connections are closed, those in
// use when they are Put.
func (p *Pool) Resize(connections int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits.Connections = connections
	surplus := min(max(p.open-connections, 0), len(p.idle))
	for _, i := range p.idle[:surplus] {
		p.closeConn(i.c)
	}
	p.idle = slices.Delete(p.idle, 0, surplus)
	for n := min(connections-p.open, len(p.waiting)); n > 0; n-- {
		p.wakeFirst()
	}
}

// Close closes idle connections and waits until they are gone. Connections in
// use are closed when they are Put; waiting calls of Get return ErrPoolClosed.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.reap != nil {
		p.reap.Stop()
	}
	for _, i := range p.idle {
		p.closeConn(i.c)
	}
	p.idle = nil
	for len(p.waiting) > 0 {
		p.wakeFirst()
	}
	p.mu.Unlock()
	p.closing.Wait()
}

// reapIdle closes connections that were idle for longer than Limits.Idle.
func (p *Pool) reapIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reap = nil
	if p.closed {
		return
	}
	now := time.Now()
	stale := 0
	for stale < len(p.idle) && now.Sub(p.idle[stale].since) >= p.limits.Idle {
		p.closeConn(p.idle[stale].c)
		stale++
	}
	p.idle = slices.Delete(p.idle, 0, stale)
	if len(p.idle) > 0 {
		p.reap = time.AfterFunc(p.limits.Idle-now.Sub(p.idle[0].since), p.reapIdle)
	}
}

// closeConn closes c and then releases its place. The caller holds p.mu.
func (p *Pool) closeConn(c *Conn) {
	if c.broken {
		c.Close()
		p.releasePlace()
		return
	}
	p.closing.Go(func() {
		c.Quit()
		p.mu.Lock()
		p.releasePlace()
		p.mu.Unlock()
	})
}

// releasePlace frees the place of a connection. The caller holds p.mu.
func (p *Pool) releasePlace() {
	p.open--
	p.wakeFirst()
}

// wakeFirst lets the first in the queue try again. The caller holds p.mu.
func (p *Pool) wakeFirst() {
	if len(p.waiting) == 0 {
		return
	}
	p.waiting[0] <- nil
	p.waiting = slices.Delete(p.waiting, 0, 1)
}
