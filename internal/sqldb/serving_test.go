package sqldb_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// eachBlank runs f with the address of a database without tables of each dialect.
func eachBlank(t *testing.T, f func(t *testing.T, address string)) {
	t.Run("sqlite", func(t *testing.T) { f(t, "sqlite:"+filepath.Join(t.TempDir(), "p.db")) })
	t.Run("postgres", func(t *testing.T) { f(t, dbtest.BlankPostgres(t)) })
}

func openAddress(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestProcessesThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	eachBlank(t, func(t *testing.T, address string) {
		const processes = 4
		var all sync.WaitGroup
		command := openAddress(t, address)
		all.Go(func() { // it sees nothing or all of it
			for {
				s, err := command.Settled(t.Context())
				if err != nil || !s.New() && len(s.Missing) > 0 {
					t.Errorf("%d of %d migrations are seen, %v", len(s.Applied), len(s.Applied)+len(s.Missing), err)
				}
				if err != nil || !s.New() {
					return
				}
			}
		})
		var ran [processes]int
		var errs [processes]error
		for i := range processes {
			db := openAddress(t, address)
			all.Go(func() { ran[i], errs[i] = db.Migrate(t.Context()) })
		}
		all.Wait()
		slices.Sort(ran[:])
		if err := errors.Join(errs[:]...); err != nil || ran[processes-2] != 0 || ran[processes-1] == 0 {
			t.Errorf("%d processes ran %v migrations: %v; want all of them run by one", processes, ran, err)
		}
	})
}

// forgetLast makes the last migration a missing one.
func forgetLast(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `DELETE FROM schema_migration WHERE version_id = (SELECT MAX(version_id) FROM schema_migration)`); err != nil {
		t.Fatal(err)
	}
}

func schemaOf(t *testing.T, db *sqldb.DB) sqldb.Schema {
	t.Helper()
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestADatabaseIsNotMigratedWhileAnotherProcessServesIt(t *testing.T) {
	t.Parallel()
	eachBlank(t, func(t *testing.T, address string) {
		t.Parallel()
		old, mine := openAddress(t, address), openAddress(t, address)
		if _, err := old.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		serving, err := old.Serve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ran, err := mine.Migrate(t.Context()); ran != 0 || err != nil {
			t.Errorf("with nothing to migrate: %d, %v", ran, err)
		}
		forgetLast(t, old)
		before := schemaOf(t, old)
		if ran, err := mine.Migrate(t.Context()); !errors.Is(err, sqldb.ErrInUse) || ran != 0 || !strings.Contains(err.Error(), "start th") {
			t.Errorf("Migrate = %d, %v; want ErrInUse, and what to do", ran, err)
		}
		if after := schemaOf(t, old); !slices.Equal(before.Applied, after.Applied) {
			t.Errorf("%v were applied, now %v", before.Applied, after.Applied)
		}
		if err := serving.Check(t.Context()); err != nil {
			t.Errorf("the one that serves: %v", err)
		}
		serving.Stop()
		if _, err := mine.Migrate(t.Context()); errors.Is(err, sqldb.ErrInUse) {
			t.Errorf("after it has stopped: %v", err)
		}
	})
}

func TestProgramsFromBeforeTheLocksAreSeen(t *testing.T) {
	t.Parallel()
	address := dbtest.BlankPostgres(t)
	db := openAddress(t, address)
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams["application_name"] = "packetboat"
	former, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatalf("a new database, which nobody can be serving: %v", err)
	}
	forgetLast(t, db)
	if _, err := db.Migrate(t.Context()); !errors.Is(err, sqldb.ErrInUse) {
		t.Errorf("Migrate = %v, want ErrInUse", err)
	}
	if err := former.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(t.Context()); errors.Is(err, sqldb.ErrInUse) {
		t.Errorf("after it has ended: %v", err)
	}
}

func TestWhoeverServesNoticesANewerSchema(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		serving, err := db.Serve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer serving.Stop()
		if db.Dialect() == sqldb.Postgres { // as when the server is restarted
			if _, err := db.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); err != nil {
				t.Fatal(err)
			}
		}
		if err := serving.Check(t.Context()); err != nil {
			t.Errorf("Check = %v", err)
		}
		if db.Dialect() == sqldb.Postgres {
			var locked bool
			if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&locked); err != nil || !locked {
				t.Errorf("the lock is held again: %v, %v", locked, err)
			}
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO schema_migration (version_id, is_applied) VALUES (20990101000000, $1)`, true); err != nil {
			t.Fatal(err)
		}
		if err := serving.Check(t.Context()); !errors.Is(err, sqldb.ErrNewerSchema) {
			t.Errorf("Check = %v, want ErrNewerSchema", err)
		}
	})
}

func TestAProcessThatDiesWhileItMigratesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	address := dbtest.BlankPostgres(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(1885430635::bigint << 32 | 1835624306)`); err != nil {
		t.Fatal(err)
	}
	db := openAddress(t, address)
	waiting, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if ran, err := db.Migrate(waiting); !errors.Is(err, context.DeadlineExceeded) || ran != 0 {
		t.Errorf("while another process migrates: %d, %v; want it to wait", ran, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	if ran, err := db.Migrate(soon); err != nil || ran == 0 {
		t.Errorf("after it has died: %d, %v", ran, err)
	}
}
