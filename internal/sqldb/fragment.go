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

// SkipLocked returns the clause that locks rows and skips those that another transaction has
// locked. On SQLite, with one writer, there are none.
func (db *DB) SkipLocked() string {
	if db.dialect == Postgres {
		return " FOR UPDATE SKIP LOCKED "
	}
	return " "
}

// ForUpdate returns the clause that locks the rows read until the transaction ends.
func (db *DB) ForUpdate() string {
	if db.dialect == Postgres {
		return " FOR UPDATE "
	}
	return " "
}

// Fence returns the end of a subquery that the planner keeps apart: conditions of the query around it are
// tested on its rows, and choose no index.
func (db *DB) Fence() string {
	if db.dialect == Postgres {
		return " OFFSET 0 "
	}
	return " LIMIT -1 "
}

// In returns the condition that a column of texts or ids is in the list passed as parameter $n by
// List.
func (db *DB) In(n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" = ANY($%d) ", n)
	}
	return fmt.Sprintf(" IN (SELECT c0 FROM rows_of($%d)) ", n)
}

// List returns the parameter of In: texts or ids.
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

// identifier is any id except a tenant's.
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

// JSONContains returns the condition that the JSON object in column contains the object passed as
// parameter $n: PostgreSQL's @>, with arrays as sets.
func (db *DB) JSONContains(column string, n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" %s @> $%d::jsonb ", column, n)
	}
	return fmt.Sprintf(" json_contains(%s, $%d) ", column, n)
}

// AnyElement returns the condition that the JSON array of strings in column has an element in
// common with the list passed as parameter $n by List.
func (db *DB) AnyElement(column string, n int) string {
	if db.dialect == Postgres {
		return fmt.Sprintf(" jsonb_exists_any(%s, $%d) ", column, n)
	}
	return fmt.Sprintf(" EXISTS (SELECT 1 FROM json_each(%s) AS have WHERE have.value IN (SELECT c0 FROM rows_of($%d))) ", column, n)
}

// Greatest returns the expression for the larger of two expressions, neither of them null.
func (db *DB) Greatest(a, b string) string {
	if db.dialect == Postgres {
		return " GREATEST(" + a + ", " + b + ") "
	}
	return " MAX(" + a + ", " + b + ") "
}

// UUIDText returns the expression for the usual text form of the id in a column.
func (db *DB) UUIDText(column string) string {
	if db.dialect == Postgres {
		return "CAST(" + column + " AS TEXT)"
	}
	return "uuid_text(" + column + ")"
}

// registerFunctions adds functions that SQLite lacks to a connection.
func registerFunctions(c *sqlite3.Conn) error {
	if err := registerJSONPath(c); err != nil {
		return err
	}
	if err := registerSortText(c); err != nil {
		return err
	}
	if err := registerTranslate(c); err != nil {
		return err
	}
	if err := registerInRanges(c); err != nil {
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
		have, err := decodeJSON(arg[0].RawText())
		want, bad := decodeJSON(arg[1].RawText())
		ctx.ResultBool(err == nil && bad == nil && jsonContains(have, want, true))
	})
}

