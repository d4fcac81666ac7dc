package job

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Undoing returns, by job, the job that undoes it or has undone it. One that failed or was cancelled does not count.
func Undoing(ctx context.Context, db *sqldb.DB, tenant id.Tenant, jobs []id.Job) (map[id.Job]id.Job, error) {
	found := map[id.Job]id.Job{}
	if len(jobs) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `
		SELECT undoes, id FROM job
		WHERE tenant_id = $1 AND undoes`+db.In(2)+` AND undoes IS NOT NULL AND status IN ('queued', 'running', 'completed')`,
		tenant, sqldb.List(db, jobs))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var undone, by id.Job
		err := scan(&undone, &by)
		found[undone] = by
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the jobs that undo others: %w", err)
	}
	return found, nil
}

// EndedBefore returns which of some jobs ended before a time, or are no longer known.
func EndedBefore(ctx context.Context, db *sqldb.DB, tenant id.Tenant, jobs []id.Job, before time.Time) ([]id.Job, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	later := map[id.Job]bool{}
	rows, err := db.Query(ctx, `SELECT id FROM job WHERE tenant_id = $1 AND id`+db.In(2)+` AND (finished_at IS NULL OR finished_at >= $3)`,
		tenant, sqldb.List(db, jobs), sqldb.Micros(before))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var j id.Job
		err := scan(&j)
		later[j] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find jobs that have ended: %w", err)
	}
	var ended []id.Job
	for _, j := range jobs {
		if !later[j] {
			ended = append(ended, j)
		}
	}
	return ended, nil
}
