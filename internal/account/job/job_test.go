package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is an engine with a clock of its own.
type fixture struct {
	*testing.T
	db  *sqldb.DB
	now time.Time
	e   *job.Engine
}

func newFixture(t *testing.T, db *sqldb.DB, runner job.Runner) *fixture {
	b := &fixture{T: t, db: db, now: noon}
	b.e = b.engine("here", runner)
	return b
}

func (b *fixture) engine(owner string, runner job.Runner) *job.Engine {
	return &job.Engine{
		DB: b.db, Owner: owner, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
		Runners: map[job.Kind]job.Runner{job.Import: runner, job.Export: runner, job.Bulk: runner},
	}
}

func (b *fixture) create(t id.Tenant, k job.Kind) job.Job {
	b.Helper()
	j, err := job.Create(b.Context(), b.db, job.Draft{
		Tenant: t, Kind: k, Scope: auth.ContactsWrite, Params: map[string]int{"n": 3}, By: auth.System,
	}, b.now)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

func (b *fixture) tick() bool {
	b.Helper()
	more, err := b.e.Tick(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return more
}

func (b *fixture) load(j job.Job) job.Job {
	b.Helper()
	j, err := job.ByID(b.Context(), b.db, j.Tenant, j.ID)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

// checkpoint is the checkpoint of the test's jobs.
type checkpoint struct{ At int64 }

// countingRunner returns a runner with as many steps as the parameter n says, each of which creates a file;
// before is called at each.
func countingRunner(before func(w *job.Work, at int64) error) job.Runner {
	return func(ctx context.Context, w *job.Work) error {
		var want struct{ N int64 }
		var p checkpoint
		if err := errors.Join(w.Params(&want), w.State(&p)); err != nil {
			return err
		}
		for p.At < want.N {
			next := checkpoint{p.At + 1}
			err := w.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
				_, err := job.NewFile(ctx, tx, w.Job.Tenant, w.Job.ID, fmt.Sprint("step", next.At), "text/plain", w.Now())
				if err != nil {
					return job.Progress{}, err
				}
				return job.Progress{Processed: next.At, Total: &want.N, State: next, Result: map[string]int64{"steps": next.At}}, before(w, next.At)
			})
			if err != nil {
				return err
			}
			p = next
		}
		return nil
	}
}

func noHook(*job.Work, int64) error { return nil }

// steps returns the files that a job's steps created.
func (b *fixture) steps(j job.Job) []string {
	b.Helper()
	rows, err := b.db.Query(b.Context(), `SELECT name FROM job_file WHERE tenant_id = $1 AND job_id = $2 ORDER BY name`, j.Tenant, j.ID)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (string, error) {
		var s string
		err := row(&s)
		return s, err
	})
	if err != nil {
		b.Fatal(err)
	}
	return list
}

func TestJobsRunToTheirEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := newFixture(t, db, countingRunner(noHook))
		j := b.create(idtest.Tenant(), job.Export)
		if j.Status != job.Queued || j.Total != nil || j.FinishedAt != nil {
			t.Errorf("a new job = %+v", j)
		}
		b.now = noon.Add(time.Minute)
		if !b.tick() || b.tick() {
			t.Error("one job was queued, and exactly one tick should find it")
		}
		j = b.load(j)
		if j.Status != job.Completed || j.Processed != 3 || *j.Total != 3 || !j.FinishedAt.Equal(b.now) || !j.CreatedAt.Equal(noon) {
			t.Errorf("the job = %+v, want it completed with 3 of 3", j)
		}
		var result map[string]int
		if err := json.Unmarshal(j.Result, &result); err != nil || result["steps"] != 3 {
			t.Errorf("the result = %s", j.Result)
		}
		if _, err := job.ByID(t.Context(), db, idtest.Tenant(), j.ID); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("another tenant reads the job: %v", err)
		}
	})
}

