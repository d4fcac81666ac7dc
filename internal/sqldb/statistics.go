package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// assume tells SQLite's planner what our tables are like: many rows of few
// tenants. Without statistics it takes an equality on the first column of a key,
// which is always the tenant, for nearly unique, and reads a whole tenant where
// it should look up a row. Real statistics (ANALYZE) would be taken too early, on
// an empty database, and cost time later; the shape is known beforehand.
func assume(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `ANALYZE`); err != nil { // makes sqlite_stat1
		return err
	}
	rows, err := db.QueryContext(ctx, `
		SELECT m.name, i.name, i."unique", (SELECT COUNT(*) FROM pragma_index_info(i.name))
		FROM sqlite_schema AS m, pragma_index_list(m.name) AS i
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'
			AND (SELECT name FROM pragma_index_info(i.name) WHERE seqno = 0) = 'tenant_id'`)
	if err != nil {
		return err
	}
	type index struct {
		table, name string
		unique      bool
		columns     int
	}
	var list []index
	for rows.Next() {
		var x index
		if err := rows.Scan(&x.table, &x.name, &x.unique, &x.columns); err != nil {
			return err
		}
		list = append(list, x)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `DELETE FROM sqlite_stat1`); err != nil {
		return err
	}
	for _, x := range list {
		if _, err := db.ExecContext(ctx, `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?1, ?2, ?3)`,
			x.table, x.name, statisticsOf(x.columns, x.unique, strings.HasPrefix(x.name, "sqlite_autoindex"))); err != nil {
			return err
		}
	}
	// A change of the schema makes every connection read the statistics anew.
	_, err = db.ExecContext(ctx, `CREATE TABLE statistics_changed (x); DROP TABLE statistics_changed`)
	return err
}

// statisticsOf is a row of sqlite_stat1: a million rows, then how many rows share the
// first column, the first two, and so on. A whole tenant is best read by the
// table's own key: ids grow with time, so its order is the one the rows are in.
func statisticsOf(columns int, unique, key bool) string {
	share := 250_000
	if key {
		share = 240_000
	}
	var b strings.Builder
	b.WriteString("1000000")
	for c := 1; c <= columns; c++ {
		if c == columns && unique {
			share = 1
		}
		fmt.Fprintf(&b, " %d", share)
		share = max(share/500, 2)
	}
	return b.String()
}
