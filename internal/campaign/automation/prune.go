package automation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Prune deletes up to limit runs of a tenant that were added before a time, oldest first, and returns
// how many it deleted. The sums of automations keep counting them.
func Prune(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (int, error) {
	n := 0
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		n = 0
		rows, err := tx.Query(ctx, `
			DELETE FROM automation_run WHERE tenant_id = $1 AND id IN (
				SELECT r.id FROM automation_run AS r WHERE r.tenant_id = $1 AND r.id < $2 ORDER BY r.id LIMIT $3)
			RETURNING automation_id, status`, tenant, id.FirstAt[id.AutomationRun](before), limit)
		gone := map[id.Automation]int64{}
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			var a id.Automation
			var s RunStatus
			err := scan(&a, sqldb.ToText(&s))
			if n++; s == Completed || s == Failed {
				gone[a]++
			}
			return err
		})
		if err != nil || len(gone) == 0 {
			return err
		}
		t := tx.Table("automation_id UUID", "n BIGINT")
		for a, k := range gone {
			t.Add(a, k)
		}
		_, err = tx.Exec(ctx, `UPDATE automation_count SET pruned = automation_count.pruned + v.n FROM `+t.As("v", 2)+`
			WHERE automation_count.tenant_id = $1 AND automation_count.automation_id = v.automation_id`, t.Args(tenant)...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune runs of automations: %w", err)
	}
	return n, nil
}

// afterDeletion is how long after the deletion of an automation its runs are looked for once more.
// Transactions that began before the deletion have ended then.
const afterDeletion = 10 * time.Minute

// DeleteRuns deletes up to limit runs of an automation that was deleted. It reports whether there may be
// more to do now.
func DeleteRuns(ctx context.Context, db *sqldb.DB, limit int, now time.Time) (more bool, err error) {
	var tenant id.Tenant
	var automation id.Automation
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		more = false
		var deleted int64
		err := tx.QueryRow(ctx, `/* all tenants: one index has what is due */
			SELECT tenant_id, automation_id, deleted_at FROM automation_deleted WHERE due_at <= $1 ORDER BY due_at LIMIT 1`+tx.SkipLocked(), sqldb.Micros(now)).
			Scan(&tenant, &automation, &deleted)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			DELETE FROM automation_run WHERE tenant_id = $1 AND id IN (
				SELECT r.id FROM automation_run AS r WHERE r.tenant_id = $1 AND r.automation_id = $2 ORDER BY r.id LIMIT $3)`, tenant, automation, limit)
		if more = true; err != nil || n > 0 {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM automation_count WHERE tenant_id = $1 AND automation_id = $2`, tenant, automation); err != nil {
			return err
		}
		last := sqldb.Time(deleted).Add(afterDeletion)
		if now.Before(last) {
			_, err = tx.Exec(ctx, `UPDATE automation_deleted SET due_at = $3 WHERE tenant_id = $1 AND automation_id = $2`, tenant, automation, sqldb.Micros(last))
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM automation_deleted WHERE tenant_id = $1 AND automation_id = $2`, tenant, automation)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("delete the runs of a deleted automation: %w", err)
	}
	return more, nil
}
