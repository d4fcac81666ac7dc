package job

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Filter selects jobs of a list. Its zero value selects all.
type Filter struct {
	Kinds    []Kind   // any of these; empty: all
	Statuses []Status // any of these; empty: all
	By       id.User  // created by this user; zero: by anyone
}

// ParseFilter parses the names of kinds and statuses. The error has a problem for each that is unknown.
func ParseFilter(kinds, statuses []string) (Filter, error) {
	var f Filter
	var p fault.Problems
	for _, k := range kinds {
		switch Kind(k) {
		case Import, Export, Bulk, ImportUndo:
			f.Kinds = append(f.Kinds, Kind(k))
		default:
			p.Add("type", "must be a comma list of import, export, bulk, import_undo")
		}
	}
	for _, s := range statuses {
		switch Status(s) {
		case Queued, Running, Completed, Failed, Cancelled:
			f.Statuses = append(f.Statuses, Status(s))
		default:
			p.Add("status", "must be a comma list of queued, running, completed, failed, cancelled")
		}
	}
	return f, p.Err()
}

// Position is a job's place in a list, newest first.
type Position struct {
	At time.Time
	ID id.Job
}

// List returns up to limit jobs that f selects after a position, newest first, and whether more follow.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter, after *Position, limit int) (list []Job, more bool, err error) {
	var where strings.Builder
	args := []any{tenant, limit + 1}
	param := func(v any) int { args = append(args, v); return len(args) }
	if len(f.Kinds) > 0 {
		where.WriteString(` AND kind` + db.In(param(sqldb.List(db, f.Kinds))))
	}
	if len(f.Statuses) > 0 {
		where.WriteString(` AND status` + db.In(param(sqldb.List(db, f.Statuses))))
	}
	if !f.By.IsZero() {
		by, err := json.Marshal(map[string]string{"type": "user", "id": f.By.String()})
		if err != nil {
			return nil, false, err
		}
		where.WriteString(` AND ` + db.JSONContains("created_by", param(string(by))))
	}
	if after != nil {
		fmt.Fprintf(&where, ` AND (created_at, id) < ($%d, $%d)`, param(after.At.UnixMicro()), param(after.ID))
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM job WHERE tenant_id = $1`+where.String()+` ORDER BY created_at DESC, id DESC LIMIT $2`, args...)
	list, err = sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, false, fmt.Errorf("list jobs: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// LastEnded returns by tenant when its last job of any of the kinds ended that did so between two times.
func LastEnded(ctx context.Context, db *sqldb.DB, kinds []Kind, from, to time.Time) (map[id.Tenant]time.Time, error) {
	rows, err := db.Query(ctx, `
		SELECT tenant_id, MAX(finished_at) FROM job WHERE finished_at >= $1 AND finished_at <= $2 AND kind`+db.In(3)+`
		GROUP BY tenant_id /* all tenants: in the background */`, from.UnixMicro(), to.UnixMicro(), sqldb.List(db, kinds))
	ended := map[id.Tenant]time.Time{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var t id.Tenant
		var at int64
		err := scan(&t, &at)
		ended[t] = sqldb.Time(at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find tenants whose jobs have ended: %w", err)
	}
	return ended, nil
}

// FilesUntil returns until when the files that a job has written can be downloaded, or nil if it has none.
// Files also go when a contact is anonymized.
func FilesUntil(ctx context.Context, db *sqldb.DB, tenant id.Tenant, jobs []Job) (map[id.Job]time.Time, error) {
	ended := map[id.Job]time.Time{}
	var ids []id.Job
	for _, j := range jobs {
		if j.Status.Ended() && (j.Kind != Export || j.Status == Completed) {
			ended[j.ID] = j.FinishedAt.Add(KeepFor)
			ids = append(ids, j.ID)
		}
	}
	found := map[id.Job]time.Time{}
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT job_id FROM job_file WHERE tenant_id = $1 AND job_id`+db.In(2)+` AND name <> $3 AND name <> $4`,
		tenant, sqldb.List(db, ids), Input, Report)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var j id.Job
		err := scan(&j)
		found[j] = ended[j]
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the files of jobs: %w", err)
	}
	return found, nil
}
