package leader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// contender is a process that is the leader, or wants to become it.
type contender struct {
	db    *sqldb.DB
	name  string
	owner string
	now   func() time.Time
	terms terms

	epoch  int64                     // of the leadership, while it lasts
	until  atomic.Pointer[time.Time] // until when this process may assume that it is the leader
	seen   row
	seenAt time.Time // when the current value of seen was first read
}

// row is the row of a name, without times.
type row struct {
	owner string // empty: released
	epoch int64  // of the leadership
	beat  int64  // number of renewals
}

// contend acquires the leadership if it is free or expired, and reports whether it did.
func (c *contender) contend(ctx context.Context) (won bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.terms.timeout)
	defer cancel()
	r, err := c.readRow(ctx)
	if err != nil {
		return false, fmt.Errorf("read the leader: %w", err)
	}
	if c.seenAt.IsZero() || r != c.seen {
		c.seen, c.seenAt = r, c.now()
	}
	// A row of this owner is from an earlier run of this process: it may be taken at once.
	if r.owner != "" && r.owner != c.owner && c.now().Sub(c.seenAt) < c.terms.lease {
		return false, nil
	}
	return c.acquire(ctx, r)
}

// readRow returns the row, and creates it if there is none.
func (c *contender) readRow(ctx context.Context) (row, error) {
	var r row
	var owner sql.NullString
	err := c.db.QueryRow(ctx, `SELECT owner, epoch, beat FROM leader WHERE name = $1`, c.name).Scan(&owner, &r.epoch, &r.beat)
	if errors.Is(err, sqldb.ErrNoRows) {
		_, err = c.db.Exec(ctx, `
			INSERT INTO leader (name, owner, epoch, beat, until_at) VALUES ($1, NULL, 0, 0, 0)
			ON CONFLICT DO NOTHING`, c.name)
		if err == nil {
			err = c.db.QueryRow(ctx, `SELECT owner, epoch, beat FROM leader WHERE name = $1`, c.name).Scan(&owner, &r.epoch, &r.beat)
		}
	}
	r.owner = owner.String
	return r, err
}

// acquire takes the leadership if the row is still as it was read.
func (c *contender) acquire(ctx context.Context, from row) (bool, error) {
	begun := c.now()
	n, err := c.db.Exec(ctx, `
		UPDATE leader SET owner = $4, epoch = epoch + 1, beat = 0, until_at = $5
		WHERE name = $1 AND epoch = $2 AND beat = $3 AND COALESCE(owner, '') = $6`,
		c.name, from.epoch, from.beat, c.owner, begun.Add(c.terms.lease).UnixMicro(), from.owner)
	if err != nil {
		return false, fmt.Errorf("acquire leadership: %w", err)
	}
	if n == 0 { // another contender was faster, or the leader has renewed
		return false, nil
	}
	c.epoch = from.epoch + 1
	c.until.Store(new(begun.Add(c.terms.lead)))
	return true, nil
}

// renew renews the leadership, and reports whether it was still held.
func (c *contender) renew(ctx context.Context) (kept bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.terms.timeout)
	defer cancel()
	begun := c.now()
	n, err := c.db.Exec(ctx, `
		UPDATE leader SET beat = beat + 1, until_at = $4
		WHERE name = $1 AND owner = $2 AND epoch = $3`,
		c.name, c.owner, c.epoch, begun.Add(c.terms.lease).UnixMicro())
	if err != nil {
		return false, fmt.Errorf("renew leadership: %w", err)
	}
	if n == 0 {
		c.until.Store(nil)
		return false, nil
	}
	c.until.Store(new(begun.Add(c.terms.lead)))
	return true, nil
}

// release releases the leadership, so that another process can acquire it at once.
func (c *contender) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.terms.timeout)
	defer cancel()
	c.until.Store(nil)
	_, err := c.db.Exec(ctx, `
		UPDATE leader SET owner = NULL, until_at = 0
		WHERE name = $1 AND owner = $2 AND epoch = $3`, c.name, c.owner, c.epoch)
	if err != nil {
		return fmt.Errorf("release leadership: %w", err)
	}
	return nil
}

// isLeader reports whether this process may assume that it is the leader, by two clocks: the wall
// clock, which advances while a machine is suspended, and the monotonic one, which cannot be set
// back.
func (c *contender) isLeader() bool {
	until, now := c.until.Load(), c.now()
	return until != nil && now.Before(*until) && now.Round(0).Before(until.Round(0))
}
