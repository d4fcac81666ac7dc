package dbcopy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// rowsEach is the number of rows of each table.
const rowsEach = 11

// small makes each table need several batches.
var small = Options{batchRows: 4}

// forced are values that constraints of a table require.
var forced = map[string]any{
	"tenant.contact_limit": int64(3), "broadcast.pause_reason": nil, "broadcast.archived_at": nil,
	"job.finished_at": nil, "contact_stage.is_default": int64(0), "secret_key.name": "main",
}

var listed = regexp.MustCompile(`\((\w+) = ANY \(ARRAY\['([^']+)'`)

// fill inserts rows into each table of a source, with values of all kinds, by the catalog of a
// target.
func fill(t *testing.T, source *sqldb.DB) {
	t.Helper()
	conn := connect(t, migrated(t))
	c := &copier{source: source, target: conn}
	tables, err := c.loadTablePlan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]any{} // of the values that a column accepts
	rows, err := conn.Query(t.Context(), `SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c'`)
	if err != nil {
		t.Fatal(err)
	}
	var name, rule string
	if _, err := pgx.ForEachRow(rows, []any{&name, &rule}, func() error {
		for _, m := range listed.FindAllStringSubmatch(rule, 1) {
			first[name+"."+m[1]] = m[2]
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	maps.Copy(first, forced)
	nullable := map[string]bool{}
	rows, err = conn.Query(t.Context(), `SELECT table_name::text || '.' || column_name::text FROM information_schema.columns WHERE is_nullable = 'YES'`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.ForEachRow(rows, []any{&name}, func() error { nullable[name] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, tab := range tables {
		n := rowsEach
		if tab.name == "secret_key" || tab.name == "hit_cleared" { // their keys have few values
			n = 1
		}
		for i := 1; i <= n; i++ {
			insert(t, source, tab, i, first, nullable)
		}
	}
}

func insert(t *testing.T, source *sqldb.DB, tab table, i int, first map[string]any, nullable map[string]bool) {
	t.Helper()
	params, values := make([]string, len(tab.columns)), make([]any, len(tab.columns))
	for c, column := range tab.columns {
		params[c] = fmt.Sprintf("$%d", c+1)
		value, ok := first[tab.name+"."+column]
		switch {
		case ok:
		case nullable[tab.name+"."+column] && i%2 == 1:
		case column == "tenant_id" && len(tab.key) > 1:
			value = int64(1 + i%3)
		default:
			value = testValue(tab.kinds[c], column, i)
		}
		values[c] = value
	}
	if _, err := source.Exec(t.Context(), `INSERT INTO `+tab.name+` (`+quoted(tab.columns, "%s")+`) VALUES (`+strings.Join(params, ", ")+`)`, values...); err != nil {
		t.Fatalf("fill %s: %v", tab.name, err)
	}
}

// testValue returns the value of a column in row i. It differs from row to row, except for
// booleans. Ids are the same in all tables, so that references are valid.
func testValue(k kind, column string, i int) any {
	switch k {
	case integer:
		return int64(i)
	case boolean:
		return int64(i % 2)
	case float:
		return []float64{0.1, math.Copysign(0, -1), -1e300, 5e-324}[i%4] * float64(i)
	case uuid, octets:
		b := make([]byte, 16)
		binary.BigEndian.PutUint64(b[8:], uint64(i))
		b[0] = byte(i * 100) // not ascending with i
		return b
	case jsonDocument:
		return fmt.Sprintf(`{"n": %de2, "a": [0.10, -0.0, 12345678901234567890, "\u00e9\t", null, true],  "A": {}, "a b": "%s"}`, i, column)
	}
	return fmt.Sprintf("%s %s\t\\N Å %d", []string{"b", "Ä", "z", "a"}[i%4], column, i)
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// migrated returns the address of an empty database with the program's schema.
func migrated(t *testing.T) string {
	t.Helper()
	var name string
	if err := dbtest.Postgres(t).QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return dbtest.DatabaseAddress(name)
}

// rowCounts returns how many rows each table of the source has.
func rowCounts(t *testing.T, source *sqldb.DB) map[string]int64 {
	t.Helper()
	rows, err := source.Query(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'schema_migration'`)
	names, err := sqldb.Collect(rows, err, func(scan func(...any) error) (name string, err error) { return name, scan(&name) })
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, name := range names {
		var n int64
		if err := source.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		all[name] = n
	}
	return all
}

// checkCopy checks that the target has the rows of the source, at least one in each table, and
// works like a database that was not copied into.
func checkCopy(t *testing.T, source *sqldb.DB, address string, r Report) {
	t.Helper()
	conn := connect(t, address)
	want := rowCounts(t, source)
	for name, n := range want {
		var got int64
		if err := conn.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+name).Scan(&got); err != nil || got != n || n == 0 {
			t.Errorf("table %s has %d rows in the source and %d in the target, %v; want the same, not 0", name, n, got, err)
		}
		if !slices.ContainsFunc(r.Tables, func(tab Table) bool { return tab.Name == name && tab.Rows == n && len(tab.Checksum) == 64 }) {
			t.Errorf("the report lacks table %s", name)
		}
	}
	if len(want) < 50 || len(r.Tables) != len(want) {
		t.Errorf("%d tables were copied of %d", len(r.Tables), len(want))
	}
	var place, last int64
	var doc, line string
	err := conn.QueryRow(t.Context(), `SELECT nextval('journal_place_1'), MAX(pos) FROM journal`).Scan(&place, &last)
	if err != nil || place != last+1 {
		t.Errorf("the next position of the journal is %d after %d, %v", place, last, err)
	}
	err = conn.QueryRow(t.Context(), `SELECT custom_fields ->> 'n', company FROM contact WHERE id = 'c8000000-0000-0000-0000-000000000002'`).Scan(&doc, &line)
	if err != nil || doc != "200" || line != "z company\t\\N Å 2" {
		t.Errorf("a contact has %s, %q, %v", doc, line, err)
	}
}

func open(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestEveryTableIsCopied(t *testing.T) {
	t.Parallel()
	source := dbtest.SQLite(t)
	fill(t, source)
	for name, address := range map[string]string{"blank": dbtest.BlankPostgres(t), "migrated": migrated(t)} {
		r, err := Run(t.Context(), source, address, small)
		if err != nil || r.Resumed || r.AlreadyDone {
			t.Fatalf("copy into a %s database: %+v, %v", name, r, err)
		}
		checkCopy(t, source, address, r)
		again, err := Run(t.Context(), source, address, small)
		if err != nil || !again.AlreadyDone || !again.EndedAt.Equal(r.EndedAt) || !slices.Equal(again.Tables, r.Tables) {
			t.Errorf("the same copy again: %+v, %v; want the first report", again, err)
		}
		if err := Unfinished(t.Context(), open(t, address)); err != nil {
			t.Errorf("Unfinished of a finished copy: %v", err)
		}
	}
}

func TestAnInterruptedCopyContinues(t *testing.T) {
	t.Parallel()
	source := dbtest.SQLite(t)
	fill(t, source)
	address := dbtest.BlankPostgres(t)
	killed := errors.New("killed")
	runs, batches := 0, 0
	for ; runs < 50; runs++ {
		ctx, kill := context.WithCancel(t.Context())
		o, left := small, 5+runs*7
		if runs%2 == 0 { // within a batch, which is rolled back
			o.beforeCommit = func(string) error {
				if left--; left < 0 {
					return killed
				}
				return nil
			}
		}
		o.Progress = func(p Progress) { // or after one
			if !p.Verified {
				batches++
			}
			if left--; left < 0 && runs%2 == 1 {
				kill()
			}
		}
		r, err := Run(ctx, source, address, o)
		kill()
		if err == nil {
			if !r.Resumed {
				t.Error("the last run does not say that it went on")
			}
			checkCopy(t, source, address, r)
			break
		}
		if !errors.Is(err, killed) && !errors.Is(err, context.Canceled) {
			t.Fatalf("run %d: %v", runs, err)
		}
		if err := Unfinished(t.Context(), open(t, address)); !errors.Is(err, ErrUnfinished) {
			t.Fatalf("Unfinished after run %d: %v", runs, err)
		}
	}
	if want := len(rowCounts(t, source)) * (rowsEach/4 + 1); runs < 5 || batches > want {
		t.Errorf("%d batches in %d runs; want several runs and at most %d: none twice", batches, runs+1, want)
	}
}

func TestACopyThatDiffersIsNotFinished(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(source *sqldb.DB, target *pgx.Conn) error{
		"a row changed in the source": func(source *sqldb.DB, _ *pgx.Conn) error {
			_, err := source.Exec(t.Context(), `UPDATE tenant SET name = 'other' WHERE tenant_id = 3`)
			return err
		},
		"a row added to the source": func(source *sqldb.DB, _ *pgx.Conn) error {
			_, err := source.Exec(t.Context(), `INSERT INTO outbox_node (owner, until_at) VALUES ('aaa', 1)`)
			return err
		},
		"a number changed in the target's JSON": func(_ *sqldb.DB, target *pgx.Conn) error {
			_, err := target.Exec(t.Context(), `UPDATE tenant SET tracked_domains = jsonb_set(tracked_domains, '{n}', '301') WHERE tenant_id = 3`)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := dbtest.SQLite(t)
			fill(t, source)
			address := dbtest.BlankPostgres(t)
			ctx, kill := context.WithCancel(t.Context())
			o := Options{}
			o.Progress = func(p Progress) {
				if p.Verified {
					kill()
				}
			}
			if _, err := Run(ctx, source, address, o); err == nil {
				t.Fatal("the copy was not interrupted")
			}
			if err := change(source, connect(t, address)); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), source, address, Options{}); !errors.Is(err, ErrDifferent) {
				t.Errorf("Run = %v, want %v", err, ErrDifferent)
			}
			if err := Unfinished(t.Context(), open(t, address)); !errors.Is(err, ErrUnfinished) {
				t.Errorf("Unfinished = %v", err)
			}
		})
	}
}

func TestTheSourceIsNotWrittenToMeanwhile(t *testing.T) {
	t.Parallel()
	source := dbtest.SQLite(t)
	fill(t, source)
	before := rowCounts(t, source)
	beside, err := driver.Open("file:" + source.File() + "?_pragma=busy_timeout(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	tries := 0
	r, err := Run(t.Context(), source, dbtest.BlankPostgres(t), Options{Progress: func(Progress) {
		tries++
		if _, err := beside.ExecContext(t.Context(), `DELETE FROM outbox_node`); !errors.Is(err, sqlite3.BUSY) {
			t.Errorf("another process writes to the source: %v", err)
		}
	}})
	if err != nil || len(r.Tables) != len(before) || tries < len(before) || !maps.Equal(before, rowCounts(t, source)) {
		t.Errorf("Run = %d tables, %v, after %d tries", len(r.Tables), err, tries)
	}
	if _, err := beside.ExecContext(t.Context(), `DELETE FROM outbox_node`); err != nil {
		t.Errorf("the source after the copy: %v", err)
	}
}

func TestOnlyAnEmptyTargetIsAccepted(t *testing.T) {
	t.Parallel()
	source := dbtest.SQLite(t)
	fill(t, source)
	for name, statements := range map[string][]string{
		"things of others": {`DROP TABLE schema_migration`, `CREATE TABLE theirs (x INTEGER)`},
		"a tenant's rows":  {`INSERT INTO outbox_node (owner, until_at) VALUES ('x', 1)`},
		"another's key":    {`INSERT INTO secret_key (name, fingerprint) VALUES ('main', 'other')`},
		"another's copy":   {progressTable, `INSERT INTO database_copy (name, source, copied, ended, at) VALUES ('', 'other', 0, FALSE, 0)`},
	} {
		address := migrated(t)
		conn := connect(t, address)
		for _, s := range statements {
			if _, err := conn.Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Run(t.Context(), source, address, small); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("a target with %s: %v, want %v", name, err, ErrNotEmpty)
		}
	}
	address := migrated(t)
	conn := connect(t, address)
	if _, err := conn.Exec(t.Context(), `INSERT INTO secret_key SELECT 'main', $1`, testValue(text, "fingerprint", 1)); err != nil {
		t.Fatal(err)
	}
	other := &copier{target: conn}
	if err := other.lockTarget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), source, address, small); !errors.Is(err, ErrRunning) {
		t.Errorf("beside another copy: %v, want %v", err, ErrRunning)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), source, address, small); err != nil {
		t.Errorf("into a target that was migrated under the same key: %v", err)
	}
}

func TestASourceOfAnotherSchemaIsRefused(t *testing.T) {
	t.Parallel()
	blank := open(t, "sqlite:"+t.TempDir()+"/blank.db")
	if _, err := Run(t.Context(), blank, "postgres://127.0.0.1:1/none", small); !errors.Is(err, ErrSource) {
		t.Errorf("a blank source: %v, want %v", err, ErrSource)
	}
	more := dbtest.SQLite(t)
	if _, err := more.Exec(t.Context(), `CREATE TABLE theirs (x INTEGER) STRICT`); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), more, migrated(t), small); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("a source with a table of others: %v, want %v", err, ErrSource)
	}
}

func TestJSONIsComparedByValue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{"a": 1, "b": [2, 3]}`, `{"b":[2,3],"a":1}`, true},
		{`{"a": 1e2}`, `{"a": 100}`, true},
		{`{"a": 0.10}`, `{"a": 0.1}`, true},
		{`{"a": -0.0}`, `{"a": 0e5}`, true},
		{`{"a": 1200}`, `{"a": 1.2E+3}`, true},
		{`{"a": 0.0012}`, `{"a": 1.2e-3}`, true},
		{`{"a": 12345678901234567890}`, `{"a": 12345678901234567891}`, false},
		{`{"a": 1}`, `{"a": -1}`, false},
		{`{"a": 10}`, `{"a": 1}`, false},
		{`{"a": 1}`, `{"a": "1"}`, false},
		{`{"a": "é"}`, `{"a": "\u00e9"}`, true},
		{`{"a": null}`, `{}`, false},
		{`[1, 2]`, `[2, 1]`, false},
		{`[[1], 2]`, `[[1, 2]]`, false},
		{`[12, 3]`, `[1, 23]`, false},
		{`[{}]`, `[[]]`, false},
		{`"x"`, `"x"`, true},
	} {
		a, err := canonical([]byte(tt.a))
		b, bad := canonical([]byte(tt.b))
		if err != nil || bad != nil || (string(a) == string(b)) != tt.same {
			t.Errorf("%s and %s: %q, %q, %v, %v; want them the same: %t", tt.a, tt.b, a, b, err, bad, tt.same)
		}
	}
}
