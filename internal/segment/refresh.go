package segment

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
	"packetboat/internal/tenant"
)

// Refresher counts segments in the background: one that was never
// counted soon, one that is in use every quarter of an hour, every other once a
// night. Any number of processes may run one on one database: a segment is
// counted by whoever claims its row.
type Refresher struct {
	DB    *sqldb.DB
	Now   func() time.Time
	Log   *slog.Logger
	InUse func(ctx context.Context) ([]Used, error) // asked at each tick; nil: none is
}

// Used is a segment that something under way depends on.
type Used struct {
	Tenant  id.Tenant
	Segment id.Segment
}

const (
	refreshEvery = 30 * time.Second // a look for what is due
	freshInUse   = 15 * time.Minute // how old the counts of a used segment get
	nightHour    = 2                // in the account's time zone
	refreshBatch = 20               // counted in one tick
)

// Run works until ctx ends.
func (r *Refresher) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		more, err := r.Tick(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("segments are not counted", "err", err)
		}
		if more && err == nil {
			timer.Reset(0)
		} else {
			timer.Reset(refreshEvery)
		}
	}
}

// Tick counts some of the segments that are due. It reports whether there may be
// more.
func (r *Refresher) Tick(ctx context.Context) (more bool, err error) {
	due, err := r.claim(ctx)
	if err != nil {
		return false, err
	}
	for _, u := range due {
		if err := r.count(ctx, u); err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			// It is tried again when the claim has run out.
			r.Log.Error("segment is not counted", "tenant", u.Tenant, "segment", u.Segment, "err", err)
		}
	}
	return len(due) == refreshBatch, nil
}

func (r *Refresher) count(ctx context.Context, u Used) error {
	ctx, cancel := context.WithTimeout(ctx, countFor)
	defer cancel()
	_, err := Recount(ctx, r.DB, u.Tenant, u.Segment, r.Now())
	return err
}

// countFor is how long a count in the background may take, and how long its
// segment belongs to who claimed it.
const countFor = 5 * time.Minute

// claim takes segments that are due, those in use first.
func (r *Refresher) claim(ctx context.Context) ([]Used, error) {
	now := r.Now()
	var due []Used
	if r.InUse != nil {
		used, err := r.InUse(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask which segments are in use: %w", err)
		}
		v := r.DB.Table("tenant_id INTEGER", "id UUID", "before_at BIGINT")
		for _, u := range used {
			v.Add(u.Tenant, u.Segment, sqldb.Micros(now.Add(-freshInUse)))
		}
		if due, err = r.take(ctx, v, ` AND v.id = s.id `, refreshBatch, now); err != nil {
			return nil, err
		}
	}
	tenants, err := tenant.List(ctx, r.DB)
	if err != nil {
		return nil, err
	}
	v := r.DB.Table("tenant_id INTEGER", "before_at BIGINT")
	for _, t := range tenants {
		v.Add(t.ID, sqldb.Micros(night(now, t.Location())))
	}
	others, err := r.take(ctx, v, ``, refreshBatch-len(due), now)
	return append(due, others...), err
}

// take claims segments that were not counted since the moment that v names.
func (r *Refresher) take(ctx context.Context, v *sqldb.Table, and string, limit int, now time.Time) ([]Used, error) {
	if v.Len() == 0 || limit == 0 {
		return nil, nil
	}
	rows, err := r.DB.Query(ctx, `
		UPDATE segment SET counting_until = $3 /* all tenants: they take turns in the background */
		FROM (
			SELECT s.tenant_id, s.id FROM segment s JOIN `+v.As("v", 4)+` ON v.tenant_id = s.tenant_id `+and+`
			WHERE s.counting_until <= $1 AND (s.member_count_evaluated_at IS NULL OR s.member_count_evaluated_at < v.before_at)
			ORDER BY s.member_count_evaluated_at NULLS FIRST LIMIT $2) AS due
		WHERE segment.tenant_id = due.tenant_id AND segment.id = due.id AND segment.counting_until <= $1
		RETURNING segment.tenant_id, segment.id`,
		v.Args(sqldb.Micros(now), limit, sqldb.Micros(now.Add(countFor)))...)
	due, err := sqldb.Collect(rows, err, func(row func(...any) error) (Used, error) {
		var u Used
		return u, row(&u.Tenant, &u.Segment)
	})
	if err != nil {
		return nil, fmt.Errorf("claim segments to count: %w", err)
	}
	return due, nil
}

// night returns when the last night was at its deepest, in a time zone.
func night(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	t := time.Date(y, m, d, nightHour, 0, 0, 0, zone)
	if t.After(now) {
		t = time.Date(y, m, d-1, nightHour, 0, 0, 0, zone)
	}
	return t
}
