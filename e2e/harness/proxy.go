package harness

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// Proxy connects a program and its PostgreSQL server, and can hold back what
// each sends to the other, like a network partition.
type Proxy struct {
	Database string // the address by which the program reaches the database

	network, target string
	listener        net.Listener

	mu    sync.Mutex
	open  chan struct{} // closed while all goes through
	conns map[net.Conn]bool
	all   sync.WaitGroup
}

// StartProxy starts a proxy for the database at an address.
func StartProxy(database string) (*Proxy, error) {
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	p := &Proxy{open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	p.network, p.target = pgconn.NetworkAddress(config.Host, config.Port)
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	u.Host = p.listener.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	u.RawQuery = q.Encode()
	p.Database = u.String()
	p.all.Go(p.accept)
	return p, nil
}

// Partition delays all data from now on: connections stay open, but nothing is forwarded.
func (p *Proxy) Partition() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default: // partitioned already
	}
}

// Heal ends a partition, and forwards the data that was delayed.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// Close cuts every connection and ends the proxy.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.Heal()
	p.all.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.forward(near) })
	}
}

func (p *Proxy) forward(near net.Conn) {
	defer near.Close()
	if !p.add(near) {
		return
	}
	defer p.remove(near)
	p.awaitOpen()
	far, err := (&net.Dialer{}).DialContext(context.Background(), p.network, p.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !p.add(far) {
		return
	}
	defer p.remove(far)
	var back sync.WaitGroup
	back.Go(func() { p.copy(near, far) })
	p.copy(far, near)
	back.Wait()
}

// copy forwards data in one direction, except during a partition. When it ends, it closes both connections.
func (p *Proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.awaitOpen()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) awaitOpen() {
	p.mu.Lock()
	gate := p.open
	p.mu.Unlock()
	<-gate
}

func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns != nil {
		p.conns[c] = true
	}
	return p.conns != nil
}

func (p *Proxy) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// OtherDatabase returns an address of the same server for another database.
func OtherDatabase(database, name string) (string, error) {
	u, err := url.Parse(database)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return "", fmt.Errorf("%q is not the address of a PostgreSQL database", database)
	}
	u.Path = "/" + name
	return u.String(), nil
}
