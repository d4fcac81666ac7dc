package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// numbered makes the table thing, and returns a function that stores things with numbers from 0 to 99
// in one transaction, after calling before with it.
func numbered(t *testing.T, db *sqldb.DB) func(ctx context.Context, batch []int, before func(tx *sqldb.DB) error) error {
	t.Helper()
	if _, err := db.Exec(t.Context(), `CREATE TABLE thing (id UUID NOT NULL PRIMARY KEY, n BIGINT NOT NULL CHECK (n BETWEEN 0 AND 99), word TEXT)`); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, batch []int, before func(tx *sqldb.DB) error) error {
		return db.InTx(ctx, func(tx *sqldb.DB) error {
			for _, n := range batch {
				if _, err := tx.Exec(ctx, `INSERT INTO thing (id, n) VALUES ($1, $2)`, id.New[id.Contact](), n); err != nil {
					return err
				}
			}
			return before(tx)
		})
	}
}

func nothing(*sqldb.DB) error { return nil }

func storedNumbers(t *testing.T, db *sqldb.DB) []int {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT n FROM thing ORDER BY n`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (int, error) {
		var n int
		err := scan(&n)
		return n, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAValueThatCannotBeStoredFailsOnlyItsCaller(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		store := numbered(t, db)
		g := groupcommit.New(10, func(ctx context.Context, batch []int) error { return store(ctx, batch, nothing) })
		for i, err := range g.CommitTogether(t.Context(), 1, 2, 100, 3, 4) {
			if bad := i == 2; sqldb.IsInvalidData(err) != bad || (err != nil) != bad {
				t.Errorf("value %d: %v", i, err)
			}
		}
		if diff := cmp.Diff([]int{1, 2, 3, 4}, storedNumbers(t, db)); diff != "" {
			t.Errorf("stored: %s", diff)
		}
	})
}

// Where the database itself fails, each caller gets its error, and nothing is written alone.
func TestABatchIsNotWrittenInPartsWhenTheDatabaseFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		store, calls := numbered(t, db), 0
		g := groupcommit.New(10, func(ctx context.Context, batch []int) error {
			calls++
			return store(ctx, batch, func(tx *sqldb.DB) error {
				if db.Dialect() == sqldb.Postgres {
					_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
					return err
				}
				if _, err := tx.Exec(ctx, `PRAGMA max_page_count = 1`); err != nil { // the disk is full
					return err
				}
				_, err := tx.Exec(ctx, `INSERT INTO thing (id, n, word) VALUES ($1, 1, hex(zeroblob(1000000)))`, id.New[id.Contact]())
				return err
			})
		})
		for i, err := range g.CommitTogether(t.Context(), 1, 2, 3) {
			if err == nil {
				t.Errorf("value %d was stored", i)
			}
		}
		if calls != 1 {
			t.Errorf("%d attempts, want one", calls)
		}
		if list := storedNumbers(t, db); len(list) > 0 {
			t.Errorf("stored: %v", list)
		}
	})
}

// A connection that is lost during COMMIT leaves open whether the batch is durable.
func TestABatchThatMayBeDurableIsNotStoredTwice(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		store := numbered(t, db)
		g := groupcommit.New(10, func(ctx context.Context, batch []int) error {
			return errors.Join(store(ctx, batch, nothing), fmt.Errorf("commit: %w", io.ErrUnexpectedEOF))
		})
		for i, err := range g.CommitTogether(t.Context(), 1, 2) {
			if err == nil {
				t.Errorf("value %d: no error", i)
			}
		}
		if diff := cmp.Diff([]int{1, 2}, storedNumbers(t, db)); diff != "" {
			t.Errorf("stored: %s", diff)
		}
	})
}

func TestABatchEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, refused := 0, errors.New("refused")
		g := groupcommit.New(10, func(ctx context.Context, batch []int) error {
			if calls++; calls == 1 {
				return refused // so each value is written alone
			}
			if batch[0] == 2 {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		begun := time.Now()
		errs := g.CommitTogether(t.Context(), 1, 2, 3)
		if errs[0] != nil || !errors.Is(errs[1], fault.ErrDeadline) || !errors.Is(errs[2], fault.ErrDeadline) {
			t.Errorf("errors %v, want none for the value before the deadline, and ErrDeadline for the others", errs)
		}
		calls = 1
		if errs := g.CommitTogether(t.Context(), 2, 1); calls != 2 || !errors.Is(errs[1], fault.ErrDeadline) {
			t.Errorf("after the deadline of a batch: %d attempts, %v", calls-1, errs)
		}
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("two batches took %s, want a minute", took)
		}
	})
}

// A caller that stopped waiting does not stop its write.
func TestAnAbandonedValueIsStillStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		store := numbered(t, db)
		caller, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		g := groupcommit.New(10, func(ctx context.Context, batch []int) error {
			leave()
			<-left
			return store(ctx, batch, nothing)
		})
		running, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Run(running) }()
		if err := g.Within(caller, 7); !errors.Is(err, groupcommit.ErrAbandoned) || !errors.Is(err, context.Canceled) {
			t.Errorf("the caller got %v, want ErrAbandoned and the cause", err)
		}
		close(left)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]int{7}, storedNumbers(t, db)); diff != "" {
			t.Errorf("stored: %s", diff)
		}
	})
}

// The end of Run finishes the batch in progress, also the writes of its values alone.
func TestTheEndOfAGroupFinishesItsBatch(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		store := numbered(t, db)
		running, stop := context.WithCancel(t.Context())
		defer stop()
		g := groupcommit.New(10, func(ctx context.Context, batch []int) error {
			stop()
			return store(ctx, batch, nothing)
		})
		ended := make(chan error)
		go func() { ended <- g.Run(running) }()
		if err := g.Do(t.Context(), 1); err != nil {
			t.Errorf("while Run ends: %v", err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := g.Within(running, 2); !errors.Is(err, context.Canceled) || errors.Is(err, groupcommit.ErrAbandoned) {
			t.Errorf("after Run ended: %v, want only that the context was canceled", err)
		}
		if diff := cmp.Diff([]int{1}, storedNumbers(t, db)); diff != "" {
			t.Errorf("stored: %s", diff)
		}
	})
}

func TestTenantsDoNotShareABatch(t *testing.T) {
	t.Parallel()
	var batches [][]id.Tenant
	g := groupcommit.New(10, func(_ context.Context, batch []id.Tenant) error {
		batches = append(batches, slices.Clone(batch))
		return nil
	})
	g.PerTenant(func(tenant id.Tenant) id.Tenant { return tenant })
	g.CommitTogether(t.Context(), 2, 1, 2, 3, 1)
	if diff := cmp.Diff([][]id.Tenant{{1, 1}, {2, 2}, {3}}, batches); diff != "" {
		t.Error(diff)
	}
}
