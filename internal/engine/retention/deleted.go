package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// kept are the tables whose rows of a deleted tenant are not deleted here: the tenant itself, whose slug
// is never used again, and the journal, which has an order of its own.
var kept = []string{"tenant", "journal"}

// eraseDeleted deletes what is left of tenants that were deleted tenant.ErasedAfter ago: their rows in
// all tables, and then their settings. It goes by the catalog of the database, so that no table is
// forgotten.
func (e *Engine) eraseDeleted(ctx context.Context, now time.Time) error {
	gone, err := tenant.Erasable(ctx, e.DB, now)
	if err != nil || len(gone) == 0 {
		return err
	}
	tables, err := e.DB.TablesOfTenants(ctx)
	if err != nil {
		return err
	}
	tables = slices.DeleteFunc(tables, func(t sqldb.KeyedTable) bool { return slices.Contains(kept, t.Name) })
	var errs []error
	var cleared []tenant.Tenant
	for _, t := range gone {
		sum, err := 0, error(nil)
		for _, table := range tables {
			n, tableErr := e.emptyTable(ctx, table, t.ID)
			sum += n
			if tableErr != nil {
				err = fmt.Errorf("%s of the deleted tenant %d: %w", table.Name, t.ID, tableErr)
				break // its references may be the reason why others fail
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if sum > 0 {
			e.Log.Info("data of a deleted tenant deleted", "tenant", t.ID, "rows", sum)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		cleared = append(cleared, t)
	}
	for _, old := range entriesOfDeleted(cleared, now) {
		n, err := e.pruneJournal(ctx, old, now)
		if err != nil {
			errs = append(errs, fmt.Errorf("journal of group %d: %w", old.Group, err))
		}
		if n > 0 {
			e.Log.Info("journal entries of deleted tenants deleted", "group", old.Group, "class", old.Class, "rows", n)
		}
	}
	for _, t := range cleared {
		done, err := journal.Forget(ctx, e.DB, t.ID, e.Followers)
		if err == nil && done {
			err = tenant.Erase(ctx, e.DB, t.ID, now)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("deleted tenant %d: %w", t.ID, err))
		}
	}
	return errors.Join(errs...)
}

// emptyTable deletes the rows of a deleted tenant step by step, and returns their number.
func (e *Engine) emptyTable(ctx context.Context, table sqldb.KeyedTable, t id.Tenant) (sum int, err error) {
	for ctx.Err() == nil {
		began := time.Now()
		n, err := deleteRows(ctx, e.DB, table, t, stepRows)
		if sum += n; err != nil || n == 0 {
			return sum, err
		}
		e.rest(ctx, time.Since(began))
	}
	return sum, ctx.Err()
}

// deleteRows deletes up to limit rows of a tenant, and returns their number.
func deleteRows(ctx context.Context, db *sqldb.DB, table sqldb.KeyedTable, t id.Tenant, limit int) (int, error) {
	key := strings.Join(table.Key, ", ")
	n, err := db.Exec(ctx, `
		DELETE FROM `+table.Name+` WHERE tenant_id = $1 AND (`+key+`) IN (SELECT `+key+` FROM `+table.Name+` WHERE tenant_id = $1 LIMIT $2)
		/* all tenants: a table that the catalog names, of one tenant */`, t, limit)
	return int(n), err
}

// entriesOfDeleted returns what to delete from the journal: all entries of deleted tenants, by group and
// class. Each tenant makes the search begin again.
func entriesOfDeleted(gone []tenant.Tenant, now time.Time) []journal.Old {
	var list []journal.Old
	for _, t := range gone {
		due := t.UpdatedAt.Add(tenant.ErasedAfter)
		for _, class := range []journal.Class{journal.ClassEvents, journal.ClassEngagement} {
			i := slices.IndexFunc(list, func(o journal.Old) bool { return o.Group == t.ID.Group() && o.Class == class })
			if i < 0 {
				i = len(list)
				list = append(list, journal.Old{Group: t.ID.Group(), Class: class, Tenants: map[id.Tenant]bool{}, Before: now})
			}
			list[i].Tenants[t.ID] = true
			if due.After(list[i].Changed) {
				list[i].Changed = due
			}
		}
	}
	return list
}
