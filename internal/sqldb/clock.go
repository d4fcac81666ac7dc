package sqldb

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// agreeing is by how much two clocks may differ without being corrected.
const agreeing = time.Second

// Clock is the clock that all processes on a database go by: with PostgreSQL the server's, since their machines' may be
// wrong or jump, and leases and due times of one are compared with the time of another. With SQLite it is this machine's.
type Clock struct {
	DB *DB

	behind atomic.Int64 // by how much this machine's clock is behind, in nanoseconds; 0 while they agree
}

// Now returns the time. While it is corrected it has no reading of the monotonic clock: that would be shifted with it, and wrong next
// to those from before the correction.
func (c *Clock) Now() time.Time {
	now := time.Now()
	if behind := c.Behind(); behind != 0 {
		return now.Round(0).Add(behind)
	}
	return now
}

// Behind returns by how much this machine's clock was behind when it was last compared; 0 if they agreed.
func (c *Clock) Behind() time.Duration { return time.Duration(c.behind.Load()) }

// Compare compares this machine's clock with that of the database. It is called before leases are compared, and every few
// seconds.
func (c *Clock) Compare(ctx context.Context) error {
	if c.DB.dialect == SQLite {
		return nil
	}
	begun := time.Now()
	var micros int64
	if err := c.DB.QueryRow(ctx, `SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT`).Scan(&micros); err != nil {
		return fmt.Errorf("read the database's clock: %w", err)
	}
	ended := time.Now()
	c.correct(Time(micros), begun, ended)
	return nil
}

// correct corrects the clock by that of the server, which was read between two times.
func (c *Clock) correct(server, begun, ended time.Time) {
	took := ended.Sub(begun)
	behind := server.Sub(ended.Add(-took / 2).Round(0))
	if behind.Abs() <= max(agreeing, took) { // the answer may have been read at any time between
		behind = 0
	}
	c.behind.Store(int64(behind))
}
