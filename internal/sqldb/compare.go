package sqldb

import (
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// Lower returns a text with ASCII's capital letters in lower case and all others
// as they are, whatever the locale of the database; it compares byte by byte.
// What else is to be equal can be replaced by translate(text, from, to), which
// both databases have.
func (db *DB) Lower(text string) string {
	if db.dialect == Postgres {
		return `lower(` + text + ` COLLATE "C")`
	}
	return "lower(" + text + ")"
}

// Bytewise returns a text that compares byte by byte, whatever the locale of the
// database.
func (db *DB) Bytewise(text string) string {
	if db.dialect == Postgres {
		return `(` + text + ` COLLATE "C")`
	}
	return text
}

// quote returns a member's name as SQL text. Names are those that tenants
// declare, so they are written into statements, which lets indexes name them.
func quote(key string) string { return "'" + strings.ReplaceAll(key, "'", "''") + "'" }

// member returns the path of an object's member as SQLite writes it.
func member(key string) string { return quote(`$."` + key + `"`) }

// JSONText returns the text of a member of the JSON object in column, which is a
// string, if there is one. The key holds letters, digits and _ only.
func (db *DB) JSONText(column, key string) string { return "(" + column + " ->> " + quote(key) + ")" }

// JSONNumber returns the number of a member of the JSON object in column, as
// DOUBLE PRECISION; null when it is none. Keys are as in JSONText.
func (db *DB) JSONNumber(column, key string) string {
	if db.dialect == Postgres {
		k := column + " -> " + quote(key)
		return "(CASE jsonb_typeof(" + k + ") WHEN 'number' THEN CAST(" + k + " AS DOUBLE PRECISION) END)"
	}
	return "(CASE WHEN json_type(" + column + ", " + member(key) + ") IN ('integer', 'real') THEN CAST(" + column + " ->> " + member(key) + " AS REAL) END)"
}

// JSONBool returns the truth of a member of the JSON object in column; null when
// it is neither true nor false. Keys are as in JSONText.
func (db *DB) JSONBool(column, key string) string {
	if db.dialect == Postgres {
		k := column + " -> " + quote(key)
		return "(CASE " + k + " WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END)"
	}
	return "(CASE json_type(" + column + ", " + member(key) + ") WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END)"
}

// Numbers is the parameter of In for a column of type DOUBLE PRECISION.
func Numbers(db *DB, list []float64) any {
	if db.dialect == Postgres {
		return slices.Clone(list)
	}
	t := db.Table("value DOUBLE PRECISION")
	for _, f := range list {
		t.Add(f)
	}
	return t
}

// translate is PostgreSQL's function: the characters of a text that are in from
// become those at their places in to.
func translate(c *sqlite3.Conn) error {
	return c.CreateFunction("translate", 3, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if slices.ContainsFunc(arg, func(v sqlite3.Value) bool { return v.Type() == sqlite3.NULL }) {
			ctx.ResultNull()
			return
		}
		text := string(arg[0].RawText())
		from, to := []rune(string(arg[1].RawText())), []rune(string(arg[2].RawText()))
		ctx.ResultText(strings.Map(func(r rune) rune {
			switch i := slices.Index(from, r); {
			case i < 0:
				return r
			case i < len(to):
				return to[i]
			}
			return -1
		}, text))
	})
}
