package sqldb

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"
)

// assumeSQLite sets the statistics of SQLite's planner for tables with many rows of few tenants.
// Without statistics it expects the first column of a key, which is always the tenant, to be nearly
// unique, and reads a whole tenant where it should look up a row. Real statistics (ANALYZE) would
// be made too early, on an empty database, and later they take time; the distribution is known
// beforehand.
func assumeSQLite(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `ANALYZE`); err != nil { // creates sqlite_stat1
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
			x.table, x.name, indexStatistics(x.columns, x.unique, strings.HasPrefix(x.name, "sqlite_autoindex"))); err != nil {
			return err
		}
	}
	// A change of the schema makes every connection read the statistics again.
	_, err = db.ExecContext(ctx, `CREATE TABLE statistics_changed (x); DROP TABLE statistics_changed`)
	return err
}

// indexStatistics returns a row of sqlite_stat1 for an index: a million rows, then how many rows
// have the same value in the first column, the first two, and so on. To read a whole tenant, the
// primary key is cheapest: ids grow with time, so its order is that of the rows.
func indexStatistics(columns int, unique, key bool) string {
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

// AnalyzeStale analyzes those of the tables that PostgreSQL has never analyzed, or of which most
// has changed since; of all tables, if none is named. PostgreSQL does so itself within minutes; until
// then it underestimates the rows of a tenant, and reads all of them where it should look some up.
// On SQLite, which has assumed statistics, it does nothing.
func (db *DB) AnalyzeStale(ctx context.Context, tables ...string) error {
	if db.dialect != Postgres {
		return nil
	}
	const few = 1000 // rows; reading so few costs no more than looking one up
	rows, err := db.Query(ctx, `
		SELECT relname FROM pg_stat_user_tables
		WHERE schemaname = ANY (current_schemas(FALSE)) AND (relname = ANY($1) OR CARDINALITY($1) = 0) AND n_mod_since_analyze > $2
			AND (last_analyze IS NULL AND last_autoanalyze IS NULL OR n_mod_since_analyze > n_live_tup / 2)`, append([]string{}, tables...), few)
	stale, err := Collect(rows, err, func(scan func(...any) error) (name string, err error) { return name, scan(&name) })
	if err != nil {
		return fmt.Errorf("find tables that have changed: %w", err)
	}
	for _, t := range stale { // of our schema; one that another process analyzes is left to it
		if _, err := db.Exec(ctx, `ANALYZE (SKIP_LOCKED) `+t); err != nil {
			return fmt.Errorf("analyze %s: %w", t, err)
		}
	}
	return nil
}

// PostgresStatistics is a script that sets statistics of the tables for which PostgreSQL has none.
// Migrate runs it. A copy of a migrated database has these statistics too.
//
// Without statistics the planner expects a tenant to have one row in two hundred, whatever the
// table contains. An index that only begins with the tenant then seems as good as the right one,
// and the whole tenant is read for a single row. For an empty table, the script inserts one row,
// analyzes it with assumed numbers of distinct values, and truncates the table, in one transaction;
// the statistics remain. The next ANALYZE, by autovacuum or an operator, replaces them with real
// ones. A table that has rows is analyzed.
//
//go:embed statistics.postgres.sql
var PostgresStatistics string

// assumePostgres runs PostgresStatistics if a table needs it, also if no migration was applied: a
// restored backup has no statistics.
func (db *DB) assumePostgres(ctx context.Context) error {
	if db.dialect != Postgres || db.Distributed() { // the statistics that count are those of the shards
		return nil
	}
	var unknown bool
	err := db.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1 FROM pg_class AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attname = 'tenant_id'
			WHERE r.relkind = 'r' AND r.relnamespace = CAST(current_schema() AS regnamespace) AND pg_has_role(r.relowner, 'USAGE')
				AND EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = r.oid AND i.indkey[0] = a.attnum)
				AND NOT EXISTS (SELECT 1 FROM pg_stats AS s
					WHERE s.schemaname = current_schema() AND s.tablename = r.relname AND s.attname = 'tenant_id'))`).Scan(&unknown)
	if err == nil && unknown {
		err = db.InTx(ctx, func(tx *DB) error {
			_, err := tx.Exec(ctx, PostgresStatistics)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("migrate: set the planner statistics: %w", err)
	}
	return nil
}
