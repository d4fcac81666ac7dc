package job_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// die leases the next job for a process that then ends, and waits until the lease has ended. It returns the zero id if
// there is no job.
func (b *fixture) die() id.Job {
	b.Helper()
	const lease = 15 * time.Second
	j, found, err := job.Claim(b.Context(), b.db, []job.Kind{job.Import, job.Export}, "dead", b.now, b.now.Add(lease))
	if err != nil {
		b.Fatal(err)
	}
	b.now = b.now.Add(lease)
	if !found {
		return id.Job{}
	}
	return j.ID
}

func TestAJobThatEndsItsProcessWaitsBehindOthersAndFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var order []id.Job
		b := newFixture(t, db, func(_ context.Context, w *job.Work) error {
			order = append(order, w.Job.ID)
			return nil
		})
		deadly := b.create(idtest.Tenant(), job.Import)
		for range 2 {
			if got := b.die(); got != deadly.ID {
				t.Fatalf("leased %s, want the deadly job %s", got, deadly.ID)
			}
		}
		same, other := b.create(deadly.Tenant, job.Import), b.create(idtest.Tenant(), job.Import)
		for b.tick() {
		}
		slices.SortFunc(order, id.Compare)
		if want := []id.Job{same.ID, other.ID}; !slices.Equal(order, want) {
			t.Errorf("after two deaths ran %v, want the others: %v", order, want)
		}
		if j := b.load(deadly); j.Status != job.Queued {
			t.Errorf("after two deaths the job is %s, want it queued", j.Status)
		}
		for range 3 {
			b.now = b.now.Add(time.Hour)
			last := b.create(idtest.Tenant(), job.Import)
			b.tick()
			if order[len(order)-1] != last.ID {
				t.Fatalf("ran %v, want %s before the deadly job", order, last.ID)
			}
			if got := b.die(); got != deadly.ID {
				t.Fatalf("leased %s, want the deadly job %s", got, deadly.ID)
			}
			if b.tick() {
				t.Errorf("after another death ran %v, want nothing", order)
			}
		}
		if j := b.load(deadly); j.Status != job.Failed || j.Error.Code != "INTERNAL_ERROR" || !j.FinishedAt.Equal(b.now) {
			t.Errorf("after five deaths the job = %+v, error %+v", j, j.Error)
		}
	})
}

func TestAJobThatMakesProgressGoesOnAfterManyDeaths(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := newFixture(t, db, func(ctx context.Context, w *job.Work) error {
			err := w.Step(ctx, func(*sqldb.DB) (job.Progress, error) { return job.Progress{Processed: w.Job.Processed + 1}, nil })
			if err != nil || w.Job.Processed == 12 {
				return err
			}
			return errors.New("an outage") // after a step
		})
		j := b.create(idtest.Tenant(), job.Import)
		for range 12 {
			if got := b.die(); got != j.ID {
				t.Fatalf("leased %s, want %s", got, j.ID)
			}
			b.tick()
			b.now = b.now.Add(time.Hour)
		}
		if got := b.load(j); got.Status != job.Completed {
			t.Errorf("after a death before each of 12 steps, the job is %s, want it completed", got.Status)
		}
	})
}

func TestAProcessThatLosesItsLeaseIsNotDead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := newFixture(t, db, nil)
		j := b.create(idtest.Tenant(), job.Import)
		for range 7 {
			b.e = b.engine("slow", func(ctx context.Context, w *job.Work) error {
				b.now = b.now.Add(20 * time.Second) // longer than the lease
				other := b.engine("other", func(context.Context, *job.Work) error { return errors.New("a bug") })
				if more, err := other.Tick(ctx); !more || err != nil {
					t.Errorf("the other process found no job: %v", err)
				}
				return w.Step(ctx, func(*sqldb.DB) (job.Progress, error) { return job.Progress{}, nil })
			})
			b.tick()
			b.now = b.now.Add(time.Hour)
		}
		b.e = b.engine("here", countingRunner(noHook))
		b.tick()
		if got := b.load(j); got.Status != job.Completed {
			t.Errorf("after leases that ended while their process lived, the job is %s, want it completed", got.Status)
		}
	})
}
