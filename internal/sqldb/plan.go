package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// CustomPlan is a comment that makes PostgreSQL plan a statement for the given values each time it
// runs. Other statements have one generic plan, for any values. Such a plan ignores how long an
// interval or how frequent a word is, and may take a hundred times as long; planning takes about a
// millisecond. On SQLite the comment keeps the statement out of the caches of prepared statements.
const CustomPlan = " /* custom plan */ "

// sessionPlans are the settings of PostgreSQL sessions for the planner.
var sessionPlans = map[string]string{
	// A generic plan depends only on the shape of the tables. A plan for a tenant's id depends on
	// the last statistics of that tenant, and for a newer tenant the planner expects a single row.
	"plan_cache_mode": "force_generic_plan",
	// Rows are looked up by index, whatever size the planner expects of a table: hash and merge
	// joins read all rows of a tenant.
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	// Rows of queues, claims and attempts are deleted soon after they were inserted. An index scan marks the
	// entries of deleted rows, so that the next one passes over them; a bitmap scan reads all of them until
	// the table is vacuumed, thousands for one row.
	"enable_bitmapscan": "off",
	// Compiling short statements takes longer than running them.
	"jit": "off",
	// With the default, a page that is looked up costs four times as much as the next one of a
	// scan, so that a whole tenant is read for a thousand rows. That was true of spinning disks.
	"random_page_cost": "1.1",
	// A generic plan expects a tenth of the table where a limit is a parameter, and starts workers that
	// sort it to return one page of it. Only statements that scan on purpose gain by them: scanWorkers.
	"max_parallel_workers_per_gather": "0",
}

// scanWorkers is max_parallel_workers_per_gather for statements that are planned for their values: the default of
// PostgreSQL.
const scanWorkers = "2"

// distributedPlans is the plan_cache_mode where the tables are distributed: a generic plan contains
// no tenant, so it would query all nodes.
const distributedPlans = "auto"

// queryCustomPlan runs a query with CustomPlan on PostgreSQL.
func (db *DB) queryCustomPlan(ctx context.Context, text string, args []any) (*Rows, error) {
	tx, end, err := db.beginCustomPlan(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, text, withoutPlanCache(args)...)
	return newRows(rows, func() { _ = end(true) }, err)
}

// execCustomPlan runs a statement with CustomPlan on PostgreSQL.
func (db *DB) execCustomPlan(ctx context.Context, text string, args []any) (sql.Result, error) {
	tx, end, err := db.beginCustomPlan(ctx)
	if err != nil {
		return nil, err
	}
	res, err := tx.ExecContext(ctx, text, withoutPlanCache(args)...)
	return res, errors.Join(err, end(err == nil))
}

