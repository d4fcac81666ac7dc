// Package retention deletes what tenants no longer keep: old entries of the journal, opens and clicks,
// the addresses and user agents of requests, and old rows of other packages.
//
// It works through all tenants once an hour, in steps of some hundred rows, each a transaction of its
// own, and pauses after each step for as long as it took. A step that fails or is interrupted is
// repeated: what it would have deleted is still there. The numbers of reports are sums that are stored
// apart and stay.
//
// Of a tenant that was deleted tenant.ErasedAfter ago it deletes everything in the same way; only its row
// with the slug stays.
package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	interval     = time.Hour
	stepRows     = 500  // deleted or changed by a step
	stepEntries  = 1000 // of the journal, read by a step
	minimumPause = 10 * time.Millisecond
	day          = 24 * time.Hour
)

// Table is rows of a tenant with an age.
type Table struct {
	Name string
	// Days returns how many days a tenant keeps the rows.
	Days func(tenant.Retention) int
	// Step deletes up to limit rows from before a time, oldest first, in one transaction, and returns
	// their number: 0 if there are none.
	Step func(ctx context.Context, db *sqldb.DB, t id.Tenant, before time.Time, limit int) (int, error)
}

// Engine deletes old rows. One process at a time runs it; if two overlap, the second finds less to do.
type Engine struct {
	DB        *sqldb.DB
	Log       *slog.Logger
	Now       func() time.Time
	Tables    []Table
	Followers []journal.Follower // entries are kept until all of these have processed them

	pause func(ctx context.Context, took time.Duration) // for tests; nil: as long as the step took
}

// Run deletes until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	look := func(ctx context.Context) (bool, error) { return false, e.Round(ctx) }
	return poll.Loop{Poll: look, Every: interval, Log: e.Log, Failed: "delete old data failed"}.Run(ctx)
}

// Round deletes all that is too old now. An error about one table or tenant does not keep it from the
// others.
func (e *Engine) Round(ctx context.Context) error {
	now := e.Now()
	tenants, err := tenant.List(ctx, e.DB)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range tenants {
		for _, table := range e.Tables {
			n, err := e.pruneTable(ctx, table, t, now)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s of tenant %d: %w", table.Name, t.ID, err))
			}
			if n > 0 {
				e.Log.Info("old data deleted", "what", table.Name, "tenant", t.ID, "rows", n)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	for _, old := range oldEntries(tenants, now) {
		n, err := e.pruneJournal(ctx, old, now)
		if err != nil {
			errs = append(errs, fmt.Errorf("journal of group %d: %w", old.Group, err))
		}
		if n > 0 {
			e.Log.Info("old data deleted", "what", "journal entries", "group", old.Group, "class", old.Class, "days", old.Days, "rows", n)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := e.eraseDeleted(ctx, now); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// pruneTable deletes old rows of a tenant step by step, and returns their number.
func (e *Engine) pruneTable(ctx context.Context, table Table, t tenant.Tenant, now time.Time) (sum int, err error) {
	before := now.Add(-time.Duration(table.Days(t.Settings.Retention)) * day)
	for ctx.Err() == nil {
		began := time.Now()
		n, err := table.Step(ctx, e.DB, t.ID, before, stepRows)
		if sum += n; err != nil || n == 0 {
			return sum, err
		}
		e.rest(ctx, time.Since(began))
	}
	return sum, nil
}

// pruneJournal deletes old entries step by step, and returns their number.
func (e *Engine) pruneJournal(ctx context.Context, old journal.Old, now time.Time) (sum int, err error) {
	for ctx.Err() == nil {
		began := time.Now()
		n, more, err := journal.Prune(ctx, e.DB, old, e.Followers, stepEntries, now)
		if sum += n; err != nil || !more {
			return sum, err
		}
		e.rest(ctx, time.Since(began))
	}
	return sum, nil
}

// rest pauses after a step, so that others can use the database at least half of the time.
func (e *Engine) rest(ctx context.Context, took time.Duration) {
	if e.pause != nil {
		e.pause(ctx, took)
		return
	}
	timer := time.NewTimer(max(took, minimumPause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// oldEntries returns what to delete from the journal: for each group, class and number of days.
func oldEntries(tenants []tenant.Tenant, now time.Time) []journal.Old {
	type key struct {
		group int32
		class journal.Class
		days  int
	}
	byKey := map[key]*journal.Old{}
	for _, t := range tenants {
		for class, days := range map[journal.Class]int{
			journal.ClassEvents: t.Settings.Retention.Events, journal.ClassEngagement: t.Settings.Retention.Engagement,
		} {
			k := key{t.ID.Group(), class, days}
			if byKey[k] == nil {
				byKey[k] = &journal.Old{
					Group: k.group, Class: class, Days: days, Tenants: map[id.Tenant]bool{}, Before: now.Add(-time.Duration(days) * day),
				}
			}
			byKey[k].Tenants[t.ID] = true
			if t.RetentionAt.After(byKey[k].Changed) {
				byKey[k].Changed = t.RetentionAt
			}
		}
	}
	list := make([]journal.Old, 0, len(byKey))
	for _, k := range slices.SortedFunc(maps.Keys(byKey), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.class, b.class), cmp.Compare(a.days, b.days))
	}) {
		list = append(list, *byKey[k])
	}
	return list
}
