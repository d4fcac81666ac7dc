package e2etest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Start starts the program on an empty database and makes it able to send to a
// sink of its own. Both are stopped when the test ends.
func Start(t *testing.T, address string, sinkArgs ...string) (*harness.Program, *harness.Ready, *harness.Sink) {
	t.Helper()
	return StartWith(t, &harness.Program{}, address, sinkArgs...)
}

// StartWith is Start with arguments and environment of the test's own.
func StartWith(t *testing.T, p *harness.Program, address string, sinkArgs ...string) (*harness.Program, *harness.Ready, *harness.Sink) {
	t.Helper()
	Begin(t, p, address)
	ready, err := p.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := harness.StartSink(context.WithoutCancel(t.Context()), SinkProgram(t), t.TempDir(), sinkArgs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return p, ready, s
}

// Begin starts the program on a database. It is stopped when the test ends.
func Begin(t *testing.T, p *harness.Program, address string) {
	t.Helper()
	p.Path, p.Dir = path(t, program), t.TempDir()
	if d, ok := SQLiteDir(address); !ok {
		p.Database = address
	} else {
		p.Dir = d
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// SQLiteDir returns the directory of an SQLite address.
func SQLiteDir(address string) (dir string, ok bool) {
	const scheme = "sqlite:"
	if len(address) < len(scheme) || address[:len(scheme)] != scheme {
		return "", false
	}
	return filepath.Dir(address[len(scheme):]), true
}

// Database opens the program's database beside it.
func Database(t *testing.T, p *harness.Program) *sqldb.DB {
	t.Helper()
	address := p.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{DataDir: p.Dir, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
