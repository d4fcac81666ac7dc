package sqldb_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A path yields the same values in SQL and in memory.
func TestJSONPath(t *testing.T) {
	t.Parallel()
	const doc = `{"plan": "Pro", "none": null, "empty": "", "price": 49.9, "big": 1e20, "gift": true, "sold": false,
		"items": [{"sku": "A", "qty": 2}, {"sku": "B"}, "C", {"sku": ["D", ["E"], null]}], "tags": ["x", "", null, ["y"]],
		"ship": {"to": {"country": "NL"}}, "odd \"key' $": 1, "0": "zero", "nested": [["a", "b"], "c"]}`
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, tt := range []struct{ path, want string }{
			{"plan", "string Pro"},
			{"none", ""},
			{"empty", ""},
			{"absent", ""},
			{"absent.deeper", ""},
			{"plan.deeper", ""},
			{"price", "number 49.9"},
			{"big", "number 1e+20"},
			{"gift", "boolean true"},
			{"sold", "boolean false"},
			{"items[].sku", "string A, string B, string D"},
			{"items.sku", ""},
			{"items[].qty", "number 2"},
			{"items", "string C, object, object, object"},
			{"tags", "string x"},
			{"tags[]", "string x, string y"},
			{"nested", "string c"},
			{"nested[]", "string a, string b, string c"},
			{"nested.0", ""},
			{"0", "string zero"},
			{"plan[]", ""},
			{"ship.to.country", "string NL"},
			{"ship.to", "object"},
			{"odd \"key' $", "number 1"},
		} {
			path := strings.Split(tt.path, ".")
			args := []any{doc}
			arg := func(v any) string {
				args = append(args, v)
				return fmt.Sprintf("$%d", len(args))
			}
			from := db.JSONPath("d.doc", path, "v", arg)
			rows, err := db.Query(t.Context(), `SELECT v.kind, v.text, v.number FROM (SELECT CAST($1 AS JSONB) AS doc) AS d CROSS JOIN LATERAL `+from, args...)
			if db.Dialect() == sqldb.SQLite {
				rows, err = db.Query(t.Context(), `SELECT v.kind, v.text, v.number FROM `+strings.Replace(from, "d.doc", "$1", 1), args...)
			}
			got, err := sqldb.Collect(rows, err, func(scan func(...any) error) (string, error) {
				var kind, text string
				var number *float64
				err := scan(&kind, &text, &number)
				switch kind {
				case "object":
					return kind, err
				case "number":
					return kind + " " + strconv.FormatFloat(*number, 'g', -1, 64), err
				}
				return kind + " " + text, err
			})
			if err != nil {
				t.Fatalf("%s: %v", tt.path, err)
			}
			slices.Sort(got)
			want := strings.Split(tt.want, ", ")
			slices.Sort(want)
			if strings.Join(got, ", ") != strings.Join(want, ", ") {
				t.Errorf("values at %s: %v, want %v", tt.path, got, want)
			}
			if n := len(sqldb.FindJSONPath(v, path)); n != len(got) {
				t.Errorf("FindJSONPath(%s) returns %d values, want %d", tt.path, n, len(got))
			}
		}
	})
}

func TestTimesInTexts(t *testing.T) {
	t.Parallel()
	const at = 1795262400000000 // 2026-11-21T12:00:00Z
	var texts []string
	for _, tt := range []struct {
		text   string
		day    string
		moment int64
	}{
		{"2026-11-21", "2026-11-21", 0},
		{" 2026-11-21\n", "2026-11-21", 0},
		{"2024-02-29", "2024-02-29", 0},
		{"2026-02-29", "", 0},
		{"2026-04-31", "", 0},
		{"2026-13-01", "", 0},
		{"0000-01-01", "", 0},
		{"2026-11-21T12:00:00Z", "", at},
		{"2026-11-21T12:00Z", "", at},
		{"2026-11-21T12:00", "", at},
		{"2026-11-21 12:00:00", "", at},
		{"2026-11-21T12:00:00", "", at},
		{"2026-11-21T14:30:00+02:30", "", at},
		{"2026-11-21T09:00:00.000001999-03:00", "", at + 1},
		{"2026-11-21T12:00:00.5Z", "", at + 500_000},
		{"1969-12-31T23:59:59.999999Z", "", -1},
		{"2026-02-30T12:00:00Z", "", 0},
		{"2026-11-21T24:00:00Z", "", 0},
		{"2026-11-21T9:00:00Z", "", 0},
		{"2026-11-21T12:00:00,5Z", "", 0},
		{"2026-11-21T12:00:00+24:00", "", 0},
		{"20261121", "", 0},
		{"", "", 0},
		{"tomorrow", "", 0},
	} {
		if day, _ := sqldb.ParseDay(tt.text); day != tt.day {
			t.Errorf("ParseDay(%q) = %q, want %q", tt.text, day, tt.day)
		}
		if m, _ := sqldb.ParseMoment(tt.text); m != tt.moment {
			t.Errorf("ParseMoment(%q) = %d, want %d", tt.text, m, tt.moment)
		}
		texts = append(texts, tt.text)
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, text := range texts {
			var day *string
			var moment *int64
			err := db.QueryRow(t.Context(), `SELECT day_of(CAST($1 AS TEXT)), moment_of(CAST($1 AS TEXT))`, text).Scan(&day, &moment)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			wantDay, isDay := sqldb.ParseDay(text)
			wantMoment, isMoment := sqldb.ParseMoment(text)
			if (day != nil) != isDay || isDay && *day != wantDay || (moment != nil) != isMoment || isMoment && *moment != wantMoment {
				t.Errorf("SQL reads %q as day %v, moment %v; want %q, %d", text, day, moment, wantDay, wantMoment)
			}
		}
	})
}
