package app

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// connections limits the number of a server's connections, and of those from one address. New connections are
// always accepted. Beyond a limit, one connection is closed: of those that the limit counts, the one that has been idle
// longest, or else the one that has waited longest for the rest of a request. If there is none, the new one is spare.
// Spare connections serve one request: health checks as usual, everything else with 503. Their number is limited
// too, and the oldest is closed for a new one, so that health checks are served however many connections clients
// hold open.
type connections struct {
	net.Listener
	connectionLimits
	spare int
	now   func() time.Time

	mu    sync.Mutex
	open  map[net.Conn]*connection
	from  map[netip.Prefix]int // the connections of each network that are not spare
	spent []net.Conn           // the spare connections, oldest first
}

// connectionLimits are how many connections there may be.
type connectionLimits struct {
	all, perAddress int                   // an address of IPv6 is a network of /64, which one client may have
	unlimited       func(netip.Addr) bool // addresses that perAddress does not limit, since many clients share them
}

// connection is what is known about an open connection.
type connection struct {
	spare bool
	from  netip.Prefix // invalid: perAddress does not limit it
	phase phase
	since time.Time // of the phase
}

type phase int

const (
	receiving phase = iota // waits for the rest of a request; since its last part
	working                // the request is answered
	idle                   // waits for another request
)

// spareConnections is the maximum number of connections beyond the limit.
const spareConnections = 64

func limitConnections(l net.Listener, limits connectionLimits) *connections {
	return &connections{
		Listener: l, connectionLimits: limits, spare: spareConnections, now: time.Now,
		open: map[net.Conn]*connection{}, from: map[netip.Prefix]int{},
	}
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
	one := &connection{from: c.network(conn), since: c.now()}
	full := false
	switch {
	case one.from.IsValid() && c.from[one.from] >= c.perAddress:
		victim = c.expendable(one.from)
		full = victim == nil
	case len(c.open)-len(c.spent) >= c.all:
		victim = c.expendable(netip.Prefix{})
		full = victim == nil
	}
	if full {
		one.spare = true
		if len(c.spent) == c.spare {
			victim = c.spent[0]
		}
		c.spent = append(c.spent, conn)
	}
	if victim != nil {
		c.remove(victim)
	}
	c.open[conn] = one
	if !full && one.from.IsValid() {
		c.from[one.from]++
	}
	return victim
}

// network returns the network that perAddress limits for a connection, which is invalid if there is none.
func (c *connections) network(conn net.Conn) netip.Prefix {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if c.unlimited != nil && c.unlimited(ip) {
		return netip.Prefix{}
	}
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	network, _ := ip.Prefix(bits) // of an address with at least that many bits
	return network
}

// expendable returns the connection to close for a new one, of a network if that is valid, or nil.
func (c *connections) expendable(from netip.Prefix) (found net.Conn) {
	var best *connection
	for conn, one := range c.open {
		if one.spare || one.phase == working || from.IsValid() && one.from != from {
			continue
		}
		if best == nil || one.phase > best.phase || one.phase == best.phase && one.since.Before(best.since) {
			best, found = one, conn
		}
	}
	return found
}

// remove forgets a connection.
func (c *connections) remove(conn net.Conn) {
	one := c.open[conn]
	delete(c.open, conn)
	if !one.spare {
		if c.from[one.from]--; c.from[one.from] <= 0 {
			delete(c.from, one.from)
		}
		return
	}
	for i, s := range c.spent {
		if s == conn {
			c.spent = append(c.spent[:i], c.spent[i+1:]...)
			break
		}
	}
}

// watch is the server's ConnState hook.
func (c *connections) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn = plainConn(conn)
	one := c.open[conn]
	if one == nil {
		return
	}
	switch state {
	case http.StateIdle:
		one.phase, one.since = idle, c.now()
	case http.StateActive: // the header of a request was read
		one.phase = working
	case http.StateClosed, http.StateHijacked:
		c.remove(conn)
	}
}

// receives records that a part of a request has arrived, or with complete its end.
func (c *connections) receives(one *connection, complete bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.phase, one.since = receiving, c.now()
	if complete {
		one.phase = working
	}
}

type connectionKey struct{}

// mark is the server's ConnContext hook: it makes the connection known to its requests.
func (c *connections) mark(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.WithValue(ctx, connectionKey{}, c.open[plainConn(conn)])
}

// plainConn returns the connection that was accepted, below TLS.
func plainConn(conn net.Conn) net.Conn {
	if t, ok := conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return conn
}

// handler serves only health checks on spare connections, and observes how the bodies of requests arrive.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one, _ := r.Context().Value(connectionKey{}).(*connection)
		spare := one != nil && one.spare
		if spare {
			w.Header().Set("Connection", "close")
		}
		if spare && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			w.Header().Set("Retry-After", "1")
			writeJSON(w, http.StatusServiceUnavailable, map[string]any{"error": map[string]any{
				"code": "UNAVAILABLE", "message": "too many connections; try again soon", "details": map[string]string{"reason": "connections"},
			}})
			return
		}
		if one != nil && r.Body != nil && r.Body != http.NoBody {
			c.receives(one, false)
			r.Body = &observedBody{r.Body, func(complete bool) { c.receives(one, complete) }}
		}
		next.ServeHTTP(w, r)
	})
}

// observedBody reports each part of a body that is read.
type observedBody struct {
	io.ReadCloser
	received func(complete bool)
}

// Read reads a part of the body.
func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.received(err != nil)
	return n, err
}
