package sqldb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
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

// In tests whether a column of text or of identifiers is in the list passed as
// parameter $n by List.
func (db *DB) In(n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" = ANY($%d) ", n)
	}
	return fmt.Sprintf(" IN (SELECT c0 FROM rows_of($%d)) ", n)
}

// List is the parameter of In: texts or identifiers.
func List[T ~string | ~[16]byte](db *DB, list []T) any {
	if db.dialect == Postgres {
		if ids, ok := uuids(list); ok {
			return ids
		}
		return plainTexts(list)
	}
	t := &Table{dialect: SQLite, names: []string{"value"}, types: []string{"TEXT"}, columns: [][]any{make([]any, len(list))}}
	for i, v := range list {
		if u, ok := any(v).(identifier); ok {
			b := u.Bytes()
			t.columns[0][i] = b[:]
		} else {
			t.columns[0][i] = reflect.ValueOf(v).String()
		}
	}
	return t
}

// identifier is an id of any kind but a tenant's.
type identifier interface{ Bytes() [16]byte }

func uuids[T ~string | ~[16]byte](list []T) ([][16]byte, bool) {
	var zero T
	if _, ok := any(zero).(identifier); !ok {
		return nil, false
	}
	ids := make([][16]byte, len(list))
	for i, v := range list {
		ids[i] = any(v).(identifier).Bytes()
	}
	return ids, true
}

func plainTexts[T any](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = reflect.ValueOf(v).String()
	}
	return out
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
	return fmt.Sprintf(" EXISTS (SELECT 1 FROM json_each(%s) AS have WHERE have.value IN (SELECT c0 FROM rows_of($%d))) ", column, n)
}

// Greatest returns the larger of two expressions, neither of them null.
func (db *DB) Greatest(a, b string) string {
	if db.dialect == Postgres {
		return " GREATEST(" + a + ", " + b + ") "
	}
	return " MAX(" + a + ", " + b + ") "
}

// UUIDText is the usual spelling of the identifier in a column.
func (db *DB) UUIDText(column string) string {
	if db.dialect == Postgres {
		return "CAST(" + column + " AS TEXT)"
	}
	return "uuid_text(" + column + ")"
}

// functions are what SQLite lacks and our statements use.
func functions(c *sqlite3.Conn) error {
	if err := registerJSONPath(c); err != nil {
		return err
	}
	if err := translate(c); err != nil {
		return err
	}
	if err := inRanges(c); err != nil {
		return err
	}
	if err := registerRowsOf(c); err != nil {
		return err
	}
	err := c.CreateFunction("uuid_text", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if u, err := uuid.FromBytes(arg[0].RawBlob()); err == nil {
			ctx.ResultText(u.String())
		}
	})
	if err != nil {
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
// Column types are UUID, TEXT, BYTEA, BIGINT, INTEGER, BOOLEAN, DOUBLE PRECISION and
// JSONB; a value may be nil. An INSERT … SELECT from it with an ON CONFLICT clause needs a WHERE
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

// Grow makes room for n rows more.
func (t *Table) Grow(n int) {
	for i := range t.columns {
		t.columns[i] = slices.Grow(t.columns[i], n)
	}
}

// Add appends one row. It keeps the values, not the slice.
func (t *Table) Add(values ...any) {
	if len(values) != len(t.names) {
		panic(fmt.Sprintf("sqldb: %d values for %d columns", len(values), len(t.names)))
	}
	for i, v := range values {
		t.columns[i] = append(t.columns[i], v)
	}
}

// Numbers adds a column ("name TYPE") of whole numbers, one for each row.
func (t *Table) Numbers(column string, list []int64) {
	name, typ, _ := strings.Cut(column, " ")
	values := make([]any, len(list))
	for i, n := range list {
		values[i] = n
	}
	t.names, t.types, t.columns = append(t.names, name), append(t.types, typ), append(t.columns, values)
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
	return fmt.Sprintf("(SELECT %s FROM rows_of($%d)) AS %s", strings.Join(cols, ", "), first, name)
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
		if err := checkColumnTypes(column); err != nil {
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
	case "UUID":
		return uuidArray(args)
	case "BYTEA":
		list := make([][]byte, len(args)) // nil is NULL
		for i, v := range args {
			list[i], _ = v.([]byte)
		}
		return list
	case "BIGINT", "INTEGER":
		return typed[int64](args)
	case "BOOLEAN":
		return typed[bool](args)
	case "DOUBLE PRECISION":
		return typed[float64](args)
	}
	return typed[string](args)
}

// uuidArray is typed for identifiers.
func uuidArray(values []any) any {
	if slices.Contains(values, nil) {
		list := make([]pgtype.UUID, len(values))
		for i, v := range values {
			if v != nil {
				list[i] = pgtype.UUID{Bytes: v.([16]byte), Valid: true}
			}
		}
		return list
	}
	list := make([][16]byte, len(values))
	for i, v := range values {
		list[i] = v.([16]byte)
	}
	return list
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

// Param is parameter $n of a column's type where the database does not know it from
// what stands beside it, as in the list of a SELECT that is inserted.
func (db *DB) Param(n int, typ string) string {
	if db.dialect == Postgres {
		return fmt.Sprintf("$%d::%s", n, typ)
	}
	return fmt.Sprintf("$%d", n)
}
