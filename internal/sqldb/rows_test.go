package sqldb_test

import (
	"slices"
	"testing"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

// TestRowsSayWhichWereWritten inserts rows, and updates some columns of some of
// them.
func TestRowsSayWhichWereWritten(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, acme, other := t.Context(), id.New[id.Tenant](), id.New[id.Tenant]()
		rows := func(tenant id.Tenant, emails ...string) *sqldb.Table {
			table := db.Table("tenant_id TEXT", "email TEXT", "reason TEXT", "created_at BIGINT")
			for _, e := range emails {
				table.Add(tenant, e, sqldb.Null(e[:1]), 7)
			}
			return table
		}
		insert := func(table *sqldb.Table, want ...bool) {
			t.Helper()
			if done, err := table.Insert(ctx, db, "suppression"); err != nil || !slices.Equal(done, want) {
				t.Errorf("inserted %v, %v; want %v", done, err, want)
			}
		}
		insert(rows(acme, "a", "b"), true, true)
		insert(rows(other, "a"), true)
		insert(rows(acme), []bool{}...)

		change := db.Table("tenant_id TEXT", "email TEXT", "reason TEXT", "created_at BIGINT")
		change.Add(acme, "a", "changed", 9)
		change.Add(acme, "nobody", "changed", 9)
		n, err := change.Only(func(c string) bool { return c != "created_at" }).Update(ctx, db, "suppression", 2)
		if err != nil || n != 1 {
			t.Errorf("updated %d, %v; want the one that is there", n, err)
		}
		for _, tt := range []struct {
			tenant id.Tenant
			email  string
			reason string
		}{{acme, "a", "changed"}, {acme, "b", "b"}, {other, "a", "a"}} {
			var reason string
			var created int64
			err := db.QueryRow(ctx, `SELECT reason, created_at FROM suppression WHERE tenant_id = $1 AND email = $2`, tt.tenant, tt.email).Scan(&reason, &created)
			if err != nil || reason != tt.reason || created != 7 {
				t.Errorf("%s has %q, %d, %v; want %q and 7", tt.email, reason, created, err, tt.reason)
			}
		}
	})
}

// TestRowsWhoseKeyIsTakenAreLeftOut inserts rows with new ids, one of which has
// a key that another row holds.
func TestRowsWhoseKeyIsTakenAreLeftOut(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := id.New[id.Tenant](), id.New[id.Tenant]()
		insert := func(tenant id.Tenant, want []bool, keys ...string) {
			t.Helper()
			table := db.Table("tenant_id TEXT", "id TEXT", "name TEXT", "field_key TEXT", "field_type TEXT", "value_constraint TEXT", "created_at BIGINT")
			for _, k := range keys {
				table.Add(tenant, id.New[id.Field](), k, k, "string", "strict", 1)
			}
			if done, err := table.Insert(t.Context(), db, "custom_field"); err != nil || !slices.Equal(done, want) {
				t.Errorf("inserted %v, %v; want %v", done, err, want)
			}
		}
		insert(acme, []bool{true}, "plan")
		insert(acme, []bool{true, false, true}, "age", "plan", "city")
		insert(other, []bool{true}, "plan")
	})
}
