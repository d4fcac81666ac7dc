package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ready is the condition that job j may be leased at time $1: it is queued and no other job of its
// tenant and kind is running, or it is running and its lease has expired. $2 is the list of kinds.
func ready(db *sqldb.DB) string {
	return ` j.lease_until <= $1 AND j.kind` + db.In(2) + ` AND (j.status = 'running' OR (j.status = 'queued' AND NOT EXISTS (
		SELECT 1 FROM job r WHERE r.tenant_id = j.tenant_id AND r.kind = j.kind AND r.status = 'running'))) `
}

// candidates is how many ready jobs a claim reads, since other processes may claim some of them
// first.
const candidates = 8

// claim leases the next job of the given kinds until a time, and reports whether there was one. The
// tenant with the fewest running jobs comes first, then the one served longest ago.
func claim(ctx context.Context, db *sqldb.DB, kinds []Kind, owner string, now, until time.Time) (Job, bool, error) {
	type ref struct {
		tenant id.Tenant
		job    id.Job
		epoch  int64
	}
	rows, err := db.Query(ctx, `
		/* all tenants: jobs of all tenants share the workers */
		SELECT j.tenant_id, j.id, j.epoch FROM job j WHERE `+ready(db)+`
		ORDER BY (SELECT COUNT(*) FROM job r WHERE r.tenant_id = j.tenant_id AND r.status = 'running' AND r.lease_until > $1),
			(SELECT MAX(r.served_at) FROM job r WHERE r.tenant_id = j.tenant_id), j.created_at, j.id LIMIT $3`,
		now.UnixMicro(), sqldb.List(db, kinds), candidates)
	next, err := sqldb.Collect(rows, err, func(row func(...any) error) (ref, error) {
		var r ref
		err := row(&r.tenant, &r.job, &r.epoch)
		return r, err
	})
	if err != nil {
		return Job{}, false, fmt.Errorf("find a job: %w", err)
	}
	for _, r := range next {
		j, err := scan(db.QueryRow(ctx, `
			UPDATE job SET status = 'running', owner = $4, lease_until = $5, epoch = epoch + 1, tries = tries + 1, served_at = $6
			WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND lease_until <= $6 AND status IN ('queued', 'running')
			RETURNING `+columns,
			r.tenant, r.job, r.epoch, owner, until.UnixMicro(), now.UnixMicro()).Scan)
		switch {
		case err == nil:
			return j, true, nil
		case errors.Is(err, sqldb.ErrNoRows), sqldb.IsUniqueViolation(err): // another process claimed this job, or one of its kind
			continue
		}
		return Job{}, false, fmt.Errorf("lease a job: %w", err)
	}
	return Job{}, false, nil
}

// waiting reports whether a job could be leased.
func waiting(ctx context.Context, db *sqldb.DB, kinds []Kind, now time.Time) (bool, error) {
	var any bool
	err := db.QueryRow(ctx, `
		/* all tenants: jobs of all tenants share the workers */
		SELECT EXISTS (SELECT 1 FROM job j WHERE `+ready(db)+`)`, now.UnixMicro(), sqldb.List(db, kinds)).Scan(&any)
	if err != nil {
		return false, fmt.Errorf("look for waiting jobs: %w", err)
	}
	return any, nil
}

// releaseOthers ends the leases of all other processes. It is called if this process is the only
// one on the database, so that the others are dead.
func releaseOthers(ctx context.Context, db *sqldb.DB, owner string) error {
	_, err := db.Exec(ctx, `
		/* all tenants: the processes are dead */
		UPDATE job SET lease_until = 0 WHERE status = 'running' AND owner NOT IN ('', $1)`, owner)
	if err != nil {
		return fmt.Errorf("release jobs of dead processes: %w", err)
	}
	return nil
}

// renew extends the lease and reports whether it was still valid.
func (j *Job) renew(ctx context.Context, db *sqldb.DB, until time.Time) (bool, error) {
	n, err := db.Exec(ctx, `
		UPDATE job SET lease_until = $4 WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND status = 'running'`,
		j.Tenant, j.ID, j.epoch, until.UnixMicro())
	return n > 0, err
}

// release ends the lease: the job may be leased again from the given time on.
func (j *Job) release(ctx context.Context, db *sqldb.DB, tries int64, from time.Time) error {
	_, err := db.Exec(ctx, `
		UPDATE job SET owner = '', lease_until = $4, tries = $5
		WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND status = 'running'`,
		j.Tenant, j.ID, j.epoch, from.UnixMicro(), tries)
	if err != nil {
		return fmt.Errorf("release a job: %w", err)
	}
	return nil
}

// end finishes the job; failure is nil if it completed. A job that was cancelled or lost meanwhile
// does not change. The parameters, which may contain personal data, are cleared. An import that
// completed is recorded in the journal.
func (j *Job) end(ctx context.Context, db *sqldb.DB, failure *Failure, now time.Time) error {
	status, reason := Completed, any(nil)
	if failure != nil {
		text, err := json.Marshal(failure)
		if err != nil {
			return err
		}
		status, reason = Failed, string(text)
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err := tx.Exec(ctx, `
			UPDATE job SET status = $4, error = $5, finished_at = $6, owner = '', lease_until = 0, params = '{}', state = NULL
			WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND status = 'running'`,
			j.Tenant, j.ID, j.epoch, status, reason, now.UnixMicro())
		if err != nil || n == 0 || j.Kind != Import || status != Completed || j.trial {
			return err
		}
		return journal.Append(ctx, tx, journal.Entry{Tenant: j.Tenant, Type: journal.ImportCompleted, Name: j.ID.String(), At: now, Data: j.Result})
	})
	if err != nil {
		return fmt.Errorf("end a job: %w", err)
	}
	return nil
}
