package sqldb_test

import (
	"errors"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestSubscribersAreWokenByTheCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		one, two, others := db.Subscribe("work"), db.Subscribe("work"), db.Subscribe("other work")
		expect := func(when string, want bool) {
			t.Helper()
			for i, c := range []<-chan struct{}{one, two} {
				if got := woken(c); got != want {
					t.Errorf("%s: subscriber %d woken: %t, want %t", when, i, got, want)
				}
				if woken(c) {
					t.Errorf("%s: subscriber %d woken twice", when, i)
				}
			}
			if woken(others) {
				t.Errorf("%s: the subscriber of another signal is woken", when)
			}
		}
		inTx := func(fn func(*sqldb.DB) error) error { return db.InTx(ctx, fn) }
		err := inTx(func(tx *sqldb.DB) error {
			tx.Notify("work")
			tx.Notify("work")
			err := tx.InTx(ctx, func(tx *sqldb.DB) error { tx.Notify("work"); return nil })
			expect("before the commit", false)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		expect("after the commit", true)

		boom := errors.New("boom")
		if err := inTx(func(tx *sqldb.DB) error { tx.Notify("work"); return boom }); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		expect("after a rollback", false)

		db.Notify("work")
		db.Notify("work")
		db.Notify("work of which no loop knows")
		expect("outside of a transaction", true)
	})
}

// woken reports whether c has an element, and receives it.
func woken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
