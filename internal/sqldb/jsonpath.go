package sqldb

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// JSONPath returns, for a FROM clause, the values at a path in the JSON column: a table of the
// given name with the columns kind ('string', 'number', 'boolean' or 'object'), text (of a boolean
// 'true' or 'false') and number. arg adds a parameter and returns its name.
//
// A step of the path is the name of an object's member. With [] after it, the path continues with
// each element of the array in this member. An array at the end of the path yields its elements.
// Nulls, empty strings and missing members yield nothing.
func (db *DB) JSONPath(column string, path []string, name string, arg func(value any) string) string {
	if db.dialect == SQLite {
		steps, _ := json.Marshal(path) // strings always encode
		return fmt.Sprintf(` (SELECT CASE type WHEN 'text' THEN 'string' WHEN 'object' THEN 'object' WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE 'number' END AS kind,
			CASE type WHEN 'text' THEN value ELSE type END AS text, CAST(value AS REAL) AS number
			FROM json_each(json_path(%s, %s))) AS %s `, column, arg(string(steps)), name)
	}
	var from strings.Builder
	e := column
	for i, step := range path {
		key, each := strings.CutSuffix(step, "[]")
		e = "(" + e + " -> CAST(" + arg(key) + " AS TEXT))"
		if each {
			fmt.Fprintf(&from, "jsonb_array_elements(CASE jsonb_typeof(%[1]s) WHEN 'array' THEN %[1]s ELSE '[]' END) AS each%[2]d(e) CROSS JOIN LATERAL ", e, i)
			e = fmt.Sprintf("each%d.e", i)
		}
	}
	return fmt.Sprintf(` (SELECT jsonb_typeof(f.e) AS kind, f.e #>> '{}' AS text, CASE jsonb_typeof(f.e) WHEN 'number' THEN CAST(f.e AS DOUBLE PRECISION) END AS number
		FROM %[1]s jsonb_array_elements(CASE jsonb_typeof(%[2]s) WHEN 'array' THEN %[2]s ELSE jsonb_build_array(%[2]s) END) AS f(e)
		WHERE jsonb_typeof(f.e) NOT IN ('null', 'array') AND f.e <> '""') AS %[3]s `, from.String(), e, name)
}

// FindJSONPath is JSONPath for a decoded JSON value in memory.
func FindJSONPath(v any, path []string) []any {
	if len(path) == 0 {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		var found []any
		for _, e := range list {
			if _, deeper := e.([]any); !deeper && e != nil && e != "" {
				found = append(found, e)
			}
		}
		return found
	}
	name, each := strings.CutSuffix(path[0], "[]")
	o, _ := v.(map[string]any)
	next, ok := o[name]
	switch {
	case !ok:
		return nil
	case !each:
		return FindJSONPath(next, path[1:])
	}
	members, _ := next.([]any)
	var found []any
	for _, m := range members {
		found = append(found, FindJSONPath(m, path[1:])...)
	}
	return found
}

// Formats of times in JSON. The functions day_of and moment_of of the PostgreSQL schema accept the
// same.
var (
	dayPattern    = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)
	momentPattern = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$`)
)

const spaces = " \t\n\v\f\r"

// ParseDay returns the text, without surrounding spaces, if it is a date as YYYY-MM-DD. In SQL it
// is day_of.
func ParseDay(s string) (string, bool) {
	s = strings.Trim(s, spaces)
	if !dayPattern.MatchString(s) || s < "0001" {
		return "", false
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", false
	}
	return s, true
}

// ParseMoment returns the microseconds of a date-time of RFC 3339. The offset may be missing, which
// means UTC, as may the seconds; the T may be a space. In SQL it is moment_of.
func ParseMoment(s string) (int64, bool) {
	s = strings.Trim(s, spaces)
	if !momentPattern.MatchString(s) || s < "0001" {
		return 0, false
	}
	s = s[:10] + "T" + s[11:]
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}

// registerJSONPath adds the functions that JSONPath uses, and those that parse times, to a
// connection of SQLite.
func registerJSONPath(c *sqlite3.Conn) error {
	err := c.CreateFunction("day_of", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if day, ok := ParseDay(arg[0].Text()); ok {
			ctx.ResultText(day)
		}
	})
	if err != nil {
		return err
	}
	err = c.CreateFunction("moment_of", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if at, ok := ParseMoment(arg[0].Text()); ok {
			ctx.ResultInt64(at)
		}
	})
	if err != nil {
		return err
	}
	return c.CreateFunction("json_path", 2, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		var doc any
		var path []string
		if json.Unmarshal(arg[0].RawText(), &doc) != nil || json.Unmarshal(arg[1].RawText(), &path) != nil {
			ctx.ResultText("[]")
			return
		}
		list := FindJSONPath(doc, path)
		if len(list) == 0 {
			ctx.ResultText("[]")
			return
		}
		b, _ := json.Marshal(list) // decoded JSON always encodes
		ctx.ResultText(string(b))
	})
}
