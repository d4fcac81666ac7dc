package sqldb

import "context"

// Sweep runs queries that may have to look at every row of a tenant: counts by
// rule, whole audiences. Our other statements look up rows by index, which
// PostgreSQL is told to prefer always; of a tenant that owns most of a table,
// reading it from end to end, on several processors, is several times faster.
// The queries see one state of the database.
func (db *DB) Sweep(ctx context.Context, fn func(tx *DB) error) error {
	if db.dialect != Postgres || db.tx != nil || rehearsed(ctx) {
		return fn(db)
	}
	return db.InTx(ctx, func(tx *DB) error {
		for _, setting := range []string{`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`, plansFreely, `SET LOCAL enable_seqscan = on`, `SET LOCAL work_mem = '64MB'`} {
			if _, err := tx.Exec(ctx, setting); err != nil {
				return err
			}
		}
		tx.tx.freely = true
		return fn(tx)
	})
}
