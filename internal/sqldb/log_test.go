package sqldb_test

import (
	"context"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTheLogIsEmptiedUnlessAReaderNeedsIt(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	scratch(t, db)
	write := func() {
		t.Helper()
		if _, err := db.Exec(t.Context(), `INSERT INTO scratch (tenant_id, id) SELECT 't', hex(randomblob(2000)) FROM pragma_function_list LIMIT 50`); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		t.Helper()
		n, err := db.LogSize()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	write()
	err := db.Evaluate(t.Context(), "reader", func(ctx context.Context, tx *sqldb.DB) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM scratch /* all tenants: a test */`).Scan(&n); err != nil {
			return err
		}
		write()
		emptied, err := db.EmptyLog(ctx, 100*time.Millisecond)
		if emptied || err != nil || size() == 0 {
			t.Errorf("while it is read: emptied %v, %v, %d bytes", emptied, err, size())
		}
		write() // goes on
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if emptied, err := db.EmptyLog(t.Context(), 100*time.Millisecond); !emptied || err != nil || size() != 0 {
		t.Errorf("afterwards: emptied %v, %v, %d bytes", emptied, err, size())
	}
	write()
}
