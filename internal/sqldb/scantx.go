package sqldb

import "context"

// ScanTx runs fn, a query of an evaluation that reads a tenant's rows from end to
// end: a count by rule. Our other statements look up rows by index, which
// PostgreSQL is told to prefer always; of a tenant that owns most of a table,
// reading it whole, on several processors, is several times faster.
func (db *DB) ScanTx(ctx context.Context, fn func() error) error {
	if db.dialect != Postgres || db.tx == nil || !db.tx.reads {
		return fn()
	}
	for _, setting := range []string{plansFreely, `SELECT set_config('enable_seqscan', 'on', TRUE), set_config('work_mem', '64MB', TRUE)`} {
		if _, err := db.Exec(ctx, setting); err != nil {
			return err
		}
	}
	db.tx.freely = true
	if err := fn(); err != nil {
		return err
	}
	db.tx.freely = false
	for _, setting := range []string{db.plansByRule(), `SELECT set_config('enable_seqscan', 'off', TRUE)`} {
		if _, err := db.Exec(ctx, setting); err != nil {
			return err
		}
	}
	return nil
}
