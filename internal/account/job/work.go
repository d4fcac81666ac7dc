package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Runner runs a job of one kind, from its checkpoint to its end. If Step returns an error, the
// Runner must return it unchanged. A fault fails the job; any other error causes a retry later.
//
// A Runner that is called again after the last step must find nothing to do.
type Runner func(ctx context.Context, w *Work) error

// ErrCancelled means that the job was cancelled; the step was rolled back.
var ErrCancelled = errors.New("the job was cancelled")

// errLost means that another process has leased the job; the step was rolled back.
var errLost = errors.New("the lease on the job was lost")

// errYield means that the job should yield to others; the step was committed.
var errYield = errors.New("the job yields to others")

// Work is a leased job.
type Work struct {
	Job Job // as of the last committed step
	DB  *sqldb.DB
	Log *slog.Logger
	Now func() time.Time

	lease       time.Duration
	shouldYield func(context.Context) bool // whether to yield to others; nil: never
}

// Progress is the state after a step. All fields describe the whole job so far, not the step alone.
type Progress struct {
	Processed int64
	Total     *int64 // nil leaves it unchanged
	State     any    // the checkpoint; encodes to a JSON object
	Result    any    // encodes to a JSON object; nil leaves it unchanged
}

// MarkTrial marks the job as one that changes nothing. Its end is not recorded in the journal.
func (w *Work) MarkTrial() { w.Job.trial = true }

// Params decodes the job's parameters.
func (w *Work) Params(into any) error {
	if err := json.Unmarshal(w.Job.Params, into); err != nil {
		return fmt.Errorf("the parameters of job %s: %w", w.Job.ID, err)
	}
	return nil
}

// State decodes the checkpoint; before the first step it leaves into unchanged.
func (w *Work) State(into any) error {
	if w.Job.State == nil {
		return nil
	}
	if err := json.Unmarshal(w.Job.State, into); err != nil {
		return fmt.Errorf("the state of job %s: %w", w.Job.ID, err)
	}
	return nil
}

// Step does one bounded piece of work: it commits what fn changes through tx together with the
// progress that fn returns, unless the job was cancelled or lost meanwhile. fn may be called again
// when the transaction is retried, so it must set its results from scratch each time.
func (w *Work) Step(ctx context.Context, fn func(tx *sqldb.DB) (Progress, error)) error {
	next := w.Job
	err := w.DB.InTx(ctx, func(tx *sqldb.DB) error {
		// First: a process whose lease ended, because it was stopped or slow, does nothing from here on. The
		// epoch tells it apart from itself before the job was leased again.
		if err := w.lockJob(ctx, tx); err != nil {
			return err
		}
		p, err := fn(tx)
		if err != nil {
			return err
		}
		if next, err = w.advance(ctx, tx, p); err != nil {
			return fmt.Errorf("record a job's step: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.Job = next // after the commit: a step that failed is done again from the checkpoint before it
	if w.shouldYield != nil && w.shouldYield(ctx) {
		return errYield
	}
	return nil
}

// lockJob locks the job's row until the transaction ends, so that a cancellation comes either
// before the step or after it.
func (w *Work) lockJob(ctx context.Context, tx *sqldb.DB) error {
	var status Status
	var epoch int64
	err := tx.QueryRow(ctx, `
		SELECT status, epoch FROM job WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(),
		w.Job.Tenant, w.Job.ID).Scan(&status, &epoch)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return errLost
	case err != nil:
		return fmt.Errorf("lock a job: %w", err)
	case status == Cancelled:
		return ErrCancelled
	case status != Running || epoch != w.Job.epoch:
		return errLost
	}
	return nil
}

// advance records the progress of a step, and extends the lease.
func (w *Work) advance(ctx context.Context, tx *sqldb.DB, p Progress) (Job, error) {
	next := w.Job
	next.Processed, next.tries = p.Processed, 0
	if p.Total != nil {
		next.Total = p.Total
	}
	var err error
	if p.State != nil {
		if next.State, err = json.Marshal(p.State); err != nil {
			return Job{}, err
		}
	}
	if p.Result != nil {
		if next.Result, err = json.Marshal(p.Result); err != nil {
			return Job{}, err
		}
	}
	_, err = tx.Exec(ctx, `
		UPDATE job SET processed = $3, total = $4, state = $5, result = $6, lease_until = $7, tries = 0, deaths = 0
		WHERE tenant_id = $1 AND id = $2`,
		next.Tenant, next.ID, next.Processed, next.Total, sqldb.Null(string(next.State)), sqldb.Null(string(next.Result)),
		sqldb.Micros(w.Now().Add(w.lease)))
	return next, err
}
