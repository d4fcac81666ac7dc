package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fixture is a database to which transactions append while one process follows.
type fixture struct {
	*testing.T
	db *sqldb.DB
	e  *journal.Engine
}

func newFixture(t *testing.T) *fixture {
	db := dbtest.Postgres(t)
	withSeen(t, db)
	return &fixture{t, db, &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("f")}}}
}

// append appends an entry on a connection or in a transaction.
func (s *fixture) append(on *sqldb.DB) (entry string) {
	s.Helper()
	e := journal.Entry{Tenant: idtest.TenantNamed("t"), ID: id.New[id.Entry](), Type: journal.EmailSent, At: noon}
	if err := journal.Append(s.Context(), on, e); err != nil {
		s.Fatal(err)
	}
	return e.ID.String()
}

// addFollower calls Tick twice and checks what the follower has seen.
func (s *fixture) addFollower(want ...string) {
	s.Helper()
	for range 2 {
		if _, err := s.e.Tick(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
	s.wantSeen(want...)
}

func (s *fixture) wantSeen(want ...string) {
	s.Helper()
	if got := seen(s.T, s.db, "f"); !slices.Equal(got, want) {
		s.Fatalf("seen %v, want %v", got, want)
	}
}

// drained calls Drain, after which the lag is 0.
func (s *fixture) drained(want ...string) {
	s.Helper()
	if err := s.e.Drain(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.wantSeen(want...)
	if lag, err := journal.Lag(s.Context(), s.db); err != nil || lag != 0 {
		s.Errorf("Lag = %d, %v; want 0", lag, err)
	}
}

// open begins a transaction that ends when end is called, or with the test. InTx would retry it
// when its connection is lost; here that fails the test.
func (s *fixture) open() (tx *sqldb.DB, end func(error) error) {
	began, outcome, ended := make(chan *sqldb.DB), make(chan error), make(chan error)
	go func() {
		again := false
		ended <- s.db.InTx(context.Background(), func(tx *sqldb.DB) error {
			if again {
				return errors.New("the transaction is run again")
			}
			again = true
			began <- tx
			return <-outcome
		})
	}()
	over := false
	end = func(err error) error {
		over = true
		outcome <- err
		return <-ended
	}
	s.Cleanup(func() {
		if !over {
			_ = end(errRolledBack)
		}
	})
	return <-began, end
}

func (s *fixture) must(_ int64, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Entries of a slow transaction, which began first and commits last, are not skipped.
func TestEntriesOfASlowTransactionAreNotSkipped(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	before := s.append(s.db)
	s.addFollower(before)
	tx, end := s.open()
	slow := s.append(tx)
	quick := s.append(s.db)
	s.addFollower(before)
	if lag, err := journal.Lag(t.Context(), s.db); err != nil || lag != 2 {
		t.Errorf("Lag = %d, %v; want the entries after the slow writer included", lag, err)
	}
	s.e = &journal.Engine{DB: s.db, Followers: s.e.Followers} // another process
	s.addFollower(before)
	if err := end(nil); err != nil {
		t.Fatal(err)
	}
	s.drained(before, slow, quick)
}

// The horizon advances even if at any time some transaction is appending.
func TestOverlappingTransactionsDoNotStopTheHorizon(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	tx, end := s.open()
	want := []string{s.append(tx)}
	for range 3 {
		quick := s.append(s.db)
		s.addFollower(want[:len(want)-1]...) // the fast one waits for the slow one
		next, endNext := s.open()
		after := s.append(next)
		if err := end(nil); err != nil {
			t.Fatal(err)
		}
		want = append(want, quick, after)
		s.addFollower(want[:len(want)-1]...)
		end = endNext
	}
	if err := end(nil); err != nil {
		t.Fatal(err)
	}
	s.drained(want...)
}

// Positions that were drawn but never used are skipped, without waiting for their transaction.
func TestUnusedPositionsAreSkipped(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(s *fixture, tx *sqldb.DB, end func(error) error){
		"rolled back": func(s *fixture, _ *sqldb.DB, end func(error) error) {
			if err := end(errRolledBack); !errors.Is(err, errRolledBack) {
				s.Fatal(err)
			}
		},
		"killed": func(s *fixture, tx *sqldb.DB, end func(error) error) {
			var pid int64
			if err := tx.QueryRow(s.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
				s.Fatal(err)
			}
			s.must(s.db.Exec(s.Context(), `SELECT pg_terminate_backend($1::bigint::int, 10000)`, pid))
			if end(nil) == nil {
				s.Error("a transaction was committed whose connection had died")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			first := s.append(s.db)
			tx, end := s.open()
			for range 40 {
				s.append(tx)
			}
			second := s.append(s.db)
			s.addFollower() // it cannot know that the first began earlier
			lose(s, tx, end)
			s.drained(first, second)
		})
	}
}

// Entries rolled back to a savepoint hold up no follower; those the transaction appends afterwards
// do.
func TestARollbackToASavepoint(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	tx, end := s.open()
	s.must(tx.Exec(t.Context(), `SAVEPOINT here`))
	s.append(tx)
	s.must(tx.Exec(t.Context(), `ROLLBACK TO SAVEPOINT here`))
	first := s.append(s.db)
	s.addFollower(first)
	s.must(tx.Exec(t.Context(), `SAVEPOINT there`))
	slow := s.append(tx)
	s.must(tx.Exec(t.Context(), `RELEASE SAVEPOINT there`))
	s.must(tx.Exec(t.Context(), `SAVEPOINT again`))
	s.append(tx)
	s.must(tx.Exec(t.Context(), `ROLLBACK TO SAVEPOINT again`))
	second := s.append(s.db)
	s.addFollower(first)
	if err := end(nil); err != nil {
		t.Fatal(err)
	}
	s.drained(first, slow, second)
}

// Drain waits for a transaction with a position before entries that are committed.
func TestDrainWaitsForEarlierPositions(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	tx, end := s.open()
	slow := s.append(tx)
	quick := s.append(s.db)
	impatient, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	if err := s.e.Drain(impatient); err == nil || impatient.Err() == nil {
		t.Errorf("Drain = %v, although a transaction comes before", err)
	}
	s.wantSeen()
	ended := make(chan error)
	go func() { ended <- end(nil) }()
	s.drained(slow, quick)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// An entry's row is not updated while it is followed.
func TestAnEntryIsNeverUpdated(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	versions := func() []string {
		rows, err := s.db.Query(t.Context(), `SELECT id, ctid::text, xmin::text, xmax::text, pos FROM journal ORDER BY pos /* all tenants: there is one */`)
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (string, error) {
			var row [4]string
			var pos int64
			err := scan(&row[0], &row[1], &row[2], &row[3], &pos)
			return fmt.Sprint(row, pos), err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	tx, end := s.open()
	var want []string
	for range 3 {
		want = append(want, s.append(tx), s.append(s.db))
	}
	if err := end(nil); err != nil {
		t.Fatal(err)
	}
	written := versions()
	s.drained(want...)
	if got := versions(); !slices.Equal(got, written) || len(got) != len(want) {
		t.Errorf("the rows were %q and are %q", written, got)
	}
}

// A process with nothing to follow writes nothing.
func TestAnIdleProcessDoesNotWrite(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		e := &journal.Engine{DB: db, Followers: []journal.Follower{recordingFollower("f"), selectiveFollower("choosy")}}
		if err := journal.Append(t.Context(), db, journal.Entry{Tenant: idtest.TenantNamed("t"), Type: journal.EmailSent, At: noon}); err != nil {
			t.Fatal(err)
		}
		if err := e.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		written := `SELECT total_changes()`
		if db.Dialect() == sqldb.Postgres {
			written = `SELECT COALESCE(SUM(xmin::text::bigint), 0)::bigint FROM journal_cursor`
		}
		count := func() (n int64) {
			t.Helper()
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return tx.QueryRow(t.Context(), written).Scan(&n) })
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := count()
		for range 3 {
			if more, err := e.Tick(t.Context()); more || err != nil {
				t.Errorf("Tick = %v, %v", more, err)
			}
		}
		if after := count(); after != before {
			t.Errorf("%d was written", after-before)
		}
	})
}
