package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// rows stores shared windows in the database, one row each.
type rows struct{ db *sqldb.DB }

// lease grants up to n permits. The count in a row may exceed the limit by up to n-1; the excess is
// not granted.
func (s rows) lease(ctx context.Context, name string, r Rule, n int, now time.Time) (grant, error) {
	var ends int64
	var used int
	err := s.db.QueryRow(ctx, `
		INSERT INTO rate_window AS w (name, started_at, ends_at, used)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO UPDATE SET
			started_at = CASE WHEN w.ends_at <= $2 THEN excluded.started_at ELSE w.started_at END,
			ends_at = CASE WHEN w.ends_at <= $2 THEN excluded.ends_at ELSE w.ends_at END,
			used = CASE WHEN w.ends_at <= $2 THEN excluded.used ELSE w.used + excluded.used END
		WHERE w.ends_at <= $2 OR w.used < $5
		RETURNING ends_at, used /* all tenants: limits are the installation's */`,
		name, now.UnixMicro(), now.Add(r.Window).UnixMicro(), n, r.Max).Scan(&ends, &used)
	if errors.Is(err, sqldb.ErrNoRows) {
		return s.look(ctx, name, r, now)
	}
	if err != nil {
		return grant{}, fmt.Errorf("lease permits: %w", err)
	}
	return grant{n: n - max(used-r.Max, 0), used: min(used, r.Max), ends: sqldb.Time(ends)}, nil
}

func (s rows) look(ctx context.Context, name string, r Rule, now time.Time) (grant, error) {
	var ends int64
	var used int
	err := s.db.QueryRow(ctx, `
		SELECT ends_at, used FROM rate_window
		WHERE name = $1 AND ends_at > $2 /* all tenants: limits are the installation's */`,
		name, now.UnixMicro()).Scan(&ends, &used)
	if errors.Is(err, sqldb.ErrNoRows) {
		return grant{}, nil
	}
	if err != nil {
		return grant{}, fmt.Errorf("read permits: %w", err)
	}
	return grant{used: min(used, r.Max), ends: sqldb.Time(ends)}, nil
}

func (s rows) giveBack(ctx context.Context, name string, now time.Time) error {
	_, err := s.db.Exec(ctx, `
		UPDATE rate_window SET used = used - 1
		WHERE name = $1 AND ends_at > $2 AND used > 0 /* all tenants: limits are the installation's */`,
		name, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("return a permit: %w", err)
	}
	return nil
}

func (s rows) clear(ctx context.Context, name string) error {
	_, err := s.db.Exec(ctx, `
		DELETE FROM rate_window WHERE name = $1 /* all tenants: limits are the installation's */`, name)
	if err != nil {
		return fmt.Errorf("clear a rate window: %w", err)
	}
	return nil
}

func (s rows) sweep(ctx context.Context, now time.Time) error {
	_, err := s.db.Exec(ctx, `
		DELETE FROM rate_window WHERE ends_at <= $1 /* all tenants: limits are the installation's */`, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("sweep rate windows: %w", err)
	}
	return nil
}
