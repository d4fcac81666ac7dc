package sqldb_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func scratch(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `CREATE TABLE scratch (tenant_id INTEGER NOT NULL, id UUID NOT NULL, n BIGINT, ok BOOLEAN, x DOUBLE PRECISION, doc JSONB, PRIMARY KEY (tenant_id, id))`); err != nil {
		t.Fatal(err)
	}
}

func TestTableInsertsAndUpdatesRowsInOneStatement(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		scratch(t, db)
		tenant, a, b := idtest.Tenant(), idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("b")
		rows := db.Table("id UUID", "n BIGINT", "ok BOOLEAN", "x DOUBLE PRECISION", "doc JSONB")
		rows.Add(a, 1, true, 1.5, `{"tags": ["x", "y"]}`)
		rows.Add(b, nil, false, nil, nil)
		insert := `INSERT INTO scratch (tenant_id, id, n, ok, x, doc) SELECT $1, v.id, v.n, v.ok, v.x, v.doc FROM ` + rows.As("v", 2) + ` WHERE true ON CONFLICT DO NOTHING`
		for _, want := range []int64{2, 0} {
			if n, err := db.Exec(t.Context(), insert, rows.Args(tenant)...); err != nil || n != want {
				t.Fatalf("insert = %d, %v; want %d rows", n, err, want)
			}
		}
		change := db.Table("id UUID", "n BIGINT")
		change.Add(b, 7)
		if n, err := db.Exec(t.Context(), `UPDATE scratch SET n = v.n FROM `+change.As("v", 2)+` WHERE scratch.tenant_id = $1 AND scratch.id = v.id`, change.Args(tenant)...); err != nil || n != 1 {
			t.Fatalf("update = %d, %v; want 1 row", n, err)
		}
		var sum int64
		if err := db.QueryRow(t.Context(), `SELECT SUM(n) FROM scratch WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, []id.Contact{a, b, idtest.Named[id.Contact]("zz")})).Scan(&sum); err != nil || sum != 8 {
			t.Fatalf("sum = %d, %v; want 8", sum, err)
		}
		for doc, want := range map[string]int{`{"tags": ["y"]}`: 1, `{"tags": ["z"]}`: 0, `{}`: 1} {
			var n int
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM scratch WHERE tenant_id = $1 AND n = 1 AND`+db.JSONContains("doc", 2), tenant, doc).Scan(&n); err != nil || n != want {
				t.Errorf("rows containing %s = %d, %v; want %d", doc, n, err, want)
			}
		}
		for _, tt := range []struct {
			have, want string
			contains   bool
		}{
			{`{"n": 12345678901234567890}`, `{"n": 12345678901234567890}`, true},
			{`{"n": 12345678901234567890}`, `{"n": 12345678901234567891}`, false},
			{`{"n": 100, "l": [0.10, 2]}`, `{"n": 1e2, "l": [0.1]}`, true},
			{`{"n": -0.0}`, `{"n": 0e5}`, true},
			{`{"n": 1}`, `{"n": "1"}`, false},
			{`{"n": 1}`, `{"n": true}`, false},
			{`{"l": ["a", "b", "a"]}`, `{"l": ["b", "a"]}`, true},
			{`{"l": ["a"]}`, `{"l": ["a", "b"]}`, false},
			{`{"l": ["a"]}`, `{"l": []}`, true},
			{`{"l": ["a"]}`, `{"l": "a"}`, false},
			{`{"s": "a"}`, `{"s": ["a"]}`, false},
			{`{"s": "a"}`, `{"s": {}}`, false},
			{`{"s": "a"}`, `{"s": null}`, false},
			{`{"s": "a"}`, `{"t": "a"}`, false},
		} {
			if _, err := db.Exec(t.Context(), `UPDATE scratch SET doc = $3 WHERE tenant_id = $1 AND id = $2`, tenant, a, tt.have); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM scratch WHERE tenant_id = $1 AND id = $2 AND`+db.JSONContains("doc", 3), tenant, a, tt.want).Scan(&n); err != nil || (n == 1) != tt.contains {
				t.Errorf("%s contains %s: %v, %v; want %v", tt.have, tt.want, n == 1, err, tt.contains)
			}
		}
	})
}

func TestTransactionsAreAllOrNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		scratch(t, db)
		add := func(tx *sqldb.DB, name string) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO scratch (tenant_id, id) VALUES (1, $1)`, idtest.Named[id.Contact](name))
			return err
		}
		boom := errors.New("boom")
		calls := 0
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			tx.AfterCommit(func() { calls++ })
			return errors.Join(add(tx, "lost"), tx.InTx(t.Context(), func(tx *sqldb.DB) error { return boom }))
		})
		if !errors.Is(err, boom) || calls != 0 {
			t.Fatalf("InTx = %v with %d calls, want boom and none", err, calls)
		}
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			tx.AfterCommit(func() { calls++ })
			return tx.InTx(t.Context(), func(tx *sqldb.DB) error { return add(tx, "kept") })
		}); err != nil || calls != 1 {
			t.Fatalf("InTx = %v with %d calls, want nil and 1", err, calls)
		}
		var left id.Contact
		if err := db.QueryRow(t.Context(), `SELECT id FROM scratch WHERE tenant_id = 1`).Scan(&left); err != nil || left != idtest.Named[id.Contact]("kept") {
			t.Fatalf("left %q, %v; want kept", left, err)
		}
		if err := add(db, "kept"); !sqldb.IsUniqueViolation(err) {
			t.Errorf("a second row of the same key: %v, want a unique violation", err)
		}
		if err := db.QueryRow(t.Context(), `SELECT id FROM scratch WHERE tenant_id = 2`).Scan(&left); !errors.Is(err, sqldb.ErrNoRows) {
			t.Errorf("no row: %v, want ErrNoRows", err)
		}
	})
}

