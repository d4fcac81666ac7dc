package sqldb_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func things(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `CREATE TABLE thing (id UUID NOT NULL PRIMARY KEY, n BIGINT NOT NULL, word TEXT)`); err != nil {
		t.Fatal(err)
	}
}

func countThings(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM thing`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The statements and functions of a batch run in order, and each result is read by its own
// function.
func TestABatchRunsInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		things(t, db)
		type word string
		first, second := id.New[id.Contact](), id.New[id.Contact]()
		var got []id.Contact
		var last word
		var between int
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			got, last = nil, ""
			b := tx.Batch()
			rows := tx.Table("id UUID", "n BIGINT", "word TEXT")
			rows.Add(first, 1, "one")
			rows.Add(second, 2, nil)
			b.Queue(`INSERT INTO thing (id, n, word) SELECT id, n, word FROM `+rows.As("v", 1)+` RETURNING id`, func(scan func(...any) error) error {
				var c id.Contact
				err := scan(&c)
				got = append(got, c)
				return err
			}, rows.Args()...)
			b.Queue(`UPDATE thing SET n = n + $1`, nil, 10)
			b.Call(func(ctx context.Context) error {
				return tx.QueryRow(ctx, `SELECT SUM(n) FROM thing`).Scan(&between)
			})
			b.Queue(`UPDATE thing SET word = 'two' WHERE n = $1 RETURNING word`, func(scan func(...any) error) error { return scan(&last) }, 12)
			b.Queue(`UPDATE thing SET word = 'none' WHERE n = $1 RETURNING word`, func(scan func(...any) error) error { return scan(&last) }, 99)
			return b.Run(t.Context())
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, id.Compare)
		if want := []id.Contact{first, second}; !slices.Equal(got, want) || between != 23 || last != "two" {
			t.Errorf("the batch read %v, %d and %q; want %v, 23 and two", got, between, last, want)
		}
		if n := countThings(t, db); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
	})
}

// A batch ends at its first error, and its transaction is rolled back.
func TestAFailedBatchChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		things(t, db)
		one := id.New[id.Contact]()
		insert := func(b *sqldb.Batch) { b.Queue(`INSERT INTO thing (id, n) VALUES ($1, 1)`, nil, one) }
		stop := errors.New("stop")
		for name, add := range map[string]func(b *sqldb.Batch){
			"a statement":         insert, // a second time
			"what is called":      func(b *sqldb.Batch) { b.Call(func(context.Context) error { return stop }) },
			"reading an answer":   func(b *sqldb.Batch) { b.Queue(`SELECT n FROM thing`, func(func(...any) error) error { return stop }) },
			"one that is no text": func(b *sqldb.Batch) { b.Queue(`SELECT`+` FROM nothing`, nil) },
		} {
			called := false
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				b := tx.Batch()
				insert(b)
				add(b)
				b.Queue(`UPDATE thing SET n = 2`, nil)
				b.Call(func(context.Context) error { called = true; return nil })
				return b.Run(t.Context())
			})
			if err == nil || called {
				t.Errorf("%s fails: the batch returns %v; later functions called: %v", name, err, called)
			}
			if n := countThings(t, db); n != 0 {
				t.Errorf("%s fails: %d rows", name, n)
			}
		}
		// The connections can be used afterwards.
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			b := tx.Batch()
			insert(b)
			insert(b)
			err := b.Run(t.Context())
			if !sqldb.IsUniqueViolation(err) {
				t.Errorf("the same row twice: %v, want a unique violation", err)
			}
			return nil // although the transaction has failed
		}); db.Dialect() == sqldb.Postgres && err == nil {
			t.Error("a transaction that failed is said to be committed")
		}
	})
}

// A cancelled transaction releases its connection.
func TestACancelledTransactionChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		things(t, db)
		for range 30 { // more than there are connections
			ctx, cancel := context.WithCancel(t.Context())
			err := db.InTx(ctx, func(tx *sqldb.DB) error {
				b := tx.Batch()
				b.Queue(`INSERT INTO thing (id, n) VALUES ($1, 1)`, nil, id.New[id.Contact]())
				if err := b.Run(ctx); err != nil {
					return err
				}
				cancel()
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("InTx = %v", err)
			}
		}
		if n := countThings(t, db); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

// What a batch that commits has written is durable, unless one of its statements fails, and the transaction takes no
// statement after it.
func TestABatchCommits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		things(t, db)
		first := id.New[id.Contact]()
		insert := `INSERT INTO thing (id, n) VALUES ($1, $2)`
		told := 0
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			tx.AfterCommit(func() { told++ })
			b := tx.Batch()
			b.Queue(insert, nil, first, 1)
			b.Call(func(ctx context.Context) error {
				_, err := tx.Exec(ctx, insert, id.New[id.Contact](), 2)
				return err
			})
			b.Queue(insert, nil, id.New[id.Contact](), 3)
			if err := b.Commit(t.Context()); err != nil {
				return err
			}
			if db.Dialect() == sqldb.Postgres {
				if _, err := tx.Exec(t.Context(), insert, id.New[id.Contact](), 4); err == nil {
					t.Error("a statement after COMMIT was taken")
				}
				late := tx.Batch()
				late.Queue(insert, nil, id.New[id.Contact](), 5)
				if err := late.Run(t.Context()); err == nil {
					t.Error("a batch after COMMIT was taken")
				}
			}
			return nil
		})
		if n := countThings(t, db); err != nil || n != 3 || told != 1 {
			t.Fatalf("%d things, told %d times, %v; want 3 things, once", n, told, err)
		}
		err = db.InTx(t.Context(), func(tx *sqldb.DB) error {
			tx.AfterCommit(func() { told++ })
			b := tx.Batch()
			b.Queue(insert, nil, id.New[id.Contact](), 6)
			b.Queue(insert, nil, first, 7)
			b.Queue(insert, nil, id.New[id.Contact](), 8)
			return b.Commit(t.Context())
		})
		if n := countThings(t, db); !sqldb.IsUniqueViolation(err) || n != 3 || told != 1 {
			t.Errorf("after a key that is taken: %d things, told %d times, %v; want as before", n, told, err)
		}
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return tx.Batch().Commit(t.Context()) }); err != nil {
			t.Errorf("an empty batch: %v", err)
		}
		// The connection can be used again, and is in no transaction.
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			_, err := tx.Exec(t.Context(), insert, id.New[id.Contact](), 9)
			return errors.Join(err, errors.New("rolled back"))
		}); err == nil || countThings(t, db) != 3 {
			t.Errorf("the next transaction: %v, %d things", err, countThings(t, db))
		}
	})
}
