package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
)

// An evaluation is work that may have to look at every row of a tenant: a rule, a
// search, a count. Such work has connections of its own, so that however much of
// it is asked for, the rest of the program finds the database free.

// Bounds of evaluations. Those that a caller waits for, and those in the
// background, do not wait for each other.
const (
	// evaluationTime is how long one that a caller waits for may take, the wait
	// for its turn included.
	evaluationTime = 10 * time.Second

	// evaluationsEach is how many of one owner run at a time, of either kind.
	evaluationsEach = 2

	sqliteEvaluations = 3 // for callers
	sqliteBackground  = 2

	// callerStatement ends a statement of a request on PostgreSQL should its
	// cancellation be lost; requests themselves have 30 s.
	callerStatement = 35 * time.Second
)

// postgresEvaluations returns how many evaluations may run on so many connections,
// for callers and in the background: never all of them.
func postgresEvaluations(conns int) (callers, background int) {
	return max(1, conns/4), max(1, conns/8)
}

// evaluations are the bounds of one database.
type evaluations struct {
	callers, background *turns
	time                time.Duration
	readers             *sql.DB // SQLite only
}

// Evaluations returns how many evaluations run, and how many wait for their turn.
func (db *DB) Evaluations() (running, waiting int) {
	for _, t := range []*turns{db.evaluations.callers, db.evaluations.background} {
		t.mu.Lock()
		running += t.busy
		waiting += len(t.waiting)
		t.mu.Unlock()
	}
	return running, waiting
}

type forCaller struct{}

// ForCaller returns a context for work that a caller of a tenant waits for. Its
// reads use other connections than those of the rest of the program, and its
// evaluations have a deadline.
func ForCaller(ctx context.Context) context.Context {
	return context.WithValue(ctx, forCaller{}, true)
}

func isForCaller(ctx context.Context) bool { return ctx.Value(forCaller{}) != nil }

// Evaluate runs reads that may have to look at every row of an owner, a tenant,
// and ends them after ten seconds if a caller waits for them (ForCaller): the
// error is fault.ErrDeadline then. It waits for its turn first, which is part of
// that time: an owner has at most two evaluations under way. The reads see one
// state of the database, and use the context and the handle that fn is given.
// Within a transaction, or another evaluation, fn runs as part of that.
func (db *DB) Evaluate(ctx context.Context, owner string, fn func(ctx context.Context, db *DB) error) error {
	if db.tx != nil {
		return fn(ctx, db)
	}
	e := db.evaluations
	turns := e.background
	if isForCaller(ctx) {
		turns = e.callers
		var cancel context.CancelFunc
		ctx, cancel = db.Timed(ctx)
		defer cancel()
	}
	err := turns.take(ctx, owner)
	if err == nil {
		err = db.evaluate(ctx, owner, fn)
		turns.give(owner)
	}
	return fault.Timely(ctx, err)
}

type timed struct{}

// Timed returns a context with the deadline of an evaluation that a caller waits
// for, which holds for all evaluations under it together. Other contexts stay as
// they are.
func (db *DB) Timed(ctx context.Context) (context.Context, context.CancelFunc) {
	if !isForCaller(ctx) || ctx.Value(timed{}) != nil {
		return ctx, func() {}
	}
	return fault.Within(context.WithValue(ctx, timed{}, true), db.evaluations.time)
}

func (db *DB) evaluate(ctx context.Context, owner string, fn func(ctx context.Context, db *DB) error) error {
	if db.dialect == SQLite {
		return db.evaluateSQLite(ctx, fn)
	}
	pg, err := db.poolFor(ctx).BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("begin an evaluation: %w", err)
	}
	defer func() { _ = pg.Rollback() }()
	tx := &DB{shared: db.shared, tx: &transaction{pg: pg, reads: true}}
	if isForCaller(ctx) {
		if err := tx.turnAmongProcesses(ctx, owner); err != nil {
			return err
		}
	}
	return fn(ctx, tx)
}

// turnAmongProcesses waits until fewer than two evaluations of an owner are under
// way in all processes on the database. Each holds one of two locks.
func (db *DB) turnAmongProcesses(ctx context.Context, owner string) error {
	const class = 1885430636 // of these locks; the second has the next number
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	key := int64(int32(h.Sum32()))
	var granted bool
	err := db.QueryRow(ctx, `
		SELECT CASE WHEN pg_try_advisory_xact_lock(CAST($1 AS INTEGER), CAST($3 AS INTEGER)) THEN TRUE
			ELSE pg_try_advisory_xact_lock(CAST($2 AS INTEGER), CAST($3 AS INTEGER)) END
		FROM (SELECT set_config('statement_timeout', $4, TRUE)) AS s`,
		class, class+1, key, fmt.Sprint((db.evaluations.time + time.Second).Milliseconds())).Scan(&granted)
	if err != nil || granted {
		return err
	}
	_, err = db.Exec(ctx, `SELECT pg_advisory_xact_lock(CAST($1 AS INTEGER), CAST($2 AS INTEGER))`, class+time.Now().UnixNano()%2, key)
	return err
}

func (db *DB) evaluateSQLite(ctx context.Context, fn func(ctx context.Context, db *DB) error) error {
	conn, err := db.evaluations.readers.Conn(ctx)
	if err != nil {
		return fmt.Errorf("begin an evaluation: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `BEGIN`); err != nil {
		return fmt.Errorf("begin an evaluation: %w", err)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`) }()
	return fn(ctx, &DB{shared: db.shared, tx: &transaction{conn: conn, reads: true}})
}

// errEvaluation says that an evaluation was to write.
var errEvaluation = errors.New("sqldb: an evaluation writes nothing")
