package dbcopy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// targetOnly are tables that SQLite does not have. They contain temporary state: limits that
// several processes share.
var targetOnly = []string{"pace_rate", "pace_slot", "rate_window"}

// bookkeeping are tables about the database itself.
var bookkeeping = []string{"database_copy", "schema_migration"}

// kind is the type of a column, as far as it matters to a copy.
type kind int

const (
	integer kind = iota + 1 // SMALLINT, INTEGER, BIGINT
	text
	uuid
	boolean
	float
	jsonDocument // JSONB
	octets
)

var kinds = map[string]kind{
	"smallint": integer, "integer": integer, "bigint": integer, "text": text, "uuid": uuid, "boolean": boolean,
	"double precision": float, "jsonb": jsonDocument, "bytea": octets,
}

// table is a table to copy.
type table struct {
	name    string
	columns []string
	kinds   []kind
	key     []int // indexes of the columns of the primary key
}

// keyNames returns the names of the columns of the key.
func (t table) keyNames() []string {
	names := make([]string, len(t.key))
	for i, k := range t.key {
		names[i] = t.columns[k]
	}
	return names
}

// loadTablePlan reads the tables from the target's catalog, in an order in which each comes after
// those it refers to, and checks that the source has the same.
func (c *copier) loadTablePlan(ctx context.Context) ([]table, error) {
	tables, err := c.targetTables(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the tables of the target: %w", err)
	}
	there, err := c.sourceTables(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the tables of the source: %w", err)
	}
	tables = slices.DeleteFunc(tables, func(t table) bool { return there[t.name] == nil && slices.Contains(targetOnly, t.name) })
	for _, t := range tables {
		columns := slices.Clone(t.columns)
		slices.Sort(columns)
		if !slices.Equal(columns, there[t.name]) {
			return nil, fmt.Errorf("%w: its table %s has the columns %v and not %v", ErrSource, t.name, there[t.name], columns)
		}
		delete(there, t.name)
	}
	for name := range there {
		return nil, fmt.Errorf("%w: its table %s is not one of this program", ErrSource, name)
	}
	return tables, c.sortByReferences(ctx, tables)
}

func (c *copier) targetTables(ctx context.Context) ([]table, error) {
	rows, err := c.target.Query(ctx, `
		SELECT c.relname::text, a.attname::text, a.atttypid::regtype::text, COALESCE(array_position(i.indkey::int2[], a.attnum), -1)
		FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL ($1)
			AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
		ORDER BY c.relname, a.attnum`, bookkeeping)
	if err != nil {
		return nil, err
	}
	var tables []table
	places := map[int]int{} // of the last table: column by position in the key
	var name, column, typ string
	var at int
	closeKey := func() error {
		if len(tables) == 0 {
			return nil
		}
		t := &tables[len(tables)-1]
		for n := range len(places) {
			t.key = append(t.key, places[n])
		}
		clear(places)
		if len(t.key) == 0 {
			return fmt.Errorf("table %s has no primary key", t.name)
		}
		return nil
	}
	_, err = pgx.ForEachRow(rows, []any{&name, &column, &typ, &at}, func() error {
		if len(tables) == 0 || tables[len(tables)-1].name != name {
			if err := closeKey(); err != nil {
				return err
			}
			tables = append(tables, table{name: name})
		}
		t := &tables[len(tables)-1]
		k, ok := kinds[typ]
		if !ok {
			return fmt.Errorf("column %s of table %s has the unknown type %s", column, name, typ)
		}
		if at >= 0 {
			places[at] = len(t.columns)
		}
		t.columns, t.kinds = append(t.columns, column), append(t.kinds, k)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tables, closeKey()
}

// sourceTables returns the columns of each table of the source, sorted.
func (c *copier) sourceTables(ctx context.Context) (map[string][]string, error) {
	rows, err := c.source.Query(ctx, `
		SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.name`)
	tables := map[string][]string{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var name, column string
		err := scan(&name, &column)
		if !slices.Contains(bookkeeping, name) {
			tables[name] = append(tables[name], column)
		}
		return err
	})
	return tables, err
}

// sortByReferences sorts the tables so that each comes after those it refers to.
func (c *copier) sortByReferences(ctx context.Context, tables []table) error {
	rows, err := c.target.Query(ctx, `
		SELECT k.conrelid::regclass::text, k.confrelid::regclass::text FROM pg_constraint AS k
		WHERE k.contype = 'f' AND k.conrelid <> k.confrelid AND k.connamespace = current_schema()::regnamespace`)
	if err != nil {
		return fmt.Errorf("read the references of the target: %w", err)
	}
	refers := map[string][]string{}
	var from, to string
	if _, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		refers[from] = append(refers[from], to)
		return nil
	}); err != nil {
		return fmt.Errorf("read the references of the target: %w", err)
	}
	depth := map[string]int{}
	var measure func(name string, seen []string) int
	measure = func(name string, seen []string) int {
		d, ok := depth[name]
		if ok || slices.Contains(seen, name) {
			return d
		}
		for _, r := range refers[name] {
			d = max(d, measure(r, append(seen, name))+1)
		}
		depth[name] = d
		return d
	}
	slices.SortStableFunc(tables, func(a, b table) int {
		if d := measure(a.name, nil) - measure(b.name, nil); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	return nil
}
