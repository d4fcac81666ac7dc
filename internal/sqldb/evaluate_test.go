package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// endless is a statement that does not end by itself.
func endless(db *sqldb.DB) string {
	if db.Dialect() == sqldb.Postgres {
		return `SELECT 1 FROM pg_sleep(86400) AS endless`
	}
	return `WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) SELECT COUNT(*) FROM endless`
}

// runningEndless returns how many of them run on PostgreSQL.
func runningEndless(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	if db.Dialect() == sqldb.Postgres {
		err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%endless%'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
	}
	return n // on SQLite a statement ends with its caller
}

func TestAnEvaluationEndsAtItsDeadlineInTheDatabaseToo(t *testing.T) {
	t.Parallel()
	dbtest.EachWith(t, sqldb.Options{MaxConns: 8, EvaluationTime: 20 * time.Millisecond}, func(t *testing.T, db *sqldb.DB) {
		ctx := sqldb.ForCaller(t.Context())
		for range 5 { // more often than there are connections
			err := db.Evaluate(ctx, "a", func(ctx context.Context, db *sqldb.DB) error {
				var n int
				return db.QueryRow(ctx, endless(db)).Scan(&n)
			})
			f, ok := fault.As(err)
			if !ok || f.Code != "UNAVAILABLE" || f.Kind != fault.Unavailable || fmt.Sprint(f.Details) != "map[reason:deadline]" {
				t.Fatalf("Evaluate = %v, want UNAVAILABLE with the reason deadline", err)
			}
			if n := runningEndless(t, db); n != 0 {
				t.Errorf("%d statements run after the answer", n)
			}
		}
		if running, waiting := db.Evaluations(); running != 0 || waiting != 0 {
			t.Errorf("%d evaluations run and %d wait, want none", running, waiting)
		}
	})
}

func TestTheDeadlineOfAnEvaluationIncludesTheWaitForItsTurn(t *testing.T) {
	t.Parallel()
	dbtest.EachWith(t, sqldb.Options{MaxConns: 8, EvaluationTime: 20 * time.Millisecond}, func(t *testing.T, db *sqldb.DB) {
		release := hold(t, db, "a", 2)
		defer release()
		err := db.Evaluate(sqldb.ForCaller(t.Context()), "a", func(context.Context, *sqldb.DB) error {
			t.Error("a third evaluation of one owner ran")
			return nil
		})
		if f, ok := fault.As(err); !ok || fmt.Sprint(f.Details) != "map[reason:deadline]" {
			t.Errorf("Evaluate = %v, want the deadline", err)
		}
	})
}

func TestCancellationEndsAnEvaluation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, ctx := range map[string]context.Context{"caller": sqldb.ForCaller(t.Context()), "background": t.Context()} {
			ctx, leave := context.WithCancel(ctx)
			err := db.Evaluate(ctx, "a", func(ctx context.Context, db *sqldb.DB) error {
				leave()
				var n int
				return db.QueryRow(ctx, endless(db)).Scan(&n)
			})
			if err == nil || errors.Is(err, fault.ErrDeadline) {
				t.Errorf("%s: Evaluate = %v, want Canceled", name, err)
			}
			if n := runningEndless(t, db); n != 0 {
				t.Errorf("%s: %d statements run", name, n)
			}
		}
	})
}

// hold starts evaluations of an owner that run until release is called, whatever their deadline.
func hold(t *testing.T, db *sqldb.DB, owner string, n int) (release func()) {
	t.Helper()
	if db.Dialect() == sqldb.SQLite {
		openConnections(t, db, n)
	}
	var held, ended sync.WaitGroup
	done := make(chan struct{})
	for range n {
		held.Add(1)
		ended.Go(func() {
			for ran := false; !ran && t.Context().Err() == nil; { // the deadline may pass before it begins
				_ = db.Evaluate(sqldb.ForCaller(t.Context()), owner, func(context.Context, *sqldb.DB) error {
					ran = true
					held.Done()
					<-done
					return nil
				})
			}
		})
	}
	held.Wait()
	return func() { close(done); ended.Wait() }
}

