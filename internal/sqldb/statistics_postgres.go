package sqldb

import (
	"context"
	_ "embed"
	"fmt"
)

// PostgresStatistics is a script that gives PostgreSQL statistics of the tables
// that it has none of. Migrate runs it; a copy of a migrated database has its effect.
//
// Without statistics the planner takes one row in two hundred for a tenant's,
// whatever the table holds. An index that only begins with the tenant then looks
// as good as the one that has the rows asked for, and the tenant is read from end
// to end for a single row. For an empty table the script inserts one row, analyses
// it under the numbers of distinct values that hold for our keys, and truncates
// the table, in one transaction: the statistics stay. The next ANALYZE, of
// autovacuum or of an operator, replaces them with real ones. A table that has
// rows is analysed.
//
//go:embed statistics.postgres.sql
var PostgresStatistics string

// assumePostgres runs PostgresStatistics if a table needs it, also when nothing was
// migrated: a restored backup has no statistics.
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
		return fmt.Errorf("migrate: give the planner statistics: %w", err)
	}
	return nil
}
