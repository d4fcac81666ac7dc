package endpoint_test

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestADatabaseThatIsDownIsUnavailable(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if !strings.HasPrefix(address, "postgres") {
			t.Skip("SQLite lives in our own process")
		}
		cable, db := openThroughProxy(t, address)
		s := newServer(t, options{db: db})
		post := func() reply { return s.do("POST /t/acme/api/things", `{"name": "x"}`, key, "X-API-Key: "+writer) }
		if got := post(); got.status != 201 {
			t.Fatalf("while it is up: %d %s", got.status, got.body)
		}
		cable.close()
		for range 2 { // on a connection that breaks, then on one that cannot be made
			if got := post(); got.status != 503 || got.code() != "UNAVAILABLE" {
				t.Errorf("while it is down: %d %s\n%s", got.status, got.body, s.log)
			}
		}
	})
}

// openThroughProxy returns a PostgreSQL database that is connected by a cable.
func openThroughProxy(t *testing.T, address string) (*proxy, *sqldb.DB) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	cable := startProxy(t, serverOf(u))
	u.Host = cable.Addr().String()
	query := u.Query()
	query.Del("host")
	u.RawQuery = query.Encode()
	db, err := sqldb.Open(t.Context(), u.String(), sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cable, db
}

// proxy is a proxy to a server until it is pulled. Frozen, it transfers
// nothing but keeps the connections open.
type proxy struct {
	net.Listener
	mu     sync.Mutex
	conns  []net.Conn
	frozen bool
}

// serverOf returns where the server of an address listens: host and port, or
// the path of its socket.
func serverOf(u *url.URL) string {
	if dir := u.Query().Get("host"); dir != "" {
		return filepath.Join(dir, ".s.PGSQL.5432")
	}
	return u.Host
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &proxy{Listener: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			network := "tcp"
			if filepath.IsAbs(server) {
				network = "unix"
			}
			far, err := net.Dial(network, server)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, near, far)
			c.mu.Unlock()
			wg.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
			wg.Go(func() { _, _ = io.Copy(freezableConn{far, c}, near); _ = far.Close() })
		}
	})
	t.Cleanup(func() {
		c.close()
		wg.Wait()
	})
	return c
}

func (c *proxy) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
}

// freezableConn discards what is written while the cable is frozen.
type freezableConn struct {
	net.Conn
	proxy *proxy
}

func (v freezableConn) Write(b []byte) (int, error) {
	v.proxy.mu.Lock()
	frozen := v.proxy.frozen
	v.proxy.mu.Unlock()
	if frozen {
		return len(b), nil
	}
	return v.Conn.Write(b)
}

func (c *proxy) close() {
	_ = c.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}
