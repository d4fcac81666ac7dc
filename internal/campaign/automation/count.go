package automation

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// sum is what is added to the sums of an automation.
type sum struct {
	runs int64
	last int64 // microseconds
}

// addRuns adds to the sums of automations, in the order of their ids, so that concurrent transactions do
// not deadlock.
func addRuns(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, sums map[id.Automation]sum) error {
	if len(sums) == 0 {
		return nil
	}
	ids := make([]id.Automation, 0, len(sums))
	for a := range sums {
		ids = append(ids, a)
	}
	slices.SortFunc(ids, id.Compare)
	t := tx.Table("automation_id UUID", "runs BIGINT", "last_run_at BIGINT")
	for _, a := range ids {
		t.Add(a, sums[a].runs, sums[a].last)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO automation_count (tenant_id, automation_id, runs, last_run_at)
		SELECT h.tenant_id, v.automation_id, v.runs, v.last_run_at FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, automation_id) DO UPDATE SET runs = automation_count.runs + excluded.runs,
			last_run_at = `+tx.Greatest("COALESCE(automation_count.last_run_at, 0)", "excluded.last_run_at"), t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("count runs of automations: %w", err)
	}
	return nil
}

// Count is the stored number of runs of an automation, and what it should be.
type Count struct {
	Automation      id.Automation
	Stored, Counted int64 // runs that were carried out, pruned ones included
}

// CountAfter counts the runs of the next automations by id, up to limit of them.
func CountAfter(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Automation, limit int) ([]Count, error) {
	rows, err := db.Query(ctx, `
		SELECT a.id, COALESCE(c.runs, 0), COALESCE(c.pruned, 0) + (
			SELECT COUNT(*) FROM automation_run AS r WHERE r.tenant_id = $1 AND r.automation_id = a.id AND r.status IN ('completed', 'failed'))
		FROM automation AS a LEFT JOIN automation_count AS c ON c.tenant_id = $1 AND c.automation_id = a.id
		WHERE a.tenant_id = $1 AND a.id > $2 ORDER BY a.id LIMIT $3`, tenant, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s Count, err error) {
		err = scan(&s.Automation, &s.Stored, &s.Counted)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the runs of automations: %w", err)
	}
	return list, nil
}

// Correct adds the difference between counted and stored runs to the sums of an automation.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Count) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO automation_count (tenant_id, automation_id, runs) VALUES ($1, $2, $3)
			ON CONFLICT (tenant_id, automation_id) DO UPDATE SET runs = automation_count.runs + excluded.runs`, tenant, s.Automation, s.Counted-s.Stored)
		return err
	})
	if err != nil {
		return fmt.Errorf("correct the sums of an automation: %w", err)
	}
	return nil
}
