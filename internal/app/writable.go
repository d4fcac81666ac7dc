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
	probeEvery  = time.Second     // an answer counts for so long
	probeWithin = 3 * time.Second // a write that takes longer has failed
)

// writable finds out whether the database takes writes, by writing. However many
// ask, one write is under way, and none begins within a second of the last.
type writable struct {
	write func(ctx context.Context) error
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	at      time.Time     // when the last write ended
	err     error         // what became of it
	running chan struct{} // closed when the write under way has ended; nil without one
}

func newWritable(db *sqldb.DB, log *slog.Logger) *writable {
	return &writable{now: time.Now, log: log, write: func(ctx context.Context) error { return touch(ctx, db, time.Now()) }}
}

// touch is the write.
func touch(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `INSERT INTO write_probe (name, at) VALUES ('ready', $1)
		ON CONFLICT (name) DO UPDATE SET at = excluded.at`, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("write a row: %w", err)
	}
	return nil
}

// check returns why the database takes no writes, or nil. It waits no longer than
// ctx, also where a disk that hangs keeps the write for longer.
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
