package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// readyz requests the readiness of a server with the database.
func readyz(t *testing.T, db *sqldb.DB) *httptest.ResponseRecorder {
	t.Helper()
	s := &Server{Store: &Store{DB: db}, Log: slog.New(slog.DiscardHandler)}
	mux := http.NewServeMux()
	s.health(mux)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	return w
}

func TestAServerWhoseDatabaseTakesNoWritesIsNotReady(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if w := readyz(t, db); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"database":"ok"`) {
			t.Errorf("at first: %d %s", w.Code, w.Body)
		}
		full := `CREATE TRIGGER full BEFORE UPDATE ON write_probe BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`
		if db.Dialect() == sqldb.Postgres {
			full = `DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END$$`
		}
		if _, err := db.Exec(t.Context(), full); err != nil {
			t.Fatal(err)
		}
		if db.Dialect() == sqldb.Postgres { // it applies to new connections
			var address string
			if err := db.QueryRow(t.Context(), `SELECT current_database()`).Scan(&address); err != nil {
				t.Fatal(err)
			}
			again, err := sqldb.Open(t.Context(), dbtest.DatabaseAddress(address), sqldb.Options{MaxConns: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			db = again
		}
		if w := readyz(t, db); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"database":"failing"`) || !strings.Contains(w.Body.String(), `"queue":"ok"`) {
			t.Errorf("while writes fail: %d %s", w.Code, w.Body)
		}
	})
}

func TestAServerStopsWhenANewerProgramHasMigrated(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		t.Parallel()
		s, _ := newTestServer(t, db)
		s.Started = func(string) {
			if w := readyz(t, db); w.Code != http.StatusOK {
				t.Errorf("at first: %d %s", w.Code, w.Body)
			}
			if _, err := db.Exec(t.Context(), `INSERT INTO schema_migration (version_id, is_applied) VALUES (20990101000000, $1)`, true); err != nil {
				t.Error(err)
			}
			if w := readyz(t, db); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"migrations":"failing"`) {
				t.Errorf("with a newer schema: %d %s", w.Code, w.Body)
			}
		}
		if err := s.Run(t.Context()); !errors.Is(err, sqldb.ErrNewerSchema) {
			t.Errorf("Run = %v, want ErrNewerSchema", err)
		}
	})
}

// A row that exists can be updated on a full disk; a page cannot be added to a file.
func TestAProbeNeedsANewPage(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), dbtest.BlankPostgres(t), sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 3 {
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			var before, after int64
			size := `SELECT COALESCE(pg_relation_size(to_regclass('pg_temp.write_probe_page')), 0)`
			if err := tx.QueryRow(t.Context(), size).Scan(&before); err != nil {
				return err
			}
			if err := writePage(t.Context(), tx); err != nil {
				return err
			}
			err := tx.QueryRow(t.Context(), size).Scan(&after)
			if before != 0 || after == 0 {
				t.Errorf("the file grew from %d to %d bytes", before, after)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyProbesAreOneWrite(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	writes, let := 0, make(chan error, 9)
	w := &writable{now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler), write: func(context.Context) error {
		writes++
		return <-let
	}}
	full := errors.New("disk full")
	for _, step := range []struct {
		after  time.Duration
		become error
		want   error
		writes int
	}{
		{0, nil, nil, 1},
		{probeEvery - 1, full, nil, 1}, // the last answer is still valid
		{1, full, full, 2},
		{probeEvery / 2, nil, full, 2},
		{probeEvery, nil, nil, 3},
	} {
		now = now.Add(step.after)
		if writes < step.writes {
			let <- step.become
		}
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if err := w.check(t.Context()); !errors.Is(err, step.want) {
					t.Errorf("check = %v, want %v", err, step.want)
				}
			})
		}
		all.Wait()
		if writes != step.writes {
			t.Errorf("%d writes, want %d", writes, step.writes)
		}
	}
}

func TestAProbeDoesNotWaitForADiskThatHangs(t *testing.T) {
	t.Parallel()
	hang := make(chan error)
	w := &writable{now: time.Now, log: slog.New(slog.DiscardHandler), write: func(context.Context) error { return <-hang }}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := w.check(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("check = %v, want it given up", err)
		}
	}
	hang <- nil // the only write
	if err := w.check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFreeSpaceIsMeasuredWhereTheDataAre(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	for dir, want := range map[string]int{t.TempDir(): 1, "/nowhere/at/all": 0} {
		r := prometheus.NewRegistry()
		d := newDisk(db, "")
		d.dir = dir
		r.MustRegister(d)
		families, err := r.Gather()
		if err != nil || len(families) != want {
			t.Errorf("%s: %d families, %v; want %d", dir, len(families), err, want)
			continue
		}
		if want == 1 && (families[0].GetName() != "packetboat_data_dir_free_bytes" || families[0].GetMetric()[0].GetGauge().GetValue() <= 0) {
			t.Errorf("%s: %v", dir, families[0])
		}
	}
	if d := newDisk(db, "/elsewhere"); d.dir == "/elsewhere" {
		t.Error("with SQLite the file system of the database counts")
	}
}