func TestAnInterruptedJobContinuesAfterItsLastStep(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(){
		"error": nil,
		"panic": func() { panic("oops") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				broken := true
				b := newFixture(t, db, countingRunner(func(_ *job.Work, at int64) error {
					if at == 2 && broken {
						if interrupt != nil {
							interrupt()
						}
						return errors.New("the disk is full")
					}
					return nil
				}))
				j := b.create(idtest.Tenant(), job.Import)
				b.tick()
				if got := b.load(j); got.Status != job.Running || got.Processed != 1 || !slices.Equal(b.steps(j), []string{"step1"}) {
					t.Fatalf("after an interruption in its second step the job = %+v with steps %q", got, b.steps(j))
				}
				if b.tick() {
					t.Error("the job was tried again at once")
				}
				broken = false
				b.now = b.now.Add(10 * time.Minute)
				b.tick()
				if got := b.load(j); got.Status != job.Completed || !slices.Equal(b.steps(j), []string{"step1", "step2", "step3"}) {
					t.Errorf("the job = %+v with steps %q, want it completed in three", got, b.steps(j))
				}
			})
		})
	}
}

func TestAFaultFailsTheJobAndAnOutageDoesNot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var err error
		b := newFixture(t, db, func(context.Context, *job.Work) error { return err })
		err = fmt.Errorf("read the file: %w", fault.New(fault.Invalid, "INVALID_FILE", "the file is not text"))
		j := b.create(idtest.Tenant(), job.Import)
		b.tick()
		j = b.load(j)
		if j.Status != job.Failed || j.Error == nil || *j.Error != (job.Failure{Code: "INVALID_FILE", Message: "the file is not text"}) || j.FinishedAt == nil {
			t.Errorf("the job = %+v, error %+v", j, j.Error)
		}
		err = fault.New(fault.Unavailable, "UNAVAILABLE", "the database is away")
		j = b.create(idtest.Tenant(), job.Import)
		for range 20 {
			b.tick()
			if s := b.load(j).Status; s != job.Running {
				t.Fatalf("an outage made the job %s", s)
			}
			b.now = b.now.Add(6 * time.Minute)
		}
		err = nil
		b.tick()
		if s := b.load(j).Status; s != job.Completed {
			t.Errorf("after the outage the job is %s", s)
		}
	})
}

func TestAJobWithoutProgressFails(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	b := newFixture(t, db, func(context.Context, *job.Work) error { return errors.New("a bug") })
	j := b.create(idtest.Tenant(), job.Import)
	for range 100 {
		b.tick()
		b.now = b.now.Add(6 * time.Minute)
	}
	if j = b.load(j); j.Status != job.Failed || j.Error.Code != "INTERNAL_ERROR" || strings.Contains(j.Error.Message, "bug") {
		t.Errorf("the job = %+v, error %+v", j, j.Error)
	}
}

func TestAStepUnderALostLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var b *fixture
		slept := false
		b = newFixture(t, db, countingRunner(func(*job.Work, int64) error { return nil }))
		b.e = b.engine("slow", func(ctx context.Context, w *job.Work) error {
			if err := w.Step(ctx, func(*sqldb.DB) (job.Progress, error) {
				return job.Progress{Processed: 1, State: checkpoint{1}}, nil
			}); err != nil {
				return err
			}
			b.now = b.now.Add(2 * time.Minute) // longer than the lease
			other := b.engine("other", countingRunner(noHook))
			if more, err := other.Tick(ctx); !more || err != nil {
				t.Errorf("the other process found no job: %v", err)
			}
			slept = true
			err := w.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
				_, err := job.NewFile(ctx, tx, w.Job.Tenant, w.Job.ID, "late", "text/plain", w.Now())
				return job.Progress{Processed: 99}, err
			})
			if err == nil {
				t.Error("a step under a lost lease succeeded")
			}
			return err
		})
		j := b.create(idtest.Tenant(), job.Import)
		b.tick()
		got := b.load(j)
		if !slept || got.Status != job.Completed || got.Processed != 3 || !slices.Equal(b.steps(j), []string{"step2", "step3"}) {
			t.Errorf("the job = %+v with steps %q", got, b.steps(j))
		}
	})
}

