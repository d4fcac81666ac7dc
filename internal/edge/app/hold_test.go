package app

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// newTestServer returns a server of every role that stops as soon as it has started.
func newTestServer(t *testing.T, db *sqldb.DB) (s *Server, ctx context.Context) {
	t.Helper()
	o := DefaultOptions()
	o.DataDir, o.Listen, o.AdminListen = t.TempDir(), "127.0.0.1:0", "off"
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	return &Server{
		Config: cfg, Store: &Store{DB: db, Box: box}, Roles: Roles(), Log: slog.New(slog.DiscardHandler),
		Started: func(string) { stop() },
	}, ctx
}

func TestAHoldOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, step := range []struct {
			hold, held bool
		}{
			{false, false},
			{true, true},
			{true, true},
			// On SQLite a restart releases the hold; elsewhere there may be other processes.
			{false, db.Dialect() == sqldb.Postgres},
		} {
			s, ctx := newTestServer(t, db)
			s.Hold = step.hold
			if err := s.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if since, err := hold.Since(t.Context(), db); (since != nil) != step.held || err != nil {
				t.Errorf("after serve with hold=%v sends are held since %v, %v; want held: %v", step.hold, since, err, step.held)
			}
		}
	})
}

func TestATakenAddressIsExplained(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	db := dbtest.One(t)
	for option, set := range map[string]func(*Config){
		"--listen: PACKETBOAT_LISTEN=":             func(c *Config) { c.Listen = address },
		"--admin-listen: PACKETBOAT_ADMIN_LISTEN=": func(c *Config) { c.AdminListen = address },
	} {
		s, ctx := newTestServer(t, db)
		set(&s.Config)
		if err := s.Run(ctx); err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), option) {
			t.Errorf("Run = %v; want %s and %s named", err, address, option)
		}
	}
}
