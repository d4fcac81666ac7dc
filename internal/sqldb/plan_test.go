package sqldb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// cachedPlan returns the plan that the only connection of db has cached for a statement.
func cachedPlan(t *testing.T, db *sqldb.DB, text, values string) string {
	t.Helper()
	var name string
	if err := db.QueryRow(t.Context(), `SELECT name FROM pg_prepared_statements WHERE statement = $1`, text).Scan(&name); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(t.Context(), `EXPLAIN (COSTS OFF) EXECUTE "`+name+`" (`+values+`)`)
	lines, err := sqldb.Collect(rows, err, func(row func(...any) error) (line string, err error) { return line, row(&line) })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// openOne opens a database with a single connection, whose cached plans can be looked at.
func openOne(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// runOn carries out a statement.
func runOn(t *testing.T, db *sqldb.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// A plan that was made for a table of a few rows, with statistics, is replaced when the table has
// grown, although PostgreSQL has not analyzed it again.
func TestPlansFollowTheGrowthOfTables(t *testing.T) {
	dbtest.Addresses(t, func(t *testing.T, address string) {
		db := openOne(t, address)
		if db.Dialect() == sqldb.SQLite {
			return // its plans do not depend on sizes
		}
		run := func(text string, args ...any) { t.Helper(); runOn(t, db, text, args...) }
		run(`SELECT 1`) // a connection finds out whether the tables are distributed
		if db.Distributed() {
			t.Skip("sessions of a Citus cluster have no generic plans that could be outgrown: plan_cache_mode is auto")
		}
		run(`CREATE TABLE thing (tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (tenant_id, id))`)
		run(`ALTER TABLE thing SET (autovacuum_enabled = false)`)
		run(`CREATE INDEX thing_name ON thing (tenant_id, name)`)
		add := func(from, to int) {
			run(`INSERT INTO thing (tenant_id, id, name) SELECT 'a', 'id' || n, 'name' || n FROM generate_series(CAST($1 AS INTEGER), CAST($2 AS INTEGER)) AS n`, from, to)
		}
		add(1, 20)
		run(`ANALYZE thing`)
		const text = `SELECT name FROM thing WHERE tenant_id = $1 AND id = ANY($2)`
		read := func() string {
			t.Helper()
			var name string
			if err := db.QueryRow(t.Context(), text, "a", []string{"id3"}).Scan(&name); err != nil || name != "name3" {
				t.Fatalf("%q, %v", name, err)
			}
			return cachedPlan(t, db, text, `NULL, NULL`)
		}
		if plan := read(); strings.Contains(plan, "ANY ($2))") && strings.Contains(plan, "Index Cond: ((tenant_id") {
			t.Fatalf("twenty rows are looked up one by one, so this test shows nothing:\n%s", plan)
		}
		add(21, 8000)
		if plan := read(); !strings.Contains(plan, "thing_pkey") || strings.Contains(plan, "Filter") {
			t.Errorf("of 8000 rows, one is looked up by\n%s", plan)
		}
	})
}

// A page of a list is read by one process, however large the table; what scans a tenant on purpose has workers.
func TestOnlyScansHaveParallelWorkers(t *testing.T) {
	dbtest.Addresses(t, func(t *testing.T, address string) {
		db := openOne(t, address)
		if db.Dialect() == sqldb.SQLite {
			return // it has no workers
		}
		runOn(t, db, `SELECT 1`)
		if db.Distributed() {
			t.Skip("the plans of a Citus cluster name its nodes, and workers of those are not seen")
		}
		runOn(t, db, `CREATE TABLE thing (tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (tenant_id, id))`)
		runOn(t, db, `INSERT INTO thing (tenant_id, id, name) SELECT 'a', 'id' || n, 'name' || n FROM generate_series(1, 20000) AS n`)
		runOn(t, db, `ANALYZE thing`)
		// Workers cost nothing, as on tables so large that their cost does not count.
		for _, setting := range []string{"parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size", "min_parallel_index_scan_size"} {
			runOn(t, db, `SELECT set_config('`+setting+`', '0', FALSE)`)
		}
		const page = `SELECT id FROM thing WHERE tenant_id = $1 AND name > $2 ORDER BY id LIMIT $3`
		rows, err := db.Query(t.Context(), page, "a", "", 51)
		ids, err := sqldb.Collect(rows, err, func(row func(...any) error) (id string, err error) { return id, row(&id) })
		if err != nil || len(ids) != 51 {
			t.Fatalf("%d rows, %v; want 51", len(ids), err)
		}
		if plan := cachedPlan(t, db, page, `NULL, NULL, NULL`); strings.Contains(plan, "Gather") {
			t.Errorf("a page of 51 rows is read by\n%s", plan)
		}
		const count = `EXPLAIN (COSTS OFF) SELECT COUNT(*) FROM thing WHERE tenant_id = $1 AND name <> $2`
		err = db.Evaluate(t.Context(), "a", func(ctx context.Context, tx *sqldb.DB) error {
			return tx.ScanTx(ctx, func() error {
				rows, err := tx.Query(ctx, count+sqldb.CustomPlan, "a", "x")
				plan, err := sqldb.Collect(rows, err, func(row func(...any) error) (line string, err error) { return line, row(&line) })
				if text := strings.Join(plan, "\n"); !strings.Contains(text, "Gather") {
					t.Errorf("a count of all rows is made by\n%s", text)
				}
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Rows of a queue are read by index scans, which pass over entries that an earlier one found deleted. Bitmap scans read
// all of them until the table is vacuumed, so a queue through which many rows have gone would be slow.
func TestQueuesAreReadByIndexScans(t *testing.T) {
	dbtest.Addresses(t, func(t *testing.T, address string) {
		db := openOne(t, address)
		if db.Dialect() == sqldb.SQLite {
			return // a deleted row leaves nothing in its indexes
		}
		run := func(text string, args ...any) { t.Helper(); runOn(t, db, text, args...) }
		run(`SELECT 1`)
		if db.Distributed() {
			t.Skip("the plans of a Citus cluster are made on its nodes")
		}
		run(`CREATE TABLE waiting (tenant_id INTEGER NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (tenant_id, seq))`)
		run(`ALTER TABLE waiting SET (autovacuum_enabled = false)`)
		run(`INSERT INTO waiting (tenant_id, seq, body) SELECT 1, n, repeat('x', 200) FROM generate_series(1, 5000) AS n`)
		run(`ANALYZE waiting`)
		const next = `SELECT body FROM waiting WHERE tenant_id = $1 AND seq <= $2`
		read := func() {
			t.Helper()
			rows, err := db.Query(t.Context(), next, 1, 1_000_000)
			if _, err := sqldb.Collect(rows, err, func(row func(...any) error) (body string, err error) { return body, row(&body) }); err != nil {
				t.Fatal(err)
			}
		}
		read()
		if plan := cachedPlan(t, db, next, `NULL, NULL`); !strings.HasPrefix(plan, "Index Scan using waiting_pkey") {
			t.Errorf("waiting rows are read by\n%s", plan)
		}
	})
}

// A statement with CustomPlan is planned for its values wherever it runs, and later statements of
// the transaction are planned as usual.
func TestCustomPlanConcernsOneStatement(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if db.Dialect() == sqldb.SQLite {
			return // SQLite has one kind of plan
		}
		const mode, custom = `SELECT current_setting('plan_cache_mode') || ' ' || current_setting('enable_hashjoin') || ' ' || current_setting('enable_bitmapscan')`, sqldb.CustomPlan
		usual := "force_generic_plan off off"
		if db.Distributed() {
			usual = "auto off off" // Citus has to know the tenant when it plans
		}
		is := func(db *sqldb.DB, text, want string) {
			t.Helper()
			var got string
			if err := db.QueryRow(t.Context(), text).Scan(&got); err != nil || got != want {
				t.Errorf("%q: %q, %v; want %q", text, got, err, want)
			}
		}
		round := func(db *sqldb.DB, usual string) error {
			is(db, mode, usual)
			is(db, mode+custom, "force_custom_plan on on")
			is(db, mode, usual)
			return nil
		}
		_ = round(db, usual)
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return round(tx, usual) }); err != nil {
			t.Error(err)
		}
		err := db.Evaluate(t.Context(), "a", func(ctx context.Context, tx *sqldb.DB) error {
			_ = round(tx, usual)
			if err := tx.ScanTx(ctx, func() error { return round(tx, "force_custom_plan on on") }); err != nil {
				return err
			}
			return round(tx, usual)
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := db.Exec(t.Context(), `CREATE TABLE thing (n BIGINT)`); err != nil {
			t.Fatal(err)
		}
		if n, err := db.Exec(t.Context(), `INSERT INTO thing SELECT n FROM generate_series(1, 3) AS n WHERE n > $1`+custom, 1); err != nil || n != 2 {
			t.Errorf("an insert with CustomPlan: %d rows, %v; want 2", n, err)
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO nothing VALUES ($1)`+custom, 1); err == nil {
			t.Error("an insert into no table succeeds")
		}
		var n int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM thing WHERE n > $1`, 0).Scan(&n); err != nil || n != 2 {
			t.Errorf("%d rows, %v; want 2", n, err)
		}
	})
}
