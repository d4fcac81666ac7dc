package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	lease      = 15 * time.Second // how long a lease lasts without renewal
	idle       = 5 * time.Second  // interval of polling without a wake-up
	slice      = 20 * time.Second // after this a job yields if others wait
	pruneEvery = time.Minute      // interval of looking for files to remove
	maxTries   = 25               // consecutive leases without a committed step, after which a job fails
	maxPause   = 5 * time.Minute  // between two attempts
)

// Engine runs up to AtOnce jobs at a time. Any number of processes may run one on the same
// database.
type Engine struct {
	DB      *sqldb.DB
	Owner   string // identifies this process in leases; unique among processes
	Now     func() time.Time
	Log     *slog.Logger
	Wake    <-chan struct{} // a job was queued; may be nil
	Runners map[Kind]Runner // jobs of other kinds are left to other processes
	AtOnce  int             // 0 means 2
	Alone   bool            // no other process uses the database: leases of other owners are stale
}

// Run runs jobs until ctx ends and each running job has stopped.
func (e *Engine) Run(ctx context.Context) error {
	if e.Alone {
		if err := releaseOthers(ctx, e.DB, e.Owner); err != nil && ctx.Err() == nil {
			e.Log.Error("release leases of jobs failed", "err", err)
		}
	}
	atOnce := e.AtOnce
	if atOnce == 0 {
		atOnce = 2
	}
	next := make(chan struct{}, atOnce) // a worker that found a job wakes another to look for more
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() { e.work(ctx, next) })
	}
	all.Go(func() { _ = e.runPrune(ctx) }) // it never returns an error
	all.Wait()
	return nil
}

// work runs one job after another.
func (e *Engine) work(ctx context.Context, next chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.Wake:
		case <-next:
		}
		j, found, err := e.claim(ctx)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				e.Log.Error("claim job failed", "err", err)
			}
			timer.Reset(idle)
			continue
		case !found:
			timer.Reset(idle)
			continue
		}
		select {
		case next <- struct{}{}:
		default:
		}
		e.run(ctx, j)
		timer.Reset(0)
	}
}

// Tick runs the next job until it ends, yields or stops, and reports whether there was one.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	j, found, err := e.claim(ctx)
	if err != nil || !found {
		return false, err
	}
	e.run(ctx, j)
	return true, nil
}

func (e *Engine) claim(ctx context.Context) (Job, bool, error) {
	now := e.Now()
	return claim(ctx, e.DB, e.kinds(), e.Owner, now, now.Add(lease))
}

func (e *Engine) kinds() []Kind { return slices.Sorted(maps.Keys(e.Runners)) }

// run runs a leased job and records the result.
func (e *Engine) run(ctx context.Context, j Job) {
	log := e.Log.With("tenant", j.Tenant, "job", j.ID, "kind", j.Kind)
	w := &Work{Job: j, DB: e.DB, Log: log, Now: e.Now, lease: lease}
	begun := e.Now()
	w.shouldYield = func(ctx context.Context) bool {
		if e.Now().Sub(begun) < slice {
			return false
		}
		begun = e.Now() // look for waiting jobs once per slice, not after each step
		others, err := waiting(ctx, e.DB, e.kinds(), e.Now())
		return err == nil && others
	}
	err := errors.New("too many attempts without progress")
	if j.tries <= maxTries {
		err = e.runLeased(ctx, w)
	}
	// Record the result even if the program is stopping.
	last, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	if err := e.finish(last, ctx.Err() != nil, w, err); err != nil {
		log.Error("release job lease failed", "err", err)
	}
}

// runLeased calls the runner while it renews the lease.
func (e *Engine) runLeased(ctx context.Context, w *Work) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var keeping sync.WaitGroup
	j := w.Job // a copy, since each step changes w.Job
	keeping.Go(func() { e.renewLease(ctx, j, cancel) })
	defer keeping.Wait()
	defer cancel(nil)
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	if err = e.Runners[w.Job.Kind](ctx, w); err != nil && errors.Is(context.Cause(ctx), errLost) {
		return errLost
	}
	return err
}

// renewLease renews the lease until ctx ends, and cancels ctx when the lease is lost.
func (e *Engine) renewLease(ctx context.Context, j Job, lost context.CancelCauseFunc) {
	tick := time.NewTicker(lease / 6)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ours, err := j.renew(ctx, e.DB, e.Now().Add(lease))
		switch {
		case err != nil && ctx.Err() == nil:
			e.Log.Warn("extend job lease failed", "job", j.ID, "err", err)
		case err == nil && !ours:
			lost(errLost)
			return
		}
	}
}

// finish records the result of a job whose runner has returned err.
func (e *Engine) finish(ctx context.Context, stopping bool, w *Work, err error) error {
	j, now := &w.Job, e.Now()
	f, refused := fault.As(err)
	refused = refused && f.Kind != fault.Unavailable && f.Kind != fault.Internal
	switch {
	case err == nil:
		w.Log.Info("job completed", "processed", j.Processed)
		return j.end(ctx, e.DB, nil, now)
	case errors.Is(err, errLost):
		w.Log.Info("job stopped", "reason", err)
		return j.forgive(ctx, e.DB)
	case errors.Is(err, ErrCancelled):
		w.Log.Info("job stopped", "reason", err)
		return nil
	case errors.Is(err, errYield):
		return j.release(ctx, e.DB, 0, now)
	case refused:
		w.Log.Info("job failed", "code", f.Code)
		return j.end(ctx, e.DB, &Failure{Code: f.Code, Message: f.Message}, now)
	case stopping:
		return j.release(ctx, e.DB, max(j.tries-1, 0), now)
	case j.tries >= maxTries:
		w.Log.Error("job abandoned", "err", err, "tries", j.tries)
		return j.end(ctx, e.DB, &Failure{Code: "INTERNAL_ERROR", Message: "an internal error occurred repeatedly; please report the job's id"}, now)
	}
	pause := min(time.Second<<min(j.tries, 10), maxPause)
	pause = pause/2 + rand.N(pause/2)
	w.Log.Warn("job interrupted", "err", err, "again_in", pause)
	return j.release(ctx, e.DB, j.tries, now.Add(pause))
}

// runPrune periodically removes files and jobs past their retention time.
func (e *Engine) runPrune(ctx context.Context) error {
	look := func(ctx context.Context) (bool, error) { return Prune(ctx, e.DB, e.Now()) }
	return poll.Loop{Poll: look, Every: pruneEvery, Log: e.Log, Failed: "remove job files failed"}.Run(ctx)
}
