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

// contender is a process that leads, or would like to.
type contender struct {
	db    *sqldb.DB
	name  string
	owner string
	now   func() time.Time
	terms terms

	epoch  int64                     // of the lead, while it lasts
	until  atomic.Pointer[time.Time] // how long this process may take itself for the leader
	seen   row
	seenAt time.Time // when seen was first seen, and not before
}

// row is who leads, as far as others need to know.
type row struct {
	owner string // empty: released
	epoch int64  // of the lead
	beat  int64  // of its renewals
}

// contend takes the lead if nobody has it, and reports whether it did.
func (c *contender) contend(ctx context.Context) (won bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.terms.answer)
	defer cancel()
	r, err := c.read(ctx)
	if err != nil {
		return false, fmt.Errorf("read who leads: %w", err)
	}
	if c.seenAt.IsZero() || r != c.seen {
		c.seen, c.seenAt = r, c.now()
	}
	// What was this process's own is so until somebody else has taken it.
	if r.owner != "" && r.owner != c.owner && c.now().Sub(c.seenAt) < c.terms.lease {
		return false, nil
	}
	return c.take(ctx, r)
}

// read returns the row, which it makes when there is none.
func (c *contender) read(ctx context.Context) (row, error) {
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

// take takes the lead from what the row was, if it still is.
func (c *contender) take(ctx context.Context, from row) (bool, error) {
	begun := c.now()
	n, err := c.db.Exec(ctx, `
		UPDATE leader SET owner = $4, epoch = epoch + 1, beat = 0, until_at = $5
		WHERE name = $1 AND epoch = $2 AND beat = $3 AND COALESCE(owner, '') = $6`,
		c.name, from.epoch, from.beat, c.owner, begun.Add(c.terms.lease).UnixMicro(), from.owner)
	if err != nil {
		return false, fmt.Errorf("take the lead: %w", err)
	}
	if n == 0 { // another was quicker, or the leader lives
		return false, nil
	}
	c.epoch = from.epoch + 1
	c.until.Store(new(begun.Add(c.terms.lead)))
	return true, nil
}

// renew keeps the lead, and reports whether it was still there to be kept.
func (c *contender) renew(ctx context.Context) (kept bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.terms.answer)
	defer cancel()
	begun := c.now()
	n, err := c.db.Exec(ctx, `
		UPDATE leader SET beat = beat + 1, until_at = $4
		WHERE name = $1 AND owner = $2 AND epoch = $3`,
		c.name, c.owner, c.epoch, begun.Add(c.terms.lease).UnixMicro())
	if err != nil {
		return false, fmt.Errorf("renew the lead: %w", err)
	}
	if n == 0 {
		c.until.Store(nil)
		return false, nil
	}
	c.until.Store(new(begun.Add(c.terms.lead)))
	return true, nil
}

// release lets the next one in at once.
func (c *contender) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.terms.answer)
	defer cancel()
	c.until.Store(nil)
	_, err := c.db.Exec(ctx, `
		UPDATE leader SET owner = NULL, until_at = 0
		WHERE name = $1 AND owner = $2 AND epoch = $3`, c.name, c.owner, c.epoch)
	if err != nil {
		return fmt.Errorf("release the lead: %w", err)
	}
	return nil
}

// leads reports whether this process may take itself for the leader. It must by
// the clock on the wall, which goes on while a machine sleeps, and by the one
// that nobody sets.
func (c *contender) leads() bool {
	until, now := c.until.Load(), c.now()
	return until != nil && now.Before(*until) && now.Round(0).Before(until.Round(0))
}
