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

// A job is suspected of ending the processes that run it, as one does that needs more memory than there is, when two in
// a row ended that had leased it and committed no step. It then waits behind all others, so that a process that starts
// again works for other tenants, and fails after maxDeaths.
const (
	suspectDeaths = 2 // one alone says nothing: processes end for many reasons
	maxDeaths     = 5
	deathPause    = 30 * time.Second // doubles with each further death
)

// candidate is a job that is ready, as claim finds it.
type candidate struct {
	tenant        id.Tenant
	job           id.Job
	epoch, deaths int64
	owner         string // not empty: the process that leased the job has ended without releasing it
}

// claim leases the next job of the given kinds until a time, and reports whether there was one. Jobs that are
// suspected of ending their process come last. Before that, the tenant with the fewest running jobs comes first, then
// the one served longest ago.
func claim(ctx context.Context, db *sqldb.DB, kinds []Kind, owner string, now, until time.Time) (Job, bool, error) {
	next, err := candidatesFor(ctx, db, kinds, now)
	if err != nil {
		return Job{}, false, fmt.Errorf("find a job: %w", err)
	}
	for _, c := range next {
		deaths := c.deaths
		if c.owner != "" {
			deaths++
		}
		if c.owner != "" && deaths >= suspectDeaths {
			if err := c.postpone(ctx, db, deaths, now); err != nil {
				return Job{}, false, err
			}
			return claim(ctx, db, kinds, owner, now, until) // others of its tenant and kind are ready now
		}
		j, err := scan(db.QueryRow(ctx, `
			UPDATE job SET status = 'running', owner = $4, lease_until = $5, epoch = epoch + 1, tries = tries + 1, served_at = $6, deaths = $7
			WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND lease_until <= $6 AND status IN ('queued', 'running')
			RETURNING `+columns,
			c.tenant, c.job, c.epoch, owner, until.UnixMicro(), now.UnixMicro(), deaths).Scan)
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

// candidatesFor returns the jobs that may be leased, the next one first.
func candidatesFor(ctx context.Context, db *sqldb.DB, kinds []Kind, now time.Time) ([]candidate, error) {
	rows, err := db.Query(ctx, `
		/* all tenants: jobs of all tenants share the workers */
		SELECT j.tenant_id, j.id, j.epoch, j.deaths, j.owner FROM job j WHERE `+ready(db)+`
		ORDER BY CASE WHEN j.deaths < $4 THEN 0 ELSE 1 END,
			(SELECT COUNT(*) FROM job r WHERE r.tenant_id = j.tenant_id AND r.status = 'running' AND r.lease_until > $1),
			(SELECT MAX(r.served_at) FROM job r WHERE r.tenant_id = j.tenant_id), j.created_at, j.id LIMIT $3`,
		now.UnixMicro(), sqldb.List(db, kinds), candidates, suspectDeaths)
	return sqldb.Collect(rows, err, func(row func(...any) error) (candidate, error) {
		var c candidate
		err := row(&c.tenant, &c.job, &c.epoch, &c.deaths, &c.owner)
		return c, err
	})
}

// postpone queues a job again that ended its process, so that others of its tenant and kind may run before it. It
// fails the job after maxDeaths.
func (c candidate) postpone(ctx context.Context, db *sqldb.DB, deaths int64, now time.Time) error {
	if deaths >= maxDeaths {
		j := Job{Tenant: c.tenant, ID: c.job, epoch: c.epoch}
		return j.end(ctx, db, &Failure{Code: "INTERNAL_ERROR", Message: "the job was interrupted too often; please report the job's id"}, now)
	}
	_, err := db.Exec(ctx, `
		UPDATE job SET status = 'queued', owner = '', lease_until = $4, deaths = $5, epoch = epoch + 1
		WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND status = 'running'`,
		c.tenant, c.job, c.epoch, now.Add(deathPause<<(deaths-suspectDeaths)).UnixMicro(), deaths)
	if err != nil {
		return fmt.Errorf("postpone a job: %w", err)
	}
	return nil
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

// forgive takes back that the end of a lease was counted as the death of this process, which lives.
func (j *Job) forgive(ctx context.Context, db *sqldb.DB) error {
	_, err := db.Exec(ctx, `
		UPDATE job SET deaths = deaths - 1 WHERE tenant_id = $1 AND id = $2 AND epoch > $3 AND deaths > 0 AND status IN ('queued', 'running')`,
		j.Tenant, j.ID, j.epoch)
	if err != nil {
		return fmt.Errorf("count the deaths of a job: %w", err)
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
