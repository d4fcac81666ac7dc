package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// KeyedTable is a table of the database with the columns of its primary key, in order.
type KeyedTable struct {
	Name string
	Key  []string
}

// TablesOfTenants returns the tables that have a column tenant_id, as the database's catalog lists them,
// ordered so that each comes before those that it refers to: rows that are deleted in this order leave no
// reference behind, and cascade to none.
func (db *DB) TablesOfTenants(ctx context.Context) ([]KeyedTable, error) {
	keys, references := `
		SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c ON c.pk > 0
		WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS o WHERE o.name = 'tenant_id')
		ORDER BY t.name, c.pk`, `
		SELECT t.name, f."table" FROM sqlite_schema AS t JOIN pragma_foreign_key_list(t.name) AS f ON f."table" <> t.name
		WHERE t.type = 'table' ORDER BY t.name, f."table"`
	if db.dialect == Postgres {
		keys, references = `
			SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT)
			FROM pg_class AS c JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
				JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (CAST(i.indkey AS SMALLINT[]))
			WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p')
				AND EXISTS (SELECT 1 FROM pg_attribute AS o WHERE o.attrelid = c.oid AND o.attname = 'tenant_id' AND NOT o.attisdropped)
			ORDER BY c.relname, array_position(CAST(i.indkey AS SMALLINT[]), a.attnum)`, `
			SELECT CAST(c.relname AS TEXT), CAST(o.relname AS TEXT)
			FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_class AS o ON o.oid = k.confrelid
			WHERE k.contype = 'f' AND k.conrelid <> k.confrelid AND c.relnamespace = CAST(current_schema() AS regnamespace)
			ORDER BY c.relname, o.relname`
	}
	type pair struct{ table, other string }
	read := func(text string) ([]pair, error) {
		rows, err := db.Query(ctx, text)
		return Collect(rows, err, func(scan func(...any) error) (p pair, err error) {
			err = scan(&p.table, &p.other)
			return p, err
		})
	}
	columns, err := read(keys)
	if err != nil {
		return nil, fmt.Errorf("read the tables of tenants: %w", err)
	}
	var tables []KeyedTable
	for _, c := range columns {
		if len(tables) == 0 || tables[len(tables)-1].Name != c.table {
			tables = append(tables, KeyedTable{Name: c.table})
		}
		last := &tables[len(tables)-1]
		last.Key = append(last.Key, c.other)
	}
	pairs, err := read(references)
	if err != nil {
		return nil, fmt.Errorf("read the references of tables: %w", err)
	}
	refers := map[string][]string{}
	for _, p := range pairs {
		refers[p.table] = append(refers[p.table], p.other)
	}
	// The depth of a table is the length of the longest chain of references that begins at it.
	depths := map[string]int{}
	var depth func(name string) int
	depth = func(name string) int {
		if d, ok := depths[name]; ok {
			return d
		}
		depths[name] = 0 // ends a circle
		d := 0
		for _, other := range refers[name] {
			d = max(d, depth(other)+1)
		}
		depths[name] = d
		return d
	}
	slices.SortStableFunc(tables, func(a, b KeyedTable) int {
		if d := depth(b.Name) - depth(a.Name); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return tables, nil
}