// openConnections opens n connections for evaluations. Under the race detector, opening one takes
// longer than short deadlines.
func openConnections(t *testing.T, db *sqldb.DB, n int) {
	t.Helper()
	var opened, ended sync.WaitGroup
	opened.Add(n)
	for range n {
		ended.Go(func() {
			err := db.Evaluate(t.Context(), "opens", func(context.Context, *sqldb.DB) error {
				opened.Done()
				opened.Wait()
				return nil
			})
			if err != nil {
				opened.Done()
				t.Error(err)
			}
		})
	}
	ended.Wait()
}

func TestEvaluationsDoNotDelayTheRestOfTheProgram(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		scratch(t, db)
		release := hold(t, db, "a", 2)
		defer release()
		caller := sqldb.ForCaller(t.Context())
		// As many reads of callers as there are connections for them.
		for n := 0; n < 2 && db.Dialect() == sqldb.Postgres || n < 4 && db.Dialect() == sqldb.SQLite; n++ {
			rows, err := db.Query(caller, `SELECT 1 UNION ALL SELECT 2`)
			if err != nil || !rows.Next() {
				t.Fatal(err)
			}
			defer rows.Close()
		}
		if err := db.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO scratch (tenant_id, id) VALUES (2, $1)`, id.New[id.Contact]()); err != nil {
			t.Error(err)
		}
		err := db.Evaluate(t.Context(), "a", func(ctx context.Context, db *sqldb.DB) error { // in the background
			var n int
			return db.QueryRow(ctx, `SELECT COUNT(*) FROM scratch WHERE tenant_id = 2`).Scan(&n)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAnEvaluationSeesOneStateAndCannotWrite(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		scratch(t, db)
		err := db.Evaluate(sqldb.ForCaller(t.Context()), "a", func(ctx context.Context, within *sqldb.DB) error {
			count := func() (n int) {
				if err := within.QueryRow(ctx, `SELECT COUNT(*) FROM scratch WHERE tenant_id = 1`).Scan(&n); err != nil {
					t.Error(err)
				}
				return n
			}
			before := count()
			if _, err := db.Exec(t.Context(), `INSERT INTO scratch (tenant_id, id) VALUES (1, $1)`, id.New[id.Contact]()); err != nil {
				t.Error(err)
			}
			if after := count(); after != before {
				t.Errorf("an evaluation counts %d, then %d", before, after)
			}
			_, err := within.Exec(ctx, `DELETE FROM scratch WHERE tenant_id = 1`)
			return err
		})
		if err == nil {
			t.Error("an evaluation deleted rows")
		}
		var n int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM scratch WHERE tenant_id = 1`).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d rows, %v; want 1", n, err)
		}
	})
}

func TestReadsDoNotWaitForTheWriter(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		err := db.InTx(t.Context(), func(*sqldb.DB) error { // which has SQLite's one writer
			for _, read := range []string{
				`SELECT COUNT(*) FROM tenant`,
				`/* all tenants: a test */ SELECT COUNT(*) FROM tenant`,
				"\n\t/* all tenants: a test */\n\tWITH t AS (SELECT 1 AS x) SELECT COUNT(*) FROM t",
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				var n int
				if err := db.QueryRow(ctx, read).Scan(&n); err != nil {
					t.Errorf("%s: %v", read, err)
				}
				cancel()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestTheLimitOfAnOwnerIncludesOtherProcesses(t *testing.T) {
	t.Parallel()
	first := dbtest.Postgres(t)
	var address string
	if err := first.QueryRow(t.Context(), `SELECT current_database()`).Scan(&address); err != nil {
		t.Fatal(err)
	}
	second, err := sqldb.Open(t.Context(), dbtest.DatabaseAddress(address), sqldb.Options{MaxConns: 8, EvaluationTime: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	release := hold(t, first, "a", 2)
	nothing := func(context.Context, *sqldb.DB) error { return nil }
	ctx := sqldb.ForCaller(t.Context())
	if err := second.Evaluate(ctx, "a", nothing); !errors.Is(err, fault.ErrDeadline) {
		t.Errorf("Evaluate beside two in another process = %v, want the deadline", err)
	}
	release()
	third, err := sqldb.Open(t.Context(), dbtest.DatabaseAddress(address), sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := third.Evaluate(ctx, "a", nothing); err != nil {
		t.Error(err)
	}
}
