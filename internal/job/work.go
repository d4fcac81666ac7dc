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

// Runner does the work of one kind of job, from where w says it stands to its
// end. It returns what Step returned, as it is, when that is an error. A fault
// fails the job; any other error means to try again later.
//
// A Runner that is called again after the last step must find nothing to do.
type Runner func(ctx context.Context, w *Work) error

// ErrCancelled says that somebody cancelled the job: the step had no effect.
var ErrCancelled = errors.New("the job was cancelled")

// errLost says that another process has the job by now: the step had no effect.
var errLost = errors.New("the job is not ours any more")

// errYield says that the job makes room for others, after a step that counts.
var errYield = errors.New("the job makes room for others")

// Work is a job under lease.
type Work struct {
	Job Job // as of the last step
	DB  *sqldb.DB
	Log *slog.Logger
	Now func() time.Time

	lease time.Duration
	room  func(context.Context) bool // whether to make room for others; nil: never
}

// Progress is what a step reached; everything in it stands for the whole job so
// far, not for the step alone.
type Progress struct {
	Processed int64
	Total     *int64 // nil leaves what is known
	State     any    // where the next step goes on; encodes to a JSON object
	Result    any    // encodes to a JSON object, or nil to leave what is there
}

// Params decodes what was asked for.
func (w *Work) Params(into any) error {
	if err := json.Unmarshal(w.Job.Params, into); err != nil {
		return fmt.Errorf("the parameters of job %s: %w", w.Job.ID, err)
	}
	return nil
}

// State decodes where the last step ended; before the first step it leaves into
// as it is.
func (w *Work) State(into any) error {
	if w.Job.State == nil {
		return nil
	}
	if err := json.Unmarshal(w.Job.State, into); err != nil {
		return fmt.Errorf("the state of job %s: %w", w.Job.ID, err)
	}
	return nil
}

// Step does one bounded piece of work: what fn changes through tx, and the
// progress that it returns, are committed together, unless the job was cancelled
// or lost meanwhile. fn may be run again when the transaction lost a race, so it
// assigns anew what it leaves behind.
func (w *Work) Step(ctx context.Context, fn func(tx *sqldb.DB) (Progress, error)) error {
	next := w.Job
	err := w.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := w.hold(ctx, tx); err != nil {
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
	w.Job = next
	if w.room != nil && w.room(ctx) {
		return errYield
	}
	return nil
}

// hold keeps the job for the transaction, so that a cancellation comes either
// before the step or after it.
func (w *Work) hold(ctx context.Context, tx *sqldb.DB) error {
	var status Status
	var epoch int64
	err := tx.QueryRow(ctx, `
		SELECT status, epoch FROM job WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(),
		w.Job.Tenant, w.Job.ID).Scan(&status, &epoch)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return errLost
	case err != nil:
		return fmt.Errorf("hold a job: %w", err)
	case status == Cancelled:
		return ErrCancelled
	case status != Running || epoch != w.Job.epoch:
		return errLost
	}
	return nil
}

// advance records what a step reached, and extends the lease.
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
		UPDATE job SET processed = $3, total = $4, state = $5, result = $6, lease_until = $7, tries = 0
		WHERE tenant_id = $1 AND id = $2`,
		next.Tenant, next.ID, next.Processed, next.Total, sqldb.Null(string(next.State)), sqldb.Null(string(next.Result)),
		sqldb.Micros(w.Now().Add(w.lease)))
	return next, err
}
