package segment

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Refresher counts segments in the background: within 30 seconds if they were never counted, every
// 15 minutes if they are in use, else once a night. Several processes may run it on one database:
// each claims the rows of the segments it counts.
type Refresher struct {
	DB    *sqldb.DB
	Now   func() time.Time
	Log   *slog.Logger
	InUse func(ctx context.Context) ([]Used, error) // called at each tick; nil: no segment is in use
}

// Used is a segment that a send in preparation or a schedule depends on.
type Used struct {
	Tenant  id.Tenant
	Segment id.Segment
}

const (
	refreshEvery = 30 * time.Second // interval of polling
	freshInUse   = 15 * time.Minute // maximum age of the counts of a segment in use
	nightHour    = 2                // in the account's time zone
	refreshBatch = 20               // segments counted in one tick
)

// Run counts segments until ctx ends.
func (r *Refresher) Run(ctx context.Context) error {
	return poll.Loop{Poll: r.Tick, Every: refreshEvery, Log: r.Log, Failed: "count segments failed"}.Run(ctx)
}

// Tick counts up to refreshBatch segments that are due. It reports whether more may be due.
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
			// It is due again when the claim expires.
			r.Log.Error("count segment failed", "tenant", u.Tenant, "segment", u.Segment, "err", err)
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

// countFor is the time limit of a count in the background, and the length of a claim.
const countFor = 5 * time.Minute

// claim claims segments that are due, those in use first.
func (r *Refresher) claim(ctx context.Context) ([]Used, error) {
	now := r.Now()
	var due []Used
	if r.InUse != nil {
		used, err := r.InUse(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask which segments are in use: %w", err)
		}
		byTenant := map[id.Tenant][]id.Segment{}
		for _, u := range used {
			byTenant[u.Tenant] = append(byTenant[u.Tenant], u.Segment)
		}
		for _, t := range slices.Sorted(maps.Keys(byTenant)) {
			list, err := r.claimStale(ctx, t, ` AND s.id`+r.DB.In(5), refreshBatch-len(due), now, now.Add(-freshInUse), sqldb.List(r.DB, byTenant[t]))
			if err != nil {
				return nil, err
			}
			due = append(due, list...)
		}
	}
	stale, err := r.stale(ctx, now)
	if err != nil {
		return nil, err
	}
	for _, t := range stale {
		list, err := r.claimStale(ctx, t.ID, ``, refreshBatch-len(due), now, night(now, t.Location()))
		if err != nil {
			return nil, err
		}
		due = append(due, list...)
	}
	return due, nil
}

// stale returns the tenants with a segment that was not counted since their last night, ordered by
// their oldest count.
func (r *Refresher) stale(ctx context.Context, now time.Time) ([]tenant.Tenant, error) {
	tenants, err := tenant.List(ctx, r.DB)
	if err != nil || len(tenants) == 0 {
		return nil, err
	}
	v := r.DB.Table("tenant_id INTEGER", "before_at BIGINT")
	by := make(map[id.Tenant]tenant.Tenant, len(tenants))
	for _, t := range tenants {
		v.Add(t.ID, sqldb.Micros(night(now, t.Location())))
		by[t.ID] = t
	}
	rows, err := r.DB.Query(ctx, `
		SELECT s.tenant_id FROM segment s JOIN `+v.As("v", 3)+` ON v.tenant_id = s.tenant_id
		WHERE s.counting_until <= $1 AND (s.member_count_evaluated_at IS NULL OR s.member_count_evaluated_at < v.before_at)
		GROUP BY s.tenant_id ORDER BY MIN(COALESCE(s.member_count_evaluated_at, 0)), s.tenant_id LIMIT $2
		/* all tenants: they take turns in the background */`, v.Args(sqldb.Micros(now), refreshBatch)...)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (tenant.Tenant, error) {
		var t id.Tenant
		err := scan(&t)
		return by[t], err
	})
}

// claimStale claims up to limit segments of a tenant that were last counted before a time.
func (r *Refresher) claimStale(ctx context.Context, t id.Tenant, and string, limit int, now, before time.Time, more ...any) ([]Used, error) {
	if limit <= 0 {
		return nil, nil
	}
	rows, err := r.DB.Query(ctx, `
		UPDATE segment SET counting_until = $4 WHERE tenant_id = $1 AND counting_until <= $2 AND id IN (
			SELECT s.id FROM segment s
			WHERE s.tenant_id = $1 AND s.counting_until <= $2 AND (s.member_count_evaluated_at IS NULL OR s.member_count_evaluated_at < $3)`+and+`
			ORDER BY s.member_count_evaluated_at NULLS FIRST LIMIT `+strconv.Itoa(limit)+`)
		RETURNING tenant_id, id`,
		append([]any{t, sqldb.Micros(now), sqldb.Micros(before), sqldb.Micros(now.Add(countFor))}, more...)...)
	due, err := sqldb.Collect(rows, err, func(row func(...any) error) (Used, error) {
		var u Used
		err := row(&u.Tenant, &u.Segment)
		return u, err
	})
	if err != nil {
		return nil, fmt.Errorf("claim segments to count: %w", err)
	}
	return due, nil
}

// night returns the latest past nightHour of a time zone.
func night(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	t := time.Date(y, m, d, nightHour, 0, 0, 0, zone)
	if t.After(now) {
		t = time.Date(y, m, d-1, nightHour, 0, 0, 0, zone)
	}
	return t
}
