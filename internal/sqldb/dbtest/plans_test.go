package dbtest

import (
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// The check distinguishes statements that look rows up from those that read all rows of a tenant
// for them.
func TestStatementsThatReadATenantForKeysAreFound(t *testing.T) {
	db := Postgres(t)
	p, err := plans()
	if err != nil {
		t.Fatal(err)
	}
	const billed = ` AND global_status NOT IN ('pending', 'suppressed') AND anonymized_at IS NULL`
	for _, tt := range []struct {
		name, text string
		found      bool
	}{
		{name: "one by id", text: `SELECT email FROM contact WHERE tenant_id = $1 AND id = $2`},
		{name: "many by id", text: `SELECT email FROM contact WHERE tenant_id = $1 AND id` + db.In(2)},
		{name: "many by address", text: `SELECT id FROM contact WHERE tenant_id = $1 AND email` + db.In(2) + ` ORDER BY email FOR UPDATE`},
		{name: "a table of ids", text: `UPDATE contact SET city = 'Graz' FROM unnest($2::UUID[]) AS v(id) WHERE contact.tenant_id = $1 AND contact.id = v.id`},
		{name: "a join by id", text: `SELECT c.email FROM contact c JOIN contact_activity a ON a.tenant_id = c.tenant_id AND a.contact_id = c.id WHERE c.tenant_id = $1 AND c.id` + db.In(2)},
		{name: "all", text: `SELECT email FROM contact WHERE tenant_id = $1`},
		{name: "a page of all", text: `SELECT id FROM contact WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2`},
		{name: "ids with the condition of a partial index", text: `SELECT email FROM contact WHERE tenant_id = $1 AND id` + db.In(2) + billed},
		{name: "an expression", text: `SELECT email FROM contact WHERE tenant_id = $1 AND email || '' = $2 AND first_name = $3`},
		{name: "an id within an expression", text: `SELECT m.id FROM contact c JOIN outbox m ON m.tenant_id = c.tenant_id AND m.contact_id::text = c.id::text WHERE c.tenant_id = $1 AND c.city = $2`},
		{name: "ids with a state", text: `SELECT id FROM outbox WHERE tenant_id = $1 AND contact_id` + db.In(2) + ` AND state = 'queued'`},
		{name: "with a reason", text: `SELECT email FROM contact WHERE tenant_id = $1 AND id` + db.In(2) + billed + ReadsTenant + `few are billed */`},
	} {
		faults, err := p.check(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if found := len(faults) > 0; found != tt.found {
			t.Errorf("%s: found %t (%v), want %t", tt.name, found, faults, tt.found)
		}
	}
}

// A migrated database has statistics of its empty tables. Tables that were filled and have no
// statistics are analyzed, and their rows do not change.
func TestFreshTablesHaveStatistics(t *testing.T) {
	db := Postgres(t)
	lacking := func() []string {
		t.Helper()
		rows, err := db.Query(t.Context(), `
			SELECT r.relname FROM pg_class AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attname = 'tenant_id'
			WHERE r.relkind = 'r' AND r.relnamespace = CAST(current_schema() AS regnamespace)
				AND EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = r.oid AND i.indkey[0] = a.attnum)
				AND NOT EXISTS (SELECT 1 FROM pg_stats AS s WHERE s.schemaname = current_schema() AND s.tablename = r.relname AND s.attname = 'tenant_id')
			ORDER BY r.relname`)
		list, err := sqldb.Collect(rows, err, func(row func(...any) error) (name string, err error) { return name, row(&name) })
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	number := func(query string) (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const constraints, contacts = `SELECT COUNT(*) FROM pg_constraint`, `SELECT COUNT(*) FROM contact WHERE tenant_id = 1`
	if list := lacking(); len(list) > 0 {
		t.Errorf("a migrated database has no statistics of %v", list)
	}
	if n := number(`SELECT COUNT(*) FROM contact`) + number(`SELECT COUNT(*) FROM contact_search_queue`); n != 0 {
		t.Errorf("a migrated database has %d contacts", n)
	}
	for _, text := range []string{
		`INSERT INTO contact (tenant_id, id, email, email_domain, custom_fields, tags, subscriptions, category_subscriptions, global_status,
				do_not_contact, prospect_score, customer_score, created_at, updated_at, search_text)
			SELECT 1, gen_random_uuid(), n || '@example.com', 'example.com', '{}', '[]', '{}', '{}', 'active', FALSE, 0, 0, 0, 0, n FROM generate_series(1, 20) AS n`,
		`DELETE FROM pg_statistic WHERE starelid IN ('contact'::regclass, 'template'::regclass, 'segment'::regclass)`,
	} {
		if _, err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if list := lacking(); len(list) != 3 {
		t.Fatalf("tables without statistics: %v, want three", list)
	}
	before := number(constraints)
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A table that refers to segment has rows, so segment cannot be truncated.
	if list := lacking(); len(list) != 1 || list[0] != "segment" {
		t.Errorf("tables without statistics: %v, want only segment", list)
	}
	if n := number(contacts); n != 20 {
		t.Errorf("%d contacts are left of 20", n)
	}
	if n := number(constraints); n != before {
		t.Errorf("%d constraints, want %d", n, before)
	}
}
