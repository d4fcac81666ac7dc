package sqldb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// SkipLocked lets a claim pass over rows that another claim holds. SQLite has
// one writer, so nobody else holds any.
func (db *DB) SkipLocked() string {
	if db.dialect == Postgres {
		return " FOR UPDATE SKIP LOCKED "
	}
	return " "
}

// ForUpdate keeps a row that was read until the transaction ends.
func (db *DB) ForUpdate() string {
	if db.dialect == Postgres {
		return " FOR UPDATE "
	}
	return " "
}

// In tests whether a text column is in the list passed as parameter $n by List.
func (db *DB) In(n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" = ANY($%d) ", n)
	}
	return fmt.Sprintf(" IN (SELECT value FROM json_each($%d)) ", n)
}

// List is the parameter of In.
func List[T ~string](db *DB, list []T) any {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	if db.dialect == Postgres {
		return texts
	}
	b, _ := json.Marshal(texts) // strings always encode
	return string(b)
}

// JSONContains tests whether the JSON object in column holds the object passed
// as parameter $n: PostgreSQL's @>, arrays as sets.
func (db *DB) JSONContains(column string, n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" %s @> $%d::jsonb ", column, n)
	}
	return fmt.Sprintf(" json_contains(%s, $%d) ", column, n)
}

// AnyElement tests whether the JSON array of strings in column holds any member
// of the list passed as parameter $n by List.
func (db *DB) AnyElement(column string, n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" jsonb_exists_any(%s, $%d) ", column, n)
	}
	return fmt.Sprintf(" EXISTS (SELECT 1 FROM json_each(%s) AS have WHERE have.value IN (SELECT value FROM json_each($%d))) ", column, n)
}

// Greatest returns the larger of two expressions, neither of them null.
func (db *DB) Greatest(a, b string) string {
	if db.dialect == Postgres {
		return " GREATEST(" + a + ", " + b + ") "
	}
	return " MAX(" + a + ", " + b + ") "
}

// functions are what SQLite lacks and our statements use.
func functions(c *sqlite3.Conn) error {
	if err := found(c); err != nil {
		return err
	}
	if err := translate(c); err != nil {
		return err
	}
	if err := inRanges(c); err != nil {
		return err
	}
	if err := handed(c); err != nil {
		return err
	}
	return c.CreateFunction("json_contains", 2, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		have, err := decoded(arg[0].RawText())
		want, bad := decoded(arg[1].RawText())
		ctx.ResultBool(err == nil && bad == nil && contains(have, want, true))
	})
}

// decoded reads JSON with its numbers as they were written.
func decoded(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// equal compares two scalars, numbers by what they are worth, to the last digit.
func equal(a, b any) bool {
	x, ok := a.(json.Number)
	y, both := b.(json.Number)
	if !ok || !both || x == y {
		return a == b
	}
	f, err := x.Float64()
	g, bad := y.Float64()
	if err != nil || bad != nil || f != g {
		return false
	}
	if f == 0 { // what is smaller than any float is not told from it
		return true
	}
	p, _ := new(big.Rat).SetString(string(x))
	q, _ := new(big.Rat).SetString(string(y))
	return p != nil && q != nil && p.Cmp(q) == 0
}

// contains follows PostgreSQL's jsonb containment (PostgreSQL manual, 8.14.3).
func contains(have, want any, top bool) bool {
	switch want := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return false
		}
		for k, w := range want {
			v, ok := h[k]
			if !ok || !contains(v, w, false) {
				return false
			}
		}
		return true
	case []any:
		h, ok := have.([]any)
		if !ok {
			return false
		}
		for _, w := range want {
			found := false
			for _, v := range h {
				if contains(v, w, false) {
					found = true
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	if h, ok := have.([]any); ok && top { // an array may contain a primitive
		return slices.ContainsFunc(h, func(v any) bool { return scalar(v) && equal(v, want) })
	}
	return scalar(have) && equal(have, want)
}

// scalar reports whether the value is neither object nor array.
func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// Table is a list of rows passed to a statement as parameters, for set-based
// inserts and updates: one statement moves them all.
//
//	t := db.Table("id TEXT", "due_at BIGINT")
//	t.Add(id, due)
//	tx.Exec(ctx, `UPDATE outbox SET due_at = v.due_at FROM `+t.As("v", 2)+`
//		WHERE outbox.tenant_id = $1 AND outbox.id = v.id`, t.Args(tenant)...)
//
// Column types are TEXT, BIGINT, BOOLEAN, DOUBLE PRECISION and JSONB; a value may
// be nil. An INSERT … SELECT from it with an ON CONFLICT clause needs a WHERE
// (WHERE true), or SQLite reads ON as a join's.
type Table struct {
	dialect Dialect
	names   []string
	types   []string
	columns [][]any
}

// Table begins a list of rows of the given columns ("name TYPE").
func (db *DB) Table(columns ...string) *Table {
	t := &Table{dialect: db.dialect, columns: make([][]any, len(columns))}
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		t.names = append(t.names, name)
		t.types = append(t.types, strings.ToUpper(strings.TrimSpace(typ)))
	}
	return t
}

// Add appends one row.
func (t *Table) Add(values ...any) {
	if len(values) != len(t.names) {
		panic(fmt.Sprintf("sqldb: %d values for %d columns", len(values), len(t.names)))
	}
	for i, v := range values {
		t.columns[i] = append(t.columns[i], v)
	}
}

// Len returns how many rows were added.
func (t *Table) Len() int { return len(t.columns[0]) }

// As returns the table for a FROM clause under a name; its parameters begin at
// $first, and must be the statement's last.
func (t *Table) As(name string, first int) string {
	if t.dialect == Postgres {
		params := make([]string, len(t.names))
		for i := range t.names {
			params[i] = fmt.Sprintf("$%d::%s[]", first+i, t.types[i])
		}
		return "unnest(" + strings.Join(params, ", ") + ") AS " + name + "(" + strings.Join(t.names, ", ") + ")"
	}
	if len(t.names) > handedColumns {
		panic(fmt.Sprintf("sqldb: a table of %d columns cannot be handed to SQLite", len(t.names)))
	}
	cols := make([]string, len(t.names))
	for i, n := range t.names {
		cols[i] = fmt.Sprintf("c%d AS %s", i, n)
	}
	return fmt.Sprintf("(SELECT %s FROM handed_rows($%d)) AS %s", strings.Join(cols, ", "), first, name)
}

// Args returns the statement's parameters: the given ones, then the table's.
func (t *Table) Args(before ...any) []any {
	if t.dialect == Postgres {
		for i, typ := range t.types {
			before = append(before, array(typ, t.columns[i]))
		}
		return before
	}
	for _, column := range t.columns {
		if _, err := plain(column); err != nil {
			panic(err)
		}
	}
	return append(before, t)
}

// array turns a column into a typed slice, which pgx sends as an array.
func array(typ string, values []any) any {
	args, err := plain(values)
	if err != nil {
		panic(err)
	}
	switch typ {
	case "BIGINT":
		return typed[int64](args)
	case "BOOLEAN":
		return typed[bool](args)
	case "DOUBLE PRECISION":
		return typed[float64](args)
	}
	return typed[string](args)
}

// typed returns values without nils as they are, which pgx encodes without
// reflection, and others as pointers.
func typed[T any](values []any) any {
	if slices.Contains(values, nil) {
		list := make([]*T, len(values))
		for i, v := range values {
			if v != nil {
				list[i] = new(v.(T))
			}
		}
		return list
	}
	list := make([]T, len(values))
	for i, v := range values {
		list[i] = v.(T)
	}
	return list
}
