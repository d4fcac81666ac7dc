package sqldb_test

import (
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestInsertReportsRows inserts rows, and updates some columns of some of them.
func TestInsertReportsRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, acme, other := t.Context(), idtest.Tenant(), idtest.Tenant()
		one, two := id.New[id.AuditEntry](), id.New[id.AuditEntry]()
		columns := []string{"id UUID", "actor_type TEXT", "actor_id TEXT", "actor_name TEXT", "action TEXT", "target_type TEXT", "target_id TEXT", "ip TEXT", "created_at BIGINT"}
		rows := func(ids ...id.AuditEntry) *sqldb.Table {
			table := db.Table(columns...)
			for _, v := range ids {
				table.Add(v, "user", "u", "Ann", v.String(), "tenant", "t", nil, 7)
			}
			return table
		}
		insert := func(tenant id.Tenant, table *sqldb.Table, want ...bool) {
			t.Helper()
			if done, err := table.Insert(ctx, db, "audit", tenant); err != nil || !slices.Equal(done, want) {
				t.Errorf("inserted %v, %v; want %v", done, err, want)
			}
		}
		insert(acme, rows(one, two), true, true)
		insert(other, rows(one), true)
		insert(acme, rows(), []bool{}...)

		change := db.Table("id UUID", "action TEXT", "created_at BIGINT")
		change.Add(one, "changed", 9)
		change.Add(id.New[id.AuditEntry](), "changed", 9)
		n, err := change.Only(func(c string) bool { return c != "created_at" }).Update(ctx, db, "audit", acme)
		if err != nil || n != 1 {
			t.Errorf("updated %d, %v; want the one that exists", n, err)
		}
		for _, tt := range []struct {
			tenant id.Tenant
			id     id.AuditEntry
			action string
		}{{acme, one, "changed"}, {acme, two, two.String()}, {other, one, one.String()}} {
			var action string
			var created int64
			err := db.QueryRow(ctx, `SELECT action, created_at FROM audit WHERE tenant_id = $1 AND id = $2`, tt.tenant, tt.id).Scan(&action, &created)
			if err != nil || action != tt.action || created != 7 {
				t.Errorf("%s has %q, %d, %v; want %q and 7", tt.id, action, created, err, tt.action)
			}
		}
	})
}

// TestInsertSkipsExistingKeys inserts rows with new ids, one of which has the unique key of another
// row.
func TestInsertSkipsExistingKeys(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := idtest.Tenant(), idtest.Tenant()
		insert := func(tenant id.Tenant, want []bool, keys ...string) {
			t.Helper()
			table := db.Table("id UUID", "name TEXT", "field_key TEXT", "field_type TEXT", "value_constraint TEXT", "created_at BIGINT")
			for _, k := range keys {
				table.Add(id.New[id.Field](), k, k, "string", "strict", 1)
			}
			if done, err := table.Insert(t.Context(), db, "custom_field", tenant); err != nil || !slices.Equal(done, want) {
				t.Errorf("inserted %v, %v; want %v", done, err, want)
			}
		}
		insert(acme, []bool{true}, "plan")
		insert(acme, []bool{true, false, true}, "age", "plan", "city")
		insert(other, []bool{true}, "plan")
	})
}
