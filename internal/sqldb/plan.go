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

// PlannedAnew is a comment that makes PostgreSQL plan a statement for the values
// at hand each time it is run. Other statements have one plan for any values,
// which knows nothing of how long a stretch of time is or how common a word, and
// may take a hundred times as long; to plan costs about a millisecond. On SQLite,
// it keeps the statement out of the caches of prepared ones.
const PlannedAnew = " /* planned anew */ "

// sessionPlans are the settings of PostgreSQL sessions that decide on plans.
var sessionPlans = map[string]string{
	// A plan for any values rests on nothing but the shape of the tables. A plan
	// for a tenant's id rests on what was last found out about that tenant, and of
	// one that came afterwards the planner expects a single row.
	"plan_cache_mode": "force_generic_plan",
	// Rows are looked up by index, whatever the planner believes a table holds: to
	// join by hashing or merging reads all that a tenant has.
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	// Compiling short statements costs more than running them.
	"jit": "off",
	// The default takes a page looked up for four times as dear as the next one of
	// a scan, so that a whole tenant is read where a thousand rows are wanted. That
	// was true of turning disks.
	"random_page_cost": "1.1",
}

// distributedPlans is the plan_cache_mode where the tables are distributed: a plan for
// any values knows of no tenant, so that it asks all nodes.
const distributedPlans = "auto"

// queryAnew runs a query that is PlannedAnew on PostgreSQL.
func (db *DB) queryAnew(ctx context.Context, text string, args []any) (*Rows, error) {
	tx, end, err := db.anew(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, text, nameless(args)...)
	return wrap(rows, func() { _ = end(true) }, err)
}

// execAnew runs a statement that is PlannedAnew on PostgreSQL.
func (db *DB) execAnew(ctx context.Context, text string, args []any) (sql.Result, error) {
	tx, end, err := db.anew(ctx)
	if err != nil {
		return nil, err
	}
	res, err := tx.ExecContext(ctx, text, nameless(args)...)
	return res, errors.Join(err, end(err == nil))
}

// anew returns a transaction for a statement that is PlannedAnew: the one that db
// is, or one of its own. The statement is followed by end.
func (db *DB) anew(ctx context.Context) (tx onPostgres, end func(well bool) error, err error) {
	t := db.tx
	switch {
	case t == nil:
		t = &transaction{}
		commit, rollback, err := db.begin(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		end = func(well bool) error {
			if well {
				return commit()
			}
			rollback()
			return nil
		}
	case t.freely:
		return t.pg, func(bool) error { return nil }, nil
	default:
		end = func(well bool) error {
			if !well { // the transaction takes no more statements
				return nil
			}
			_, err := t.pg.ExecContext(ctx, db.plansByRule())
			return err
		}
	}
	if _, err := t.pg.ExecContext(ctx, plansFreely); err != nil {
		_ = end(false)
		return nil, nil, err
	}
	return t.pg, end, nil
}

// The rest of a transaction is planned for the values at hand and joins as it likes.
const plansFreely = `SELECT set_config('plan_cache_mode', 'force_custom_plan', TRUE), set_config('enable_hashjoin', 'on', TRUE), set_config('enable_mergejoin', 'on', TRUE)`

// plansByRule has the rest of a transaction planned as sessionPlans say.
func (db *DB) plansByRule() string {
	mode := sessionPlans["plan_cache_mode"]
	if db.Distributed() {
		mode = distributedPlans
	}
	return `SELECT set_config('plan_cache_mode', '` + mode + `', TRUE), set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE)`
}

// nameless puts before the parameters that the server keeps no plan.
func nameless(args []any) []any { return append([]any{pgx.QueryExecModeCacheDescribe}, args...) }

// growth counts rows that this process has written. PostgreSQL keeps plans for as
// long as a connection lives, and does not notice by itself that a table which
// was empty when they were made has filled.
type growth struct {
	rows atomic.Int64
}

// wrote counts n rows.
func (g *growth) wrote(n int64) { g.rows.Add(n) }

// planned is the age of a connection's plans: how many rows the process had written
// when they were forgotten last, and when that was.
type planned struct {
	rows int64
	at   time.Time
}

// Plans are forgotten once the process has written as many rows again as it had
// before, or plannedRows after plannedFor: a table that fills only now may be a
// small part of all that was written. To plan anew costs a connection some
// milliseconds.
const (
	plannedRows = 2000
	plannedFor  = time.Second
)

// outgrown reports whether the plans should not be used any longer.
func (p planned) outgrown(rows int64, now time.Time) bool {
	stage := func(rows int64) int { return bits.Len64(uint64(rows) / 256) }
	return stage(rows) != stage(p.rows) || rows-p.rows >= plannedRows && now.Sub(p.at) >= plannedFor
}

// plansAge is the key of a connection's planned.
const plansAge = "packetboat.plans"

// fresh makes a connection forget its plans if there has been growth since.
func (g *growth) fresh(ctx context.Context, conn *pgx.Conn) (bool, error) {
	known, now := conn.PgConn().CustomData(), planned{g.rows.Load(), time.Now()}
	before, ok := known[plansAge].(planned)
	if ok && !before.outgrown(now.rows, now.at) {
		return true, nil
	}
	known[plansAge] = now
	if !ok {
		return true, nil
	}
	if _, err := conn.PgConn().Exec(ctx, `DISCARD PLANS`).ReadAll(); err != nil {
		return false, err
	}
	return true, nil
}

// plannedAnew reports whether a statement is PlannedAnew.
func plannedAnew(text string) bool { return strings.Contains(text, PlannedAnew) }
