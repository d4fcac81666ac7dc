package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Insert writes the table's rows into a table of the same column names and
// reports which of them were inserted: all, unless another row has the same
// unique key, whose row then stays as it is. The first column is the tenant's,
// the second an id that no row has yet.
func (t *Table) Insert(ctx context.Context, tx *DB, table string) ([]bool, error) {
	t.owned()
	if t.Len() == 0 {
		return nil, nil
	}
	part := t.only(t.used())
	names := strings.Join(part.names, ", ")
	n, err := tx.Exec(ctx, `INSERT INTO `+table+` (`+names+`) SELECT `+names+` FROM `+part.As("v", 1)+` WHERE true ON CONFLICT DO NOTHING`, part.Args()...)
	if err != nil {
		return nil, err
	}
	if n == int64(t.Len()) {
		return slices.Repeat([]bool{true}, t.Len()), nil
	}
	return t.present(ctx, tx, table)
}

// Update sets, in the rows of a table that have the same values in the first
// keys columns, the other columns, and reports how many rows there were. The
// first column is the tenant's.
func (t *Table) Update(ctx context.Context, tx *DB, table string, keys int) (int64, error) {
	t.owned()
	if t.Len() == 0 {
		return 0, nil
	}
	return tx.Exec(ctx, `UPDATE `+table+` SET `+t.pairs(keys, len(t.names), "%[1]s = v.%[1]s", ", ")+`
		FROM `+t.As("v", 1)+` WHERE `+t.pairs(0, keys, table+".%[1]s = v.%[1]s", " AND "), t.Args()...)
}

// owned makes sure that rows say whose they are.
func (t *Table) owned() {
	if t.names[0] != "tenant_id" {
		panic("sqldb: the first column of rows to write is tenant_id, not " + t.names[0])
	}
}

// pairs formats the columns from first to last, each with its name and number.
func (t *Table) pairs(first, last int, format, separator string) string {
	list := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		list = append(list, fmt.Sprintf(format, t.names[i], i+1))
	}
	return strings.Join(list, separator)
}

func (t *Table) all() []int {
	list := make([]int, len(t.names))
	for i := range list {
		list[i] = i
	}
	return list
}

// used returns the columns in which any row has a value.
func (t *Table) used() []int {
	return slices.DeleteFunc(t.all(), func(c int) bool {
		return c > 1 && !slices.ContainsFunc(t.columns[c], func(v any) bool { return v != nil })
	})
}

// Only returns the table with those columns that keep says.
func (t *Table) Only(keep func(column string) bool) *Table {
	return t.only(slices.DeleteFunc(t.all(), func(c int) bool { return !keep(t.names[c]) }))
}

// only returns the table with some of its columns.
func (t *Table) only(columns []int) *Table {
	part := &Table{dialect: t.dialect}
	for _, c := range columns {
		part.names, part.types, part.columns = append(part.names, t.names[c]), append(part.types, t.types[c]), append(part.columns, t.columns[c])
	}
	return part
}

// present reports which of the rows there are, by their second column, which is
// unique.
func (t *Table) present(ctx context.Context, tx *DB, table string) ([]bool, error) {
	part := t.only([]int{0, 1})
	keys := table + "." + t.names[0] + " = v." + t.names[0] + " AND " + table + "." + t.names[1] + " = v." + t.names[1]
	rows, err := tx.Query(ctx, `SELECT v.`+t.names[1]+` FROM `+part.As("v", 1)+` JOIN `+table+` ON `+keys, part.Args()...)
	there := map[string]bool{}
	_, err = Collect(rows, err, func(scan func(...any) error) (key string, err error) {
		err = scan(&key)
		there[key] = true
		return key, err
	})
	done := make([]bool, t.Len())
	for i, key := range part.columns[1] {
		done[i] = there[fmt.Sprint(key)]
	}
	return done, err
}
