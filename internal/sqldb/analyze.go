package sqldb

import (
	"context"
	"fmt"
)

// AnalyzeStale has PostgreSQL look at those of the tables that it has never looked
// at, or of which most has changed since. It would by itself within minutes; until
// then it takes the rows of a tenant for few, and reads them all where it should
// look some up. SQLite needs none of it: it was told what to assume.
func (db *DB) AnalyzeStale(ctx context.Context, tables ...string) error {
	if db.dialect != Postgres {
		return nil
	}
	const few = 1000 // rows, which are read as soon as looked up
	rows, err := db.Query(ctx, `
		SELECT relname FROM pg_stat_user_tables
		WHERE schemaname = ANY (current_schemas(FALSE)) AND relname = ANY($1) AND n_mod_since_analyze > $2
			AND (last_analyze IS NULL AND last_autoanalyze IS NULL OR n_mod_since_analyze > n_live_tup / 2)`, tables, few)
	strange, err := Collect(rows, err, func(scan func(...any) error) (name string, err error) { return name, scan(&name) })
	if err != nil {
		return fmt.Errorf("find tables that have changed: %w", err)
	}
	for _, t := range strange { // names of ours, as the caller wrote them
		if _, err := db.Exec(ctx, `ANALYZE `+t); err != nil {
			return fmt.Errorf("analyze %s: %w", t, err)
		}
	}
	return nil
}
