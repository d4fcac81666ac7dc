package dbcopy

import (
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/retention"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// No table keeps rows of a tenant that was deleted, on either database, whatever its constraints: all
// tables have rows of several tenants here.
func TestRetentionEmptiesEveryTableOfADeletedTenant(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	source := dbtest.SQLite(t)
	fill(t, source)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const gone, kept = id.Tenant(2), id.Tenant(1)
	for _, one := range []struct {
		text string
		args []any
	}{
		{`UPDATE tenant SET postal_address = '{}', tracked_domains = '[]', status = 'active', pause_reason = NULL, erased_at = NULL`, nil},
		{`UPDATE tenant SET status = 'deleted', updated_at = $2 WHERE tenant_id = $1`, []any{gone, now.Add(-tenant.ErasedAfter).UnixMicro()}},
		{`UPDATE journal SET grp = $1, occurred_at = $2`, []any{gone.Group(), now.Add(-time.Hour).UnixMicro()}},
		{`DELETE FROM journal_cursor`, nil},
		{`INSERT INTO journal_cursor (grp, follower, pos) VALUES ($1, 'all', 1000000)`, []any{gone.Group()}},
	} {
		if _, err := source.Exec(ctx, one.text, one.args...); err != nil {
			t.Fatalf("%s: %v", one.text, err)
		}
	}
	target := dbtest.Postgres(t)
	var name string
	if err := target.QueryRow(ctx, `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, source, dbtest.DatabaseAddress(name), small); err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]*sqldb.DB{"sqlite": source, "postgres": target} {
		t.Run(name, func(t *testing.T) {
			before := rowsOf(t, db, kept)
			deleted := rowsOf(t, db, gone)
			for table, n := range deleted {
				if n == 0 {
					t.Errorf("%s has no row of the tenant to begin with", table)
				}
			}
			e := retention.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
			if err := e.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			for table, n := range rowsOf(t, db, gone) {
				if n > 0 && table != "tenant" {
					t.Errorf("%s has %d rows of the deleted tenant", table, n)
				}
			}
			for table, n := range rowsOf(t, db, kept) {
				if n != before[table] {
					t.Errorf("%s has %d rows of another tenant, had %d", table, n, before[table])
				}
			}
			if list, err := tenant.Erasable(t.Context(), db, now); err != nil || len(list) > 0 {
				t.Errorf("tenants to erase: %v, %v", list, err)
			}
		})
	}
}

// rowsOf returns the number of a tenant's rows in each table that has a column tenant_id.
func rowsOf(t *testing.T, db *sqldb.DB, of id.Tenant) map[string]int {
	t.Helper()
	query := `SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c ON c.name = 'tenant_id' WHERE m.type = 'table'`
	if db.Dialect() == sqldb.Postgres {
		query = `SELECT CAST(table_name AS TEXT) FROM information_schema.columns WHERE column_name = 'tenant_id' AND table_schema = current_schema()`
	}
	rows, err := db.Query(t.Context(), query)
	names, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
	if err != nil || len(names) < 80 {
		t.Fatalf("tables of tenants: %v, %v", names, err)
	}
	found := map[string]int{}
	for _, name := range names {
		var n int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+name+` WHERE tenant_id = $1`, of).Scan(&n); err != nil {
			t.Fatal(err)
		}
		found[name] = n
	}
	return found
}
