// Package hold stops all sends of an installation, as after a backup was restored:
// the messages that left since the backup was taken wait in it, and would leave
// again.
//
// A hold is one row, which every process that sends looks at each second. It
// outlives the process that set it.
package hold

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// PollInterval is the interval at which a process that sends checks for a hold.
const PollInterval = time.Second

// Reason says to users why nothing is sent.
const Reason = "the operator of the installation holds all sends"

// Set holds all sends from now on. An existing hold is not changed.
func Set(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `INSERT INTO send_hold (name, since) VALUES ('all', $1) ON CONFLICT DO NOTHING`, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("hold all sends: %w", err)
	}
	return nil
}

// Release removes the hold, and reports whether there was one.
func Release(ctx context.Context, db *sqldb.DB) (bool, error) {
	n, err := db.Exec(ctx, `DELETE FROM send_hold WHERE name = 'all'`)
	if err != nil {
		return false, fmt.Errorf("release all sends: %w", err)
	}
	return n > 0, nil
}

// Since returns the time from which sends are held, or nil when they are not.
func Since(ctx context.Context, db *sqldb.DB) (*time.Time, error) {
	var since sql.NullInt64
	err := db.QueryRow(ctx, `SELECT since FROM send_hold WHERE name = 'all'`).Scan(&since)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return nil, fmt.Errorf("read hold of sends: %w", err)
	}
	return sqldb.NullTime(since), nil
}

// Run calls send whenever sends are not held, and ends its context when they are.
// It checks at every tick; if that fails, the state does not change.
// It returns when ctx ends and send has returned, or with the error of send.
func Run(ctx context.Context, db *sqldb.DB, ticks <-chan time.Time, log *slog.Logger, send func(ctx context.Context) error) error {
	var stop context.CancelFunc // of the running call; nil if there is none
	ended := make(chan error, 1)
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	for {
		since, err := Since(ctx, db)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			log.Error("check send hold failed", "err", err)
		case since == nil && stop == nil:
			var sending context.Context
			sending, stop = context.WithCancel(ctx)
			go func() { ended <- send(sending) }()
		case since != nil && stop != nil:
			log.Warn("all sends are held", "since", since)
			stop()
			if err := <-ended; err != nil {
				return err
			}
			stop = nil
		}
		select {
		case <-ctx.Done():
			if stop == nil {
				return nil
			}
			return <-ended
		case err := <-ended:
			stop()
			stop = nil
			if err != nil || ctx.Err() != nil {
				return err
			}
		case <-ticks:
		}
	}
}
