package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Insert inserts the rows of t into the columns of the same names of a tenant's table, and reports
// for each row whether it was inserted. Rows with a unique key that exists already are skipped. The
// first column is an id that no row of the table has.
func (t *Table) Insert(ctx context.Context, tx *DB, table string, tenant id.Tenant) ([]bool, error) {
	if t.Len() == 0 {
		return nil, nil
	}
	keys := make([][16]byte, t.Len())
	for i, v := range t.columns[0] {
		keys[i] = v.(identifier).Bytes()
	}
	text, args := t.insertion(tx, table, tenant)
	rows, err := tx.Query(ctx, text+` ON CONFLICT DO NOTHING RETURNING `+t.names[0], args...)
	inserted := make(map[[16]byte]bool, len(keys))
	_, err = Collect(rows, err, func(scan func(...any) error) (k id.UUID[any], err error) {
		err = scan(&k)
		inserted[k] = true
		return k, err
	})
	done := make([]bool, len(keys))
	for i, k := range keys {
		done[i] = inserted[k]
	}
	return done, err
}

// insertion returns the statement of Insert without what it returns.
func (t *Table) insertion(tx *DB, table string, tenant id.Tenant) (text string, args []any) {
	part := t.only(t.used())
	names := strings.Join(part.names, ", ")
	return `INSERT INTO ` + table + ` (tenant_id, ` + names + `) SELECT h.tenant_id, ` + names + ` FROM ` + tx.Home(1) + ` CROSS JOIN ` + part.As("v", 2) + `
		WHERE true`, part.Args(tenant)
}

// QueueInsert is Insert as part of a batch of tx. It does not report which rows were
// inserted.
func (t *Table) QueueInsert(b *Batch, tx *DB, table string, tenant id.Tenant) {
	if t.Len() > 0 {
		text, args := t.insertion(tx, table, tenant)
		b.Queue(text+` ON CONFLICT DO NOTHING`, nil, args...)
	}
}

// QueueNew is QueueInsert for rows whose unique keys are free. If one is not, the batch fails
// (IsUniqueViolation), and with it the transaction.
func (t *Table) QueueNew(b *Batch, tx *DB, table string, tenant id.Tenant) {
	if t.Len() > 0 {
		text, args := t.insertion(tx, table, tenant)
		b.Queue(text, nil, args...)
	}
}

// Update updates the rows of a tenant's table that have the same value in the first column, sets
// the other columns, and returns how many rows it updated.
func (t *Table) Update(ctx context.Context, tx *DB, table string, tenant id.Tenant) (int64, error) {
	if t.Len() == 0 {
		return 0, nil
	}
	text, args := t.update(table, tenant)
	return tx.Exec(ctx, text, args...)
}

func (t *Table) update(table string, tenant id.Tenant) (text string, args []any) {
	return `UPDATE ` + table + ` SET ` + t.pairs(1, len(t.names), "%[1]s = v.%[1]s", ", ") + `
		FROM ` + t.As("v", 2) + ` WHERE ` + table + `.tenant_id = $1 AND ` + t.pairs(0, 1, table+".%[1]s = v.%[1]s", ""), t.Args(tenant)
}

// QueueUpdate is Update as part of a batch.
func (t *Table) QueueUpdate(b *Batch, table string, tenant id.Tenant) {
	if t.Len() > 0 {
		text, args := t.update(table, tenant)
		b.Queue(text, nil, args...)
	}
}

// pairs formats the columns from first to before last, each with its name and number.
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

// used returns the columns that have a value in any row.
func (t *Table) used() []int {
	return slices.DeleteFunc(t.all(), func(c int) bool {
		return c > 0 && !slices.ContainsFunc(t.columns[c], func(v any) bool { return v != nil && v != any((*string)(nil)) })
	})
}

// Only returns the table with the columns for which keep returns true.
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
