package sqldb_test

import (
	"errors"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestARehearsalLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := sqldb.Rehearse(t.Context())
		const add = `INSERT INTO lease (name, owner, until_at) VALUES ('r', 'k', 1) /* all tenants: a test */`
		count := func(db *sqldb.DB) (n int) {
			if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM lease WHERE name = 'r' /* all tenants: a test */`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			tx.AfterCommit(func() { t.Error("it was committed") })
			if _, err := tx.Exec(ctx, add); err != nil {
				return err
			}
			if n := count(tx); n != 1 {
				t.Errorf("inside, %d rows; want what was written", n)
			}
			return nil
		})
		if !errors.Is(err, sqldb.ErrRehearsed) {
			t.Errorf("the transaction ended with %v", err)
		}
		if _, err := db.Exec(ctx, add); !errors.Is(err, sqldb.ErrRehearsed) {
			t.Errorf("a write on its own ended with %v", err)
		}
		var key string
		if err := db.QueryRow(ctx, add+` RETURNING owner`).Scan(&key); !errors.Is(err, sqldb.ErrRehearsed) {
			t.Errorf("a write that answers ended with %v", err)
		}
		if n := count(db); n != 0 {
			t.Errorf("%d rows stay, want none", n)
		}
		refused := errors.New("no")
		if err := db.InTx(ctx, func(*sqldb.DB) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("a refusal is told as %v", err)
		}
	})
}
