package segment

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Refresher counts segments in the background: within 30 seconds if they were never counted or if an
// import or a bulk action has ended, every 15 minutes if they are in use, sooner if contacts of a large
// tenant have changed (changedFor), and all once a night. Several processes may run it on one
// database: each claims the rows of the segments it counts.
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

	settled    = 5 * time.Second // after a change, the transactions that began before it have ended
	endedSince = time.Hour       // jobs that ended earlier are not looked at
)

// changedFor is how old the counts of a tenant's segments may be once its contacts have changed: a minute
// for every 20,000 contacts. So the work for each segment is the same however many contacts there are.
func changedFor(contacts int) time.Duration { return time.Duration(contacts) * time.Minute / 20_000 }

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
	before, err := r.outdated(ctx, now)
	if err != nil {
		return nil, err
	}
	stale, err := r.stale(ctx, before, now)
	if err != nil {
		return nil, err
	}
	for _, t := range stale {
		list, err := r.claimStale(ctx, t, ``, refreshBatch-len(due), now, before[t])
		if err != nil {
			return nil, err
		}
		due = append(due, list...)
	}
	return due, nil
}

// outdated returns for each tenant the time before which its segments must not have been counted last.
func (r *Refresher) outdated(ctx context.Context, now time.Time) (map[id.Tenant]time.Time, error) {
	tenants, err := tenant.List(ctx, r.DB)
	if err != nil || len(tenants) == 0 {
		return nil, err
	}
	large, err := contact.Large(ctx, r.DB, smallAccount)
	if err != nil {
		return nil, err
	}
	ended, err := job.LastEnded(ctx, r.DB, []job.Kind{job.Import, job.Bulk}, now.Add(-endedSince), now.Add(-settled))
	if err != nil {
		return nil, err
	}
	before := make(map[id.Tenant]time.Time, len(tenants))
	for _, t := range tenants {
		before[t.ID] = night(now, t.Location())
		if at, ok := ended[t.ID]; ok {
			before[t.ID] = latest(before[t.ID], at.Add(settled))
		}
		if e, ok := large[t.ID]; ok {
			before[t.ID] = latest(before[t.ID], earliest(e.ChangedAt.Add(settled), now.Add(-changedFor(e.Contacts))))
		}
	}
	return before, nil
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// stale returns tenants with a segment that was last counted before a time, ordered by their oldest
// count.
func (r *Refresher) stale(ctx context.Context, before map[id.Tenant]time.Time, now time.Time) ([]id.Tenant, error) {
	if len(before) == 0 {
		return nil, nil
	}
	v := r.DB.Table("tenant_id INTEGER", "before_at BIGINT")
	for _, t := range slices.Sorted(maps.Keys(before)) {
		v.Add(t, sqldb.Micros(before[t]))
	}
	rows, err := r.DB.Query(ctx, `
		SELECT s.tenant_id FROM segment s JOIN `+v.As("v", 3)+` ON v.tenant_id = s.tenant_id
		WHERE s.counting_until <= $1 AND (s.member_count_evaluated_at IS NULL OR s.member_count_evaluated_at < v.before_at)
		GROUP BY s.tenant_id ORDER BY MIN(COALESCE(s.member_count_evaluated_at, 0)), s.tenant_id LIMIT $2
		/* all tenants: they take turns in the background */`, v.Args(sqldb.Micros(now), refreshBatch)...)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		err = scan(&t)
		return t, err
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
