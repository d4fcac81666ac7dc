package sqldb

import (
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// Lower returns the expression for a text with ASCII capital letters in lower case and all others
// unchanged, whatever the locale of the database. It compares byte by byte. To fold other
// characters, use translate(text, from, to), which both databases have.
func (db *DB) Lower(text string) string {
	if db.dialect == Postgres {
		return `lower(` + text + ` COLLATE "C")`
	}
	return "lower(" + text + ")"
}

// Bytewise returns the expression for a text that compares byte by byte, whatever the locale of the
// database.
func (db *DB) Bytewise(text string) string {
	if db.dialect == Postgres {
		return `(` + text + ` COLLATE "C")`
	}
	return text
}

// EscapeLike escapes a text for use in a pattern of LIKE … ESCAPE '\'.
func EscapeLike(text string) string { return likeEscaper.Replace(text) }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// quoteText returns a member's name as an SQL literal. The names are those of fields that tenants
// declare. They are part of statements so that indexes can contain them.
func quoteText(key string) string { return "'" + strings.ReplaceAll(key, "'", "''") + "'" }

// jsonMember returns the path of an object's member for SQLite.
func jsonMember(key string) string { return quoteText(`$."` + key + `"`) }

// JSONText returns the expression for the text of a member of the JSON object in column, if that is
// a string. The key consists of letters, digits and _.
func (db *DB) JSONText(column, key string) string {
	return "(" + column + " ->> " + quoteText(key) + ")"
}

// JSONNumber returns the expression for a number of the JSON object in column, as DOUBLE PRECISION;
// null if the member is not a number. Keys are as in JSONText.
func (db *DB) JSONNumber(column, key string) string {
	if db.dialect == Postgres {
		k := column + " -> " + quoteText(key)
		return "(CASE jsonb_typeof(" + k + ") WHEN 'number' THEN CAST(" + k + " AS DOUBLE PRECISION) END)"
	}
	return "(CASE WHEN json_type(" + column + ", " + jsonMember(key) + ") IN ('integer', 'real') THEN CAST(" + column + " ->> " + jsonMember(key) + " AS REAL) END)"
}

// JSONBool returns the expression for a boolean of the JSON object in column; null if the member is
// neither true nor false. Keys are as in JSONText.
func (db *DB) JSONBool(column, key string) string {
	if db.dialect == Postgres {
		k := column + " -> " + quoteText(key)
		return "(CASE " + k + " WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END)"
	}
	return "(CASE json_type(" + column + ", " + jsonMember(key) + ") WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END)"
}

// Numbers returns the parameter of In for a column of type DOUBLE PRECISION.
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

// registerTranslate adds PostgreSQL's function translate to a connection of SQLite: it replaces the
// characters of a text that are in from by those at the same positions in to.
func registerTranslate(c *sqlite3.Conn) error {
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
