package inbound

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxGuesses   = 200              // refused recipients of one network, within guessesKept
	guessesKept  = 10 * time.Minute // after which the count begins anew
	maxGuessFrom = 10_000           // networks that are counted at a time
)

// limited is a listener that limits connections, altogether and of one network, and refuses networks
// that have asked for many unknown recipients.
type limited struct {
	net.Listener
	now     func() time.Time
	mu      sync.Mutex
	open    map[netip.Addr]int
	all     int
	guesses map[netip.Addr]int
	since   time.Time // when counting guesses began
}

func newLimited(l net.Listener, now func() time.Time) *limited {
	return &limited{Listener: l, now: now, open: map[netip.Addr]int{}, guesses: map[netip.Addr]int{}, since: now()}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := network(c.RemoteAddr())
		if refusal := l.admit(from); refusal == "" {
			return &countedConn{Conn: c, limited: l, from: from, end: time.Now().Add(sessionTimeout)}, nil
		} else {
			_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // the reply fits in an empty buffer
			_, _ = io.WriteString(c, refusal)
			_ = c.Close()
		}
	}
}

// admit counts a connection, or returns the reply by which it is refused.
func (l *limited) admit(from netip.Addr) (refusal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.all >= maxConnections || l.open[from] >= maxPerAddress:
		return "421 4.7.0 Too many connections\r\n"
	case l.guessed() >= 0 && l.guesses[from] >= maxGuesses:
		return "421 4.7.0 Too many unknown recipients\r\n"
	}
	l.all++
	l.open[from]++
	return ""
}

// guessed drops old counts and returns the number of networks that are counted.
func (l *limited) guessed() int {
	if now := l.now(); now.Sub(l.since) >= guessesKept {
		clear(l.guesses)
		l.since = now
	}
	return len(l.guesses)
}

// guess counts a recipient that was refused.
func (l *limited) guess(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.guesses[from]; known || l.guessed() < maxGuessFrom {
		l.guesses[from]++
	}
}

func (l *limited) release(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.open[from]--; l.open[from] <= 0 {
		delete(l.open, from)
	}
}

// network returns the address that connections are counted by.
func network(a net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}

// countedConn is a connection that is counted until it is closed. It fails after sessionTimeout, so
// that a client that sends a command now and then does not occupy it for ever.
type countedConn struct {
	net.Conn
	limited *limited
	from    netip.Addr
	end     time.Time
	closed  atomic.Bool
}

func (c *countedConn) SetDeadline(t time.Time) error     { return c.Conn.SetDeadline(c.atMost(t)) }
func (c *countedConn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.atMost(t)) }
func (c *countedConn) SetWriteDeadline(t time.Time) error {
	return c.Conn.SetWriteDeadline(c.atMost(t))
}

func (c *countedConn) atMost(t time.Time) time.Time {
	if t.IsZero() || t.After(c.end) {
		return c.end
	}
	return t
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.limited.release(c.from)
	}
	return c.Conn.Close()
}