func TestACancelledJobStopsBetweenSteps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var err error
		b := newFixture(t, db, nil)
		steps := countingRunner(noHook)
		b.e = b.engine("here", func(ctx context.Context, w *job.Work) error {
			if e := w.Step(ctx, func(*sqldb.DB) (job.Progress, error) { return job.Progress{Processed: 1, State: checkpoint{1}}, nil }); e != nil {
				return e
			}
			if _, e := job.Cancel(ctx, db, w.Job.Tenant, w.Job.ID, b.now); e != nil {
				t.Error(e)
			}
			err = steps(ctx, w)
			return err
		})
		j := b.create(idtest.Tenant(), job.Import)
		if _, err := job.Cancel(t.Context(), db, idtest.Tenant(), j.ID, b.now); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("another tenant cancels the job: %v", err)
		}
		b.tick()
		if !errors.Is(err, job.ErrCancelled) {
			t.Errorf("the step after the cancellation returned %v", err)
		}
		if got := b.load(j); got.Status != job.Cancelled || got.Processed != 1 || got.FinishedAt == nil || len(b.steps(j)) != 0 {
			t.Errorf("the job = %+v with steps %q", got, b.steps(j))
		}
		if _, err := job.Cancel(t.Context(), db, j.Tenant, j.ID, b.now); !errors.Is(err, job.ErrTransition) {
			t.Errorf("cancelling twice = %v", err)
		}
		waits := b.create(j.Tenant, job.Import)
		if got, err := job.Cancel(t.Context(), db, j.Tenant, waits.ID, b.now); err != nil || got.Status != job.Cancelled {
			t.Errorf("cancelling a job that waits = %+v, %v", got, err)
		}
		if b.tick() {
			t.Error("a cancelled job was run")
		}
	})
}

// A tenant with many jobs does not delay others, and its jobs of one kind run one at a time.
func TestJobsTakeTurns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var order []id.Job
		b := newFixture(t, db, func(_ context.Context, w *job.Work) error {
			order = append(order, w.Job.ID)
			return nil
		})
		busy, other, third := idtest.Tenant(), idtest.Tenant(), idtest.Tenant()
		var first []id.Job
		for range 4 {
			first = append(first, b.create(busy, job.Import).ID)
			b.now = b.now.Add(time.Second)
		}
		a, c := b.create(other, job.Import).ID, b.create(third, job.Export).ID
		for b.tick() {
			b.now = b.now.Add(time.Second)
		}
		if want := []id.Job{first[0], a, c, first[1], first[2], first[3]}; !slices.Equal(order, want) {
			t.Errorf("the jobs ran in the order %v, want %v", order, want)
		}

		var during []bool
		nested := b.engine("there", func(_ context.Context, w *job.Work) error { return nil })
		b.e = b.engine("here", func(ctx context.Context, w *job.Work) error {
			more, err := nested.Tick(ctx)
			during = append(during, more)
			return err
		})
		b.create(busy, job.Import)
		b.create(busy, job.Import)
		b.tick()
		b.create(busy, job.Export)
		b.tick()
		if want := []bool{false, true}; !slices.Equal(during, want) {
			t.Errorf("while an import runs: another import, then an export found = %v, want %v", during, want)
		}
	})
}

func TestALongJobYields(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var order []string
		b := newFixture(t, db, nil)
		b.e = b.engine("here", countingRunner(func(w *job.Work, at int64) error {
			order = append(order, fmt.Sprint(w.Job.Kind, at))
			b.now = b.now.Add(15 * time.Second)
			return nil
		}))
		b.create(idtest.Tenant(), job.Import)
		b.create(idtest.Tenant(), job.Export)
		for b.tick() {
		}
		if got := strings.Join(order, " "); got != "import1 import2 export1 export2 import3 export3" {
			t.Errorf("two jobs of three steps ran as %s", got)
		}
	})
}

func TestOpenJobsOfATenantAreLimited(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	b := newFixture(t, db, countingRunner(noHook))
	tenant := idtest.Tenant()
	for range 100 {
		b.create(tenant, job.Bulk)
	}
	_, err := job.Create(t.Context(), db, job.Draft{Tenant: tenant, Kind: job.Bulk, Params: struct{}{}}, noon)
	if !errors.Is(err, job.ErrLimit) {
		t.Errorf("job 101: %v, want LIMIT_EXCEEDED", err)
	}
	b.create(idtest.Tenant(), job.Bulk)
}

func TestAnEngineRunsUntilItIsStopped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		begun, stop := make(chan struct{}), make(chan struct{})
		b := newFixture(t, db, func(ctx context.Context, w *job.Work) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
		j := b.create(idtest.Tenant(), job.Import)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(stop)
			_ = b.e.Run(ctx)
		}()
		<-begun
		cancel()
		<-stop
		b.e = b.engine("next", countingRunner(noHook))
		if !b.tick() { // at once, before a lease expires
			t.Error("the lease was not released")
		}
		if s := b.load(j).Status; s != job.Completed {
			t.Errorf("the job is %s", s)
		}
	})
}
