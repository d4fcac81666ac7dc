package sqldb_test

import (
	"testing"

	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

// What is taken out of JSON, and how texts compare, is the same in both
// databases, whatever the locale.
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
		if err := db.QueryRow(t.Context(), `SELECT CASE WHEN CAST($1 AS DOUBLE PRECISION)`+db.In(2)+` THEN 1 ELSE 0 END`, 0.1, sqldb.Numbers(db, []float64{7, 0.1})).Scan(&n); err != nil || n != 1 {
			t.Errorf("0.1 is in (7, 0.1) = %d, %v", n, err)
		}
	})
}
