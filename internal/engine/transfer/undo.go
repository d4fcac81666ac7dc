package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The faults of undoing an import.
var (
	ErrNotUndoable = fault.New(fault.Conflict, "NOT_UNDOABLE", "there is nothing to undo")
	ErrUndone      = fault.New(fault.Conflict, "ALREADY_UNDONE", "the import is undone, or is being undone")
	ErrUndoExpired = fault.New(fault.Conflict, "UNDO_EXPIRED", "an import can be undone for seven days after it has ended")
)

// UndoFor is how long an import can be undone after it has ended. What it changed is kept for a day longer, so that an
// undo that has begun can end.
const (
	UndoFor      = 7 * 24 * time.Hour
	KeepUndoDays = 8
)

// Undo is whether an import can be undone.
type Undo struct {
	Until time.Time
	Job   id.Job // that undoes it or has; zero: none
}

// undoing are the details of ErrUndone.
type undoing struct {
	Job id.Job `json:"job_id"`
}

// undoParams are the parameters of the job that undoes an import.
type undoParams struct {
	Import id.Job `json:"import_id"`
}

// StartUndo queues the job that undoes an import. The import's scopes are needed: lists:write too if it added to a list.
func StartUndo(ctx context.Context, db *sqldb.DB, j job.Job, by auth.Principal, now time.Time) (job.Job, error) {
	switch {
	case j.Kind != job.Import:
		return job.Job{}, ErrNotUndoable.Sayf("only an import can be undone")
	case !j.Status.Ended():
		return job.Job{}, job.ErrTransition.Sayf("the import has not ended yet")
	}
	undos, err := UndosOf(ctx, db, j.Tenant, []job.Job{j}, now)
	if err != nil {
		return job.Job{}, err
	}
	undo, any := undos[j.ID]
	switch {
	case any && !undo.Job.IsZero():
		return job.Job{}, ErrUndone.With(undoing{undo.Job})
	case !now.Before(j.FinishedAt.Add(UndoFor)):
		return job.Job{}, ErrUndoExpired
	case !any:
		return job.Job{}, ErrNotUndoable.Sayf("the import changed nothing, or it is of an earlier version")
	}
	changes, err := sumChanges(ctx, db, j.Tenant, j.ID)
	if err != nil {
		return job.Job{}, err
	}
	if changes.listed {
		if err := by.Need(auth.ListsWrite); err != nil {
			return job.Job{}, err
		}
	}
	title := "Undo of an import"
	if j.Title != "" {
		title = "Undo: " + j.Title
	}
	undone, err := job.Create(ctx, db, job.Draft{
		Tenant: j.Tenant, Kind: job.ImportUndo, Title: title, Scope: j.Scope, Params: undoParams{j.ID}, Total: &changes.contacts, Undoes: j.ID, By: by.Actor(),
	}, now)
	if sqldb.IsUniqueViolation(err) { // another request was first
		return job.Job{}, ErrUndone
	}
	return undone, err
}

// UndosOf returns which of some jobs are imports that can be undone, are being undone or have been.
func UndosOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, jobs []job.Job, now time.Time) (map[id.Job]Undo, error) {
	ended := map[id.Job]time.Time{}
	var ids, open []id.Job
	for _, j := range jobs {
		if j.Kind == job.Import && j.Status.Ended() {
			ended[j.ID] = j.FinishedAt.Add(UndoFor)
			ids = append(ids, j.ID)
			if now.Before(ended[j.ID]) {
				open = append(open, j.ID)
			}
		}
	}
	by, err := job.Undoing(ctx, db, tenant, ids)
	if err != nil {
		return nil, err
	}
	found := map[id.Job]Undo{}
	for imported, undo := range by {
		found[imported] = Undo{ended[imported], undo}
	}
	if len(open) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT DISTINCT job_id FROM import_change WHERE tenant_id = $1 AND job_id`+db.In(2), tenant, sqldb.List(db, open))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var j id.Job
		err := scan(&j)
		found[j] = Undo{ended[j], by[j]}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find imports that can be undone: %w", err)
	}
	return found, nil
}

// changeSum is what is left to undo of an import.
type changeSum struct {
	contacts int64
	listed   bool // it added contacts to a list
}

func sumChanges(ctx context.Context, db *sqldb.DB, tenant id.Tenant, imported id.Job) (s changeSum, err error) {
	var lists int
	err = db.QueryRow(ctx, `SELECT COALESCE(SUM(contacts), 0), COUNT(segment_id) FROM import_change WHERE tenant_id = $1 AND job_id = $2`,
		tenant, imported).Scan(&s.contacts, &lists)
	if err != nil {
		return s, fmt.Errorf("count what an import changed: %w", err)
	}
	s.listed = lists > 0
	return s, nil
}

// UndoResult is the result of an undo so far. It counts contacts; one may be restored in part and kept in part.
type UndoResult struct {
	Deleted  int64                  `json:"deleted"`  // that the import created
	Restored int64                  `json:"restored"` // of whose changes some were taken back
	Kept     map[contact.Kept]int64 `json:"kept"`     // with something that stays as the import left it
}

// PruneChanges deletes up to limit steps of imports that ended before a time, and returns their number.
func PruneChanges(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (int, error) {
	rows, err := db.Query(ctx, `SELECT DISTINCT job_id FROM import_change WHERE tenant_id = $1 /* reads the tenant: the imports of a week */`, tenant)
	imports, err := sqldb.Collect(rows, err, func(scan func(...any) error) (j id.Job, err error) { return j, scan(&j) })
	if err != nil {
		return 0, fmt.Errorf("find what imports changed: %w", err)
	}
	ended, err := job.EndedBefore(ctx, db, tenant, imports, before)
	if err != nil || len(ended) == 0 {
		return 0, err
	}
	n, err := db.Exec(ctx, `
		DELETE FROM import_change WHERE tenant_id = $1 AND (job_id, row_number) IN (
			SELECT job_id, row_number FROM import_change WHERE tenant_id = $1 AND job_id`+db.In(2)+` LIMIT $3)`,
		tenant, sqldb.List(db, ended), limit)
	if err != nil {
		return 0, fmt.Errorf("delete what imports changed: %w", err)
	}
	return int(n), nil
}
