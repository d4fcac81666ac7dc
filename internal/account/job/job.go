package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind is the kind of work a job does.
type Kind string

// The kinds.
const (
	Import     Kind = "import"
	Export     Kind = "export"
	Bulk       Kind = "bulk"
	ImportUndo Kind = "import_undo"
)

// Status is the state of a job.
type Status string

// The statuses.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Ended reports whether a job in this status has ended.
func (s Status) Ended() bool { return s != Queued && s != Running }

// Job is one piece of work.
type Job struct {
	ID         id.Job
	Tenant     id.Tenant
	Kind       Kind
	Title      string // for people; empty for jobs of earlier versions
	Status     Status
	Scope      auth.Scope      // the scope an API key needs to see the job
	Params     json.RawMessage // an object; empty once the job has ended
	State      json.RawMessage // the checkpoint, an object; nil before the first step
	Result     json.RawMessage // an object, or nil
	Error      *Failure        // of a failed job
	Processed  int64
	Total      *int64 // nil: unknown
	CreatedBy  auth.Actor
	CreatedAt  time.Time
	FinishedAt *time.Time
	Undoes     id.Job // of ImportUndo: the import

	epoch, tries int64
	trial        bool // see Work.MarkTrial
}

// Failure is the reason why a job failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The faults of this package.
var (
	ErrNotFound   = fault.New(fault.NotFound, "NOT_FOUND", "there is no such job")
	ErrNoFile     = fault.New(fault.NotFound, "NOT_FOUND", "the job has no such file; files are there once the job has ended, for seven days at most, and go when a contact is anonymised")
	ErrTransition = fault.New(fault.Conflict, "INVALID_TRANSITION", "the job has ended already")
	ErrLimit      = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "at most 100 jobs may wait or run at a time; wait until some have ended")
)

// maxOpen is the maximum number of unfinished jobs of a tenant.
const maxOpen = 100

// Draft is the argument of Create.
type Draft struct {
	Tenant id.Tenant
	Kind   Kind
	Title  string     // what people call it, such as "Import of contacts.csv"
	Scope  auth.Scope // the scope an API key needs to see and cancel the job
	Params any        // encodes to a JSON object
	Total  *int64     // the amount of work, if known
	Undoes id.Job     // the job that this one undoes, if any
	By     auth.Actor
}

// Wake is notified when a job is queued.
const Wake sqldb.Signal = "job"

// Create queues a job.
func Create(ctx context.Context, db *sqldb.DB, d Draft, now time.Time) (Job, error) {
	params, err := json.Marshal(d.Params)
	if err != nil {
		return Job{}, fmt.Errorf("queue a job: %w", err)
	}
	by, err := json.Marshal(d.By)
	if err != nil {
		return Job{}, fmt.Errorf("queue a job: %w", err)
	}
	var j Job
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var open int
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM job WHERE tenant_id = $1 AND status IN ('queued', 'running')`, d.Tenant).Scan(&open)
		if err != nil {
			return err
		}
		if open >= maxOpen {
			return ErrLimit
		}
		j, err = scan(tx.QueryRow(ctx, `
			INSERT INTO job (tenant_id, id, kind, status, scope, params, processed, total, created_by, created_at,
				served_at, owner, lease_until, epoch, tries, title, undoes)
			VALUES ($1, $2, $3, 'queued', $4, $5, 0, $6, $7, $8, 0, '', 0, 0, 0, $9, $10)
			RETURNING `+columns,
			d.Tenant, id.New[id.Job](), d.Kind, d.Scope, string(params), d.Total, string(by), sqldb.Micros(now), d.Title, sqldb.Null(d.Undoes)).Scan)
		tx.Notify(Wake)
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("queue a job: %w", err)
	}
	return j, nil
}

const columns = `tenant_id, id, kind, status, scope, params, state, result, error, processed, total,
	created_by, created_at, finished_at, epoch, tries, title, undoes`

func scan(row func(...any) error) (Job, error) {
	var j Job
	var params, by string
	var state, result, failure sql.NullString
	var total, finished sql.NullInt64
	var created int64
	err := row(&j.Tenant, &j.ID, &j.Kind, &j.Status, &j.Scope, &params, &state, &result, &failure, &j.Processed, &total,
		&by, &created, &finished, &j.epoch, &j.tries, &j.Title, &j.Undoes)
	if err != nil {
		return Job{}, err
	}
	j.Params, j.State, j.Result = rawOrNil(params), rawOrNil(state.String), rawOrNil(result.String)
	j.CreatedAt, j.FinishedAt = sqldb.Time(created), sqldb.NullTime(finished)
	if total.Valid {
		j.Total = &total.Int64
	}
	if failure.Valid {
		if err := json.Unmarshal([]byte(failure.String), &j.Error); err != nil {
			return Job{}, fmt.Errorf("job %s: %w", j.ID, err)
		}
	}
	if err := json.Unmarshal([]byte(by), &j.CreatedBy); err != nil {
		return Job{}, fmt.Errorf("job %s: %w", j.ID, err)
	}
	return j, nil
}

func rawOrNil(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// ByID returns a job of the tenant.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, job id.Job) (Job, error) {
	j, err := scan(db.QueryRow(ctx, `SELECT `+columns+` FROM job WHERE tenant_id = $1 AND id = $2`, tenant, job).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Job{}, ErrNotFound
	}
	if err != nil {
		return Job{}, fmt.Errorf("read a job: %w", err)
	}
	return j, nil
}

// Cancel ends a job that has not ended. Committed steps remain; the current step, if any, either
// has committed or is rolled back.
func Cancel(ctx context.Context, db *sqldb.DB, tenant id.Tenant, job id.Job, now time.Time) (Job, error) {
	j, err := scan(db.QueryRow(ctx, `
		UPDATE job SET status = 'cancelled', finished_at = $3, owner = '', lease_until = 0, epoch = epoch + 1, params = '{}', state = NULL
		WHERE tenant_id = $1 AND id = $2 AND status IN ('queued', 'running')
		RETURNING `+columns, tenant, job, sqldb.Micros(now)).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		if _, err := ByID(ctx, db, tenant, job); err != nil {
			return Job{}, err
		}
		return Job{}, ErrTransition
	}
	if err != nil {
		return Job{}, fmt.Errorf("cancel a job: %w", err)
	}
	return j, nil
}