// decodeJSON decodes JSON with its numbers as they were written.
func decodeJSON(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// jsonEqual compares two scalars, numbers by their exact values.
func jsonEqual(a, b any) bool {
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
	if f == 0 { // both are 0, or too small for a float64
		return true
	}
	p, _ := new(big.Rat).SetString(string(x))
	q, _ := new(big.Rat).SetString(string(y))
	return p != nil && q != nil && p.Cmp(q) == 0
}

// jsonContains implements PostgreSQL's jsonb containment (PostgreSQL manual, 8.14.3).
func jsonContains(have, want any, top bool) bool {
	switch want := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return false
		}
		for k, w := range want {
			v, ok := h[k]
			if !ok || !jsonContains(v, w, false) {
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
				if jsonContains(v, w, false) {
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
		return slices.ContainsFunc(h, func(v any) bool { return isScalar(v) && jsonEqual(v, want) })
	}
	return isScalar(have) && jsonEqual(have, want)
}

// isScalar reports whether the value is neither an object nor an array.
func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// Table is a list of rows passed to a statement as parameters, for inserts and updates of many rows
// by one statement.
//
//	t := db.Table("id TEXT", "due_at BIGINT")
//	t.Add(id, due)
//	tx.Exec(ctx, `UPDATE outbox SET due_at = v.due_at FROM `+t.As("v", 2)+`
//		WHERE outbox.tenant_id = $1 AND outbox.id = v.id`, t.Args(tenant)...)
//
// Column types are UUID, TEXT, BYTEA, BIGINT, INTEGER, BOOLEAN, DOUBLE PRECISION and JSONB; a value
// may be nil. An INSERT … SELECT from it with an ON CONFLICT clause needs a WHERE (WHERE true);
// otherwise SQLite parses ON as part of a join.
type Table struct {
	dialect Dialect
	names   []string
	types   []string
	columns [][]any
}

// Table returns a table without rows, of the given columns ("name TYPE").
func (db *DB) Table(columns ...string) *Table {
	t := &Table{dialect: db.dialect, columns: make([][]any, len(columns))}
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		t.names = append(t.names, name)
		t.types = append(t.types, strings.ToUpper(strings.TrimSpace(typ)))
	}
	return t
}

// Grow reserves memory for n more rows.
func (t *Table) Grow(n int) {
	for i := range t.columns {
		t.columns[i] = slices.Grow(t.columns[i], n)
	}
}

// Add appends a row. It stores the values, not the slice.
func (t *Table) Add(values ...any) {
	if len(values) != len(t.names) {
		panic(fmt.Sprintf("sqldb: %d values for %d columns", len(values), len(t.names)))
	}
	for i, v := range values {
		t.columns[i] = append(t.columns[i], v)
	}
}

// AddNumbers adds a column ("name TYPE") of integers, one for each row.
func (t *Table) AddNumbers(column string, list []int64) {
	name, typ, _ := strings.Cut(column, " ")
	values := make([]any, len(list))
	for i, n := range list {
		values[i] = n
	}
	t.names, t.types, t.columns = append(t.names, name), append(t.types, typ), append(t.columns, values)
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.columns[0]) }

// As returns the table for a FROM clause, with an alias. Its parameters begin at $first, and must
// be the last of the statement.
func (t *Table) As(name string, first int) string {
	if t.dialect == Postgres {
		params := make([]string, len(t.names))
		for i := range t.names {
			params[i] = fmt.Sprintf("$%d::%s[]", first+i, t.types[i])
		}
		return "unnest(" + strings.Join(params, ", ") + ") AS " + name + "(" + strings.Join(t.names, ", ") + ")"
	}
	if len(t.names) > maxTableColumns {
		panic(fmt.Sprintf("sqldb: a table of %d columns is too wide for SQLite", len(t.names)))
	}
	cols := make([]string, len(t.names))
	for i, n := range t.names {
		cols[i] = fmt.Sprintf("c%d AS %s", i, n)
	}
	return fmt.Sprintf("(SELECT %s FROM rows_of($%d)) AS %s", strings.Join(cols, ", "), first, name)
}

// Args returns the parameters of a statement: those given, then the table's.
func (t *Table) Args(before ...any) []any {
	if t.dialect == Postgres {
		for i, typ := range t.types {
			before = append(before, typedColumn(typ, t.columns[i]))
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

// typedColumn converts a column to a typed slice, which pgx sends as an array.
func typedColumn(typ string, values []any) any {
	args, err := plainArgs(values)
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
		return typedArray[int64](args)
	case "BOOLEAN":
		return typedArray[bool](args)
	case "DOUBLE PRECISION":
		return typedArray[float64](args)
	}
	return typedArray[string](args)
}

// uuidArray is typedArray for ids.
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

// typedArray returns values without nils as a slice of T, which pgx encodes without reflection, and
// others as a slice of pointers.
func typedArray[T any](values []any) any {
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

// Param returns parameter $n with its type, for places where the database does not infer it, such
// as the select list of an INSERT … SELECT.
func (db *DB) Param(n int, typ string) string {
	if db.dialect == Postgres {
		return fmt.Sprintf("$%d::%s", n, typ)
	}
	return fmt.Sprintf("$%d", n)
}
