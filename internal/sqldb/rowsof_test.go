package sqldb_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The cells of a table are read unchanged by a statement, on both databases.
func TestTheCellsOfATableAreReadUnchanged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		type row struct {
			Text  string
			Whole int64
			Truth bool
			Part  float64
			None  *string
		}
		want := []row{
			{Text: "plain", Whole: 1},
			{Text: `"quotes" \ and {"json": [1]}`, Whole: -1 << 62, Truth: true},
			{Text: "Zürich, 東京 🚢\n\ttab", Whole: 1<<62 + 1, Part: 0.1},
			{Text: "", Part: -2.5},
			{Text: strings.Repeat("long ", 20_000), None: new("something")},
		}
		table := db.Table("text TEXT", "whole BIGINT", "truth BOOLEAN", "part DOUBLE PRECISION", "none TEXT")
		for _, r := range want {
			table.Add(r.Text, r.Whole, r.Truth, r.Part, r.None)
		}
		for range 2 { // a table may be passed to several statements
			rows, err := db.Query(t.Context(), `SELECT v.text, v.whole, v.truth, v.part, v.none FROM `+table.As("v", 1), table.Args()...)
			got, err := sqldb.Collect(rows, err, func(scan func(...any) error) (r row, err error) {
				err = scan(&r.Text, &r.Whole, &r.Truth, &r.Part, &r.None)
				return r, err
			})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		}
		none := db.Table("text TEXT")
		var n int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+none.As("v", 1), none.Args()...).Scan(&n); err != nil || n != 0 {
			t.Errorf("an empty table has %d rows, %v", n, err)
		}
	})
}