func TestConcurrentIncrementsAllCount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		scratch(t, db)
		sum := idtest.Named[id.Contact]("sum")
		if _, err := db.Exec(t.Context(), `INSERT INTO scratch (tenant_id, id, n) VALUES (1, $1, 0)`, sum); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
						var n int64
						if err := tx.QueryRow(t.Context(), `SELECT n FROM scratch WHERE tenant_id = 1 AND id = $1`+tx.ForUpdate(), sum).Scan(&n); err != nil {
							return err
						}
						_, err := tx.Exec(t.Context(), `UPDATE scratch SET n = $2 WHERE tenant_id = 1 AND id = $1`, sum, n+1)
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var n int64
		if err := db.QueryRow(t.Context(), `SELECT n FROM scratch WHERE tenant_id = 1`).Scan(&n); err != nil || n != 80 {
			t.Errorf("sum = %d, %v; want 80", n, err)
		}
	})
}

func TestTimesMustBeMicros(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	if _, err := db.Exec(t.Context(), `SELECT $1`, time.Now()); err == nil {
		t.Error("a time.Time was taken as a parameter, want an error that names Micros")
	}
}

func TestAnalyzeStaleAnalyzesChangedTables(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		fill := func(n int) {
			t.Helper()
			rows := db.Table("id TEXT")
			for range n {
				rows.Add(id.NewText())
			}
			if _, err := db.Exec(t.Context(), `INSERT INTO outbox_node (owner, until_at) SELECT v.id, 0 FROM `+rows.As("v", 1), rows.Args()...); err != nil {
				t.Fatal(err)
			}
		}
		fill(2000)
		if err := db.AnalyzeStale(t.Context(), "outbox_node", "contact"); err != nil {
			t.Fatal(err)
		}
		if db.Dialect() != sqldb.Postgres {
			return
		}
		// Changes are counted up to a second later, so this may be the second attempt.
		var known float64
		for range 30 {
			if err := db.QueryRow(t.Context(), `SELECT reltuples FROM pg_class WHERE relname = 'outbox_node'`).Scan(&known); err != nil {
				t.Fatal(err)
			}
			if known >= 2000 {
				return
			}
			if _, err := db.Exec(t.Context(), `SELECT pg_stat_force_next_flush(), pg_sleep(0.1)`); err != nil {
				t.Fatal(err)
			}
			if err := db.AnalyzeStale(t.Context()); err != nil { // all tables
				t.Fatal(err)
			}
		}
		t.Errorf("PostgreSQL expects %v rows of 2000", known)
	})
}
