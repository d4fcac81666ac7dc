package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	probeEvery  = time.Second     // how long an answer is valid
	probeWithin = 3 * time.Second // time limit of a write
)

// writable checks whether the database accepts writes, by writing. However many callers there are,
// at most one write runs at a time, and none begins within a second of the last.
type writable struct {
	write func(ctx context.Context) error
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	at      time.Time     // when the last write ended
	err     error         // its error
	running chan struct{} // closed when the current write ends; nil if there is none
}

func newWritable(db *sqldb.DB, log *slog.Logger) *writable {
	return &writable{now: time.Now, log: log, write: func(ctx context.Context) error { return touch(ctx, db, time.Now()) }}
}

// touch writes a row. With PostgreSQL it writes a new page as well, if the user may make temporary tables: on a full disk, a row
// that exists can still be updated. The table is one of the connection, and empty again after the commit, so that each time its file grows.
func touch(ctx context.Context, db *sqldb.DB, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if tx.Dialect() == sqldb.Postgres {
			if err := writePage(ctx, tx); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO write_probe (name, at) VALUES ('ready', $1)
			ON CONFLICT (name) DO UPDATE SET at = excluded.at`, now.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("write a row: %w", err)
	}
	return nil
}

func writePage(ctx context.Context, tx *sqldb.DB) error {
	_, err := tx.Exec(ctx, `DO $$BEGIN
		IF has_database_privilege(current_database(), 'TEMPORARY') THEN
			CREATE TEMPORARY TABLE IF NOT EXISTS write_probe_page (x INTEGER) ON COMMIT DELETE ROWS;
			INSERT INTO pg_temp.write_probe_page (x) VALUES (1);
		END IF;
	END$$`)
	return err
}

// check returns why the database accepts no writes, or nil. It returns when ctx ends, even if a
// write hangs.
func (w *writable) check(ctx context.Context) error {
	w.mu.Lock()
	if w.running == nil && w.now().Sub(w.at) < probeEvery {
		defer w.mu.Unlock()
		return w.err
	}
	if w.running == nil {
		w.running = make(chan struct{})
		go w.probe(context.WithoutCancel(ctx))
	}
	running := w.running
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-running:
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.err
	}
}

func (w *writable) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	err := w.write(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil && w.err == nil:
		w.log.Error("database accepts no writes", "err", err)
	case err == nil && w.err != nil:
		w.log.Info("database accepts writes again")
	}
	w.err, w.at = err, w.now()
	close(w.running)
	w.running = nil
}