// beginCustomPlan returns a transaction for a statement with CustomPlan: db if it is one, otherwise
// a new one. The caller calls end after the statement.
func (db *DB) beginCustomPlan(ctx context.Context) (tx onPostgres, end func(ok bool) error, err error) {
	t := db.tx
	switch {
	case t == nil:
		t = &transaction{}
		commit, rollback, err := db.begin(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		end = func(ok bool) error {
			if ok {
				return commit()
			}
			rollback()
			return nil
		}
	case t.customPlans:
		return t.pg, func(bool) error { return nil }, nil
	default:
		end = func(ok bool) error {
			if !ok { // the transaction has failed
				return nil
			}
			_, err := t.pg.ExecContext(ctx, db.defaultPlanSettings())
			return err
		}
	}
	if _, err := t.pg.ExecContext(ctx, customPlanSettings); err != nil {
		_ = end(false)
		return nil, nil, err
	}
	return t.pg, end, nil
}

// customPlanSettings makes PostgreSQL plan the rest of a transaction for the given values, with any
// kind of join and with parallel workers.
const customPlanSettings = `SELECT set_config('plan_cache_mode', 'force_custom_plan', TRUE), set_config('enable_hashjoin', 'on', TRUE), set_config('enable_mergejoin', 'on', TRUE), set_config('enable_bitmapscan', 'on', TRUE), set_config('max_parallel_workers_per_gather', '` + scanWorkers + `', TRUE)`

// defaultPlanSettings returns the statement that restores sessionPlans for the rest of a
// transaction.
func (db *DB) defaultPlanSettings() string {
	mode := sessionPlans["plan_cache_mode"]
	if db.Distributed() {
		mode = distributedPlans
	}
	return `SELECT set_config('plan_cache_mode', '` + mode + `', TRUE), set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE), set_config('enable_bitmapscan', 'off', TRUE), set_config('max_parallel_workers_per_gather', '` + sessionPlans["max_parallel_workers_per_gather"] + `', TRUE)`
}

// withoutPlanCache prepends to the parameters the mode in which the server stores no plan.
func withoutPlanCache(args []any) []any {
	return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
}

// growth counts the rows that this process has written. PostgreSQL keeps plans as long as a
// connection lives, and does not replace them when a table that was empty has filled.
type growth struct {
	rows atomic.Int64
}

// wrote adds n rows.
func (g *growth) wrote(n int64) { g.rows.Add(n) }

// planAge is the age of a connection's plans: how many rows the process had written when they were
// last discarded, and the time.
type planAge struct {
	rows int64
	at   time.Time
}

// Plans are discarded when the process has written as many rows again as before, or maxPlanRows
// after minPlanTime, since a table that fills only now may be a small part of all rows written.
// Planning again costs a connection some milliseconds.
const (
	maxPlanRows = 2000
	minPlanTime = time.Second
)

// outgrown reports whether the plans should be discarded.
func (p planAge) outgrown(rows int64, now time.Time) bool {
	stage := func(rows int64) int { return bits.Len64(uint64(rows) / 256) }
	return stage(rows) != stage(p.rows) || rows-p.rows >= maxPlanRows && now.Sub(p.at) >= minPlanTime
}

// planAgeKey is the key of a connection's planAge.
const planAgeKey = "packetboat.plans"

// discardOutgrown discards the plans of a connection if they are outgrown.
func (g *growth) discardOutgrown(ctx context.Context, conn *pgx.Conn) (bool, error) {
	known, now := conn.PgConn().CustomData(), planAge{g.rows.Load(), time.Now()}
	before, ok := known[planAgeKey].(planAge)
	if ok && !before.outgrown(now.rows, now.at) {
		return true, nil
	}
	known[planAgeKey] = now
	if !ok {
		return true, nil
	}
	if _, err := conn.PgConn().Exec(ctx, `DISCARD PLANS`).ReadAll(); err != nil {
		return false, err
	}
	return true, nil
}

// hasCustomPlan reports whether a statement contains CustomPlan.
func hasCustomPlan(text string) bool { return strings.Contains(text, CustomPlan) }

// ScanTx calls fn for a query, within an evaluation, that reads all rows of a tenant, such as a
// count by a rule. Other statements look up rows by index, which sessionPlans force. If a tenant
// owns most of a table, a parallel scan of the table is several times faster.
func (db *DB) ScanTx(ctx context.Context, fn func() error) error {
	if db.dialect != Postgres || db.tx == nil || !db.tx.reads {
		return fn()
	}
	for _, setting := range []string{customPlanSettings, `SELECT set_config('enable_seqscan', 'on', TRUE), set_config('work_mem', '64MB', TRUE)`} {
		if _, err := db.Exec(ctx, setting); err != nil {
			return err
		}
	}
	db.tx.customPlans = true
	if err := fn(); err != nil {
		return err
	}
	db.tx.customPlans = false
	for _, setting := range []string{db.defaultPlanSettings(), `SELECT set_config('enable_seqscan', 'off', TRUE)`} {
		if _, err := db.Exec(ctx, setting); err != nil {
			return err
		}
	}
	return nil
}
