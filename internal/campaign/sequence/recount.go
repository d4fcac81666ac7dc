package sequence

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// After returns up to limit sequences of a tenant after one of them, in the order of their ids.
func After(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Sequence, limit int) ([]id.Sequence, error) {
	rows, err := db.Query(ctx, `SELECT id FROM sequence WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`, tenant, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s id.Sequence, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sequences: %w", err)
	}
	return list, nil
}

// Tally is the numbers of a sequence's enrollments: all together, which is the count of the node "", and
// by time. The logs of enrollments have only their newest steps, so the counts of nodes cannot be counted
// again.
type Tally struct {
	All   NodeCount
	Times map[time.Time]NodeCount
}

// always is a time after all others.
var always = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// StoredTally returns the stored numbers of a sequence's enrollments.
func StoredTally(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (Tally, error) {
	all, err := Counts(ctx, db, tenant, seq)
	if err != nil {
		return Tally{}, err
	}
	times, err := CountsByTime(ctx, db, tenant, seq, time.Time{}, always)
	return Tally{all[""], times}, err
}

// CountEnrollments counts the enrollments of a sequence by when they began, and by when and how they ended.
func CountEnrollments(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence) (Tally, error) {
	t := Tally{Times: map[time.Time]NodeCount{}}
	add := func(at time.Time, n NodeCount) {
		t.All, t.Times[at] = t.All.plus(n), t.Times[at].plus(n)
	}
	length := outbox.Interval.Microseconds()
	rows, err := db.Query(ctx, `
		SELECT entered_at / $3, COUNT(*) FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2 GROUP BY 1`, tenant, seq, length)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var interval int64
		var n int
		err := scan(&interval, &n)
		add(time.UnixMicro(interval*length).UTC(), NodeCount{Entered: n})
		return err
	})
	if err != nil {
		return t, fmt.Errorf("count enrollments: %w", err)
	}
	rows, err = db.Query(ctx, `
		SELECT exited_at / $3, status, exit_reason, COUNT(*) FROM enrollment
		WHERE tenant_id = $1 AND sequence_id = $2 AND exited_at IS NOT NULL GROUP BY 1, status, exit_reason`, tenant, seq, length)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var e Enrollment
		var interval int64
		var n int
		err := scan(&interval, sqldb.ToText(&e.Status), sqldb.ToText(&e.Reason), &n)
		add(time.UnixMicro(interval*length).UTC(), e.ending().times(n))
		return err
	})
	if err != nil {
		return t, fmt.Errorf("count ended enrollments: %w", err)
	}
	return t, nil
}

// Correct adds the difference between counted and stored numbers of enrollments to the stored ones.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, stored, counted Tally) error {
	c := counts{nodes: map[countKey]NodeCount{{seq, ""}: counted.All.minus(stored.All)}, times: map[timeKey]NodeCount{}}
	for at, n := range counted.Times {
		c.times[timeKey{seq, at.UnixMicro()}] = n
	}
	for at, n := range stored.Times {
		k := timeKey{seq, at.UnixMicro()}
		c.times[k] = c.times[k].minus(n)
	}
	return db.InTx(ctx, func(tx *sqldb.DB) error { return c.write(ctx, tx, tenant) })
}
