package app

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections limits the number of a server's connections. New connections are always accepted.
// Beyond the limit, the connection that has been idle longest is closed; if none is idle, the new
// one is spare. Spare connections serve one request: health checks as usual, everything else with
// 503. Their number is limited too, and the oldest is closed for a new one, so that health checks
// are served however many connections clients hold open.
type connections struct {
	net.Listener
	max, spare int
	now        func() time.Time

	mu    sync.Mutex
	open  map[net.Conn]*connection
	spent []net.Conn // the spare connections, oldest first
}

type connection struct {
	spare bool
	idle  time.Time // since when it is idle; zero while it is not
}

// spareConnections is the maximum number of connections beyond the limit.
const spareConnections = 64

func limitConnections(l net.Listener, most int) *connections {
	return &connections{Listener: l, max: most, spare: spareConnections, now: time.Now, open: map[net.Conn]*connection{}}
}

// Accept returns the next connection.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if victim := c.take(conn); victim != nil {
		_ = victim.Close()
	}
	return conn, nil
}

// take registers a connection, and returns the one to close for it.
func (c *connections) take(conn net.Conn) (victim net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	full := len(c.open)-len(c.spent) >= c.max
	if full {
		if victim = c.longestIdle(); victim != nil {
			delete(c.open, victim)
			full = false
		}
	}
	c.open[conn] = &connection{spare: full}
	if !full {
		return victim
	}
	if len(c.spent) == c.spare {
		victim = c.spent[0]
		c.spent = c.spent[1:]
		delete(c.open, victim)
	}
	c.spent = append(c.spent, conn)
	return victim
}

func (c *connections) longestIdle() (longest net.Conn) {
	var since time.Time
	for conn, at := range c.open {
		if !at.idle.IsZero() && (longest == nil || at.idle.Before(since)) {
			longest, since = conn, at.idle
		}
	}
	return longest
}

// watch is the server's ConnState hook.
func (c *connections) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn = plainConn(conn)
	at := c.open[conn]
	if at == nil {
		return
	}
	switch state {
	case http.StateIdle:
		at.idle = c.now()
	case http.StateActive:
		at.idle = time.Time{}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
		for i, s := range c.spent {
			if s == conn {
				c.spent = append(c.spent[:i], c.spent[i+1:]...)
				break
			}
		}
	}
}

type spareKey struct{}

// mark is the server's ConnContext hook: it marks requests on spare connections.
func (c *connections) mark(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.open[plainConn(conn)]; at != nil && at.spare {
		return context.WithValue(ctx, spareKey{}, true)
	}
	return ctx
}

// plainConn returns the connection that was accepted, below TLS.
func plainConn(conn net.Conn) net.Conn {
	if t, ok := conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return conn
}

// sparing serves only health checks on spare connections.
func sparing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		spare := r.Context().Value(spareKey{}) != nil
		if spare {
			w.Header().Set("Connection", "close")
		}
		if !spare || r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "1")
		writeJSON(w, http.StatusServiceUnavailable, map[string]any{"error": map[string]any{
			"code": "UNAVAILABLE", "message": "too many connections; try again soon", "details": map[string]string{"reason": "connections"},
		}})
	})
}
