package tenant_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Rows of a tenant are inserted, or the statement fails. On distributed tables a tenant is
// created with the row of the table home from which sets of rows are inserted. A table of that
// name on a single server is enough to test this.
func TestRowsAreInsertedForEveryTenant(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		open := func() *sqldb.DB {
			db, err := sqldb.Open(t.Context(), address, sqldb.Options{DataDir: t.TempDir()})
			if err == nil {
				_, err = db.Migrate(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		db := open()
		if db.Dialect() == sqldb.Postgres && !db.Distributed() {
			if _, err := db.Exec(t.Context(), `CREATE TABLE home (key INTEGER NOT NULL PRIMARY KEY)`); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if db = open(); !db.Distributed() {
				t.Fatal("the table home was not detected")
			}
		}
		defer func() { db.Close() }()
		account, err := tenant.Create(t.Context(), db, "acme", "Acme", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		inserts := map[string]func(id.Tenant) (int, error){
			"Exec": func(tenant id.Tenant) (int, error) {
				n, err := db.Exec(t.Context(), insertion(db, "exec"), tenant)
				return int(n), err
			},
			"Query": func(tenant id.Tenant) (int, error) {
				rows, err := db.Query(t.Context(), insertion(db, "query")+` RETURNING email`, tenant)
				list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
				return len(list), err
			},
			"Batch": func(tenant id.Tenant) (n int, err error) {
				err = db.InTx(t.Context(), func(tx *sqldb.DB) error {
					b := tx.Batch()
					b.Queue(insertion(tx, "batch")+` RETURNING email`, func(func(...any) error) error { n++; return nil }, tenant)
					return b.Run(t.Context())
				})
				return n, err
			},
		}
		for name, insert := range inserts {
			if n, err := insert(account.ID); n != 1 || err != nil {
				t.Errorf("%s: %d rows, %v; want 1", name, n, err)
			}
			if !db.Distributed() {
				continue
			}
			if n, err := insert(account.ID + 1); n != 0 || err == nil || !strings.Contains(err.Error(), "home") {
				t.Errorf("%s without a row of the table home: %d rows, %v; want an error", name, n, err)
			}
		}
	})
}

func insertion(db *sqldb.DB, email string) string {
	return `INSERT INTO suppression (tenant_id, email, created_at) SELECT h.tenant_id, '` + email + `', 1 FROM ` + db.Home(1)
}
