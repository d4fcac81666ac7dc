package sqldb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Values of JSON, and comparisons of texts, are the same in both databases, whatever the locale.
func TestValuesOfJSONAndTexts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const doc = `{"s": "Ünï \"q\" 'x' <b> 50%", "n": 12.5, "i": 9007199254740991, "t": true, "f": false, "z": null, "e": "", "l": ["1"], "d": "5", "tiny": 5e-324, "third": 0.3333333333333333}`
		for _, tt := range []struct {
			expr string
			want any
		}{
			{db.JSONText("x.j", "s"), `Ünï "q" 'x' <b> 50%`},
			{db.JSONText("x.j", "e"), ""},
			{db.JSONText("x.j", "z"), nil},
			{db.JSONText("x.j", "gone"), nil},
			{db.JSONText("NULLIF(x.j, x.j)", "s"), nil},
			{db.JSONNumber("x.j", "n"), 12.5},
			{db.JSONNumber("x.j", "i"), 9007199254740991.0},
			{db.JSONNumber("x.j", "third"), 1.0 / 3},
			{db.JSONNumber("x.j", "d"), nil},
			{db.JSONNumber("x.j", "t"), nil},
			{db.JSONNumber("x.j", "gone"), nil},
			{"CASE WHEN " + db.JSONBool("x.j", "t") + " THEN 'yes' ELSE 'no' END", "yes"},
			{"CASE WHEN " + db.JSONBool("x.j", "f") + " IS NULL THEN 'null' END", nil},
			{"CASE WHEN " + db.JSONBool("x.j", "n") + " IS NULL THEN 'null' END", "null"},
			{"CASE WHEN " + db.JSONBool("x.j", "gone") + " IS NULL THEN 'null' END", "null"},
			{db.Lower("'AÄßzİ'"), "aÄßzİ"},
			{"translate(" + db.Lower("'ÄÖA'") + ", 'ÄÖ', 'äö')", "äöa"},
			{"translate('abc', 'abc', 'x')", "x"},
			{"translate(NULL, 'a', 'b')", nil},
			{"CASE WHEN " + db.Bytewise("'a-c'") + " < 'ab' THEN 'bytes' ELSE 'words' END", "bytes"},
		} {
			var got any
			err := db.QueryRow(t.Context(), `SELECT `+tt.expr+` FROM (SELECT CAST($1 AS TEXT) AS j) AS x`, doc).Scan(&got)
			if db.Dialect() == sqldb.Postgres {
				err = db.QueryRow(t.Context(), `SELECT `+tt.expr+` FROM (SELECT CAST($1 AS JSONB) AS j) AS x`, doc).Scan(&got)
			}
			if b, ok := got.([]byte); ok {
				got = string(b)
			}
			if err != nil || got != tt.want {
				t.Errorf("%s = %#v, %v; want %#v", tt.expr, got, err, tt.want)
			}
		}
		var n int
		for _, f := range []float64{0, 7, 0.1, -2.5, 1234567890123456768, 1e21, 5e-324, 0.3333333333333333} {
			if err := db.QueryRow(t.Context(), `SELECT CASE WHEN CAST($1 AS DOUBLE PRECISION)`+db.In(2)+` THEN 1 ELSE 0 END`, f, sqldb.Numbers(db, []float64{42, f})).Scan(&n); err != nil || n != 1 {
				t.Errorf("%g is in (42, %g) = %d, %v", f, f, n, err)
			}
		}
	})
}

func TestRanges(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, tt := range []struct {
			value string // SQL
			typ   string
			in    any
			want  any
		}{
			{"CAST(9 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{10, 20, 20, 30, 40, 50}), "no"},
			{"CAST(10 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{10, 20, 20, 30, 40, 50}), "yes"},
			{"CAST(20 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{10, 20, 20, 30, 40, 50}), "yes"},
			{"CAST(30 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{10, 20, 20, 30, 40, 50}), "no"},
			{"CAST(50 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{10, 20, 20, 30, 40, 50}), "no"},
			{"CAST(NULL AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{10, 20}), nil},
			{"CAST(1795262400000000 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{1795262400000000, 1795262400000001}), "yes"},
			{"CAST(1.5 AS DOUBLE PRECISION)", "DOUBLE PRECISION", sqldb.Bounds(db, []float64{1.5, 2}), "yes"},
			{db.Bytewise("CAST('b' AS TEXT)"), "TEXT", sqldb.Bounds(db, []string{"a", "b", "c", "d"}), "no"},
			{db.Bytewise("CAST('a-z' AS TEXT)"), "TEXT", sqldb.Bounds(db, []string{"a", "b", "c", "d"}), "yes"},
			{"CAST(1 AS BIGINT)", "BIGINT", sqldb.Bounds(db, []int64{}), "no"},
		} {
			var got any
			err := db.QueryRow(t.Context(), `SELECT CASE WHEN `+db.InRanges(tt.value, 1, tt.typ)+` THEN 'yes' WHEN NOT (`+db.InRanges(tt.value, 1, tt.typ)+`) THEN 'no' END`, tt.in).Scan(&got)
			if err != nil || got != tt.want {
				t.Errorf("%s in %v: %v, %v; want %v", tt.value, tt.in, got, err, tt.want)
			}
		}
	})
}

// A statement that is too large for SQLite's engine is refused.
func TestTooLongStatements(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	for _, text := range []string{
		`SELECT 1 WHERE ` + strings.Repeat(`EXISTS (SELECT 1) OR `, 20_000) + `1 = 1`,
		`SELECT '` + strings.Repeat("x", 3<<20) + `'`,
	} {
		var n any
		if err := db.QueryRow(t.Context(), text).Scan(&n); !errors.Is(err, sqldb.ErrTooLong) {
			t.Errorf("a statement of %d bytes: %v", len(text), err)
		}
	}
}
