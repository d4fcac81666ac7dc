package sqldb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// server is a proxy in front of PostgreSQL. It refuses the first connections with a SQLSTATE, and
// forwards the others.
type server struct {
	listener net.Listener
	network  string // of PostgreSQL: tcp, or unix if it has only a socket
	behind   string // its address there
	refusals atomic.Int32
	state    string
	all      sync.WaitGroup
}

func (s *server) run() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.all.Go(func() {
			defer c.Close()
			if s.refusals.Add(-1) >= 0 {
				b := pgproto3.NewBackend(c, c)
				if _, err := b.ReceiveStartupMessage(); err == nil {
					b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: s.state, Message: "not now"})
					_ = b.Flush()
				}
				return
			}
			p, err := net.Dial(s.network, s.behind)
			if err != nil {
				return
			}
			defer p.Close()
			go func() { _, _ = io.Copy(p, c); _ = p.Close() }()
			_, _ = io.Copy(c, p)
		})
	}
}

// front returns the address of the database through a port on which no process listens yet, and a
// function that starts a proxy there.
func front(t *testing.T, address string, refusals int32, state string) (string, func()) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := pgconn.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{state: state}
	s.network, s.behind = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	s.refusals.Store(refusals)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host = free.Addr().String()
	q := u.Query()
	q.Del("host") // would take precedence over u.Host
	u.RawQuery = q.Encode()
	_ = free.Close()
	return u.String(), func() {
		if s.listener, err = net.Listen("tcp", u.Host); err != nil {
			t.Error(err)
			return
		}
		go s.run()
		t.Cleanup(func() {
			_ = s.listener.Close()
			s.all.Wait()
		})
	}
}

func TestOpenWaitsForAServerThatStartsLater(t *testing.T) {
	t.Parallel()
	address, start := front(t, dbtest.BlankPostgres(t), 3, "57P03") // cannot_connect_now
	calls := 0
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{ServerWait: time.Hour, OnServerWait: func(error) {
		if calls++; calls == 1 {
			start() // no process listened before
		}
	}})
	if err != nil || calls == 0 {
		t.Fatalf("Open = %v, after %d calls of OnServerWait", err, calls)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenDoesNotWaitAfterARefusal(t *testing.T) {
	t.Parallel()
	for state, what := range map[string]string{"28P01": "a wrong password", "3D000": "a database that is not there"} {
		address, start := front(t, dbtest.BlankPostgres(t), 100, state)
		start()
		_, err := sqldb.Open(t.Context(), address, sqldb.Options{ServerWait: time.Hour, OnServerWait: func(err error) {
			t.Errorf("Open waits for %s: %v", what, err)
		}})
		if err == nil || !strings.Contains(err.Error(), state) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWaitingForAServerEnds(t *testing.T) {
	t.Parallel()
	address, _ := front(t, dbtest.BlankPostgres(t), 0, "")
	if _, err := sqldb.Open(t.Context(), address, sqldb.Options{}); err == nil {
		t.Error("without patience: want an error at once")
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err := sqldb.Open(ctx, address, sqldb.Options{ServerWait: time.Hour, OnServerWait: func(error) { stop() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
