package sqldb_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestLoadWritesValuesOfEachType loads rows with values of each type, and with nulls.
func TestLoadWritesValuesOfEachType(t *testing.T) {
	t.Parallel()
	type kind string
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, acme, other := t.Context(), idtest.Tenant(), idtest.Tenant()
		_, err := db.Exec(ctx, `
			CREATE TABLE loaded (tenant_id INTEGER, id UUID, a TEXT, b BYTEA, c BIGINT, d INTEGER, e BOOLEAN, f DOUBLE PRECISION, g JSONB, h TEXT,
				PRIMARY KEY (tenant_id, id))`)
		if err != nil {
			t.Fatal(err)
		}
		one, two, three := id.New[id.Contact](), id.New[id.Contact](), id.New[id.Contact]()
		load := func(tenant id.Tenant, add func(table *sqldb.Table)) error {
			table := db.Table("id UUID", "a TEXT", "b BYTEA", "c BIGINT", "d INTEGER", "e BOOLEAN", "f DOUBLE PRECISION", "g JSONB", "h TEXT")
			add(table)
			return db.InTx(ctx, func(tx *sqldb.DB) error { return table.Load(ctx, tx, "loaded", tenant) })
		}
		full := func(table *sqldb.Table) {
			table.Add(one, "é\n\t\\N", []byte{0, 255, '\n'}, int64(math.MinInt64), -7, true, -0.5, `{"a": [1, "x"]}`, nil)
			table.Add(two, nil, nil, nil, nil, nil, nil, nil, (*string)(nil))
			table.Add(three, new(""), []byte{}, 1, int32(2), false, math.MaxFloat64, `[]`, nil)
		}
		for _, tenant := range []id.Tenant{acme, other} {
			if err := load(tenant, full); err != nil {
				t.Fatal(err)
			}
		}
		if err := load(acme, func(table *sqldb.Table) {
			table.Add(id.New[id.Contact](), kind("named"), nil, nil, nil, nil, nil, nil, nil)
		}); err != nil {
			t.Errorf("a named string: %v", err)
		}
		if err := load(acme, func(*sqldb.Table) {}); err != nil {
			t.Errorf("no rows: %v", err)
		}
		var a string
		var b []byte
		var c, d int64
		var e bool
		var f float64
		var g string
		read := func(which id.Contact, dest ...any) {
			t.Helper()
			if err := db.QueryRow(ctx, `SELECT a, b, c, d, e, f, CAST(g AS TEXT) FROM loaded WHERE tenant_id = $1 AND id = $2`, acme, which).Scan(dest...); err != nil {
				t.Fatal(err)
			}
		}
		read(one, &a, &b, &c, &d, &e, &f, &g)
		if a != "é\n\t\\N" || !bytes.Equal(b, []byte{0, 255, '\n'}) || c != math.MinInt64 || d != -7 || !e || f != -0.5 || g != `{"a": [1, "x"]}` {
			t.Errorf("the first row is %q %v %d %d %v %v %s", a, b, c, d, e, f, g)
		}
		read(three, &a, &b, &c, &d, &e, &f, &g)
		if a != "" || len(b) != 0 || c != 1 || d != 2 || e || f != math.MaxFloat64 || g != `[]` {
			t.Errorf("the third row is %q %v %d %d %v %v %s", a, b, c, d, e, f, g)
		}
		var empty int
		err = db.QueryRow(ctx, `
			SELECT COUNT(*) FROM loaded WHERE tenant_id = $1 AND COALESCE(a, CAST(c AS TEXT), CAST(d AS TEXT), CAST(f AS TEXT), CAST(g AS TEXT)) IS NULL
				AND b IS NULL AND e IS NULL`, acme).Scan(&empty)
		if err != nil || empty != 1 {
			t.Errorf("%d rows are empty, %v; want the second", empty, err)
		}

		// A row whose key exists fails the whole Load.
		err = load(acme, func(table *sqldb.Table) {
			table.Add(id.New[id.Contact](), "new", nil, nil, nil, nil, nil, nil, nil)
			table.Add(two, "taken", nil, nil, nil, nil, nil, nil, nil)
		})
		var n int
		if e := db.QueryRow(ctx, `SELECT COUNT(*) FROM loaded WHERE tenant_id = $1`, acme).Scan(&n); e != nil || n != 4 || !sqldb.IsUniqueViolation(err) {
			t.Errorf("loading an existing key = %v, with %d rows (%v); want a unique violation and 4", err, n, e)
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { // the connection can be used afterwards
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM loaded WHERE tenant_id = $1`, other).Scan(&n)
		}); err != nil || n != 3 {
			t.Errorf("the other tenant has %d rows, %v; want 3", n, err)
		}
		gone := errors.New("rolled back")
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			table := db.Table("id UUID", "a TEXT")
			table.Add(id.New[id.Contact](), "x")
			return errors.Join(table.Load(ctx, tx, "loaded", acme), gone)
		})
		if e := db.QueryRow(ctx, `SELECT COUNT(*) FROM loaded WHERE tenant_id = $1`, acme).Scan(&n); e != nil || n != 4 || err.Error() != gone.Error() {
			t.Errorf("after a rollback (%v) there are %d rows, %v; want 4", err, n, e)
		}
	})
}
