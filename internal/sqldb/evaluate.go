package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/turns"
)

// An evaluation is work that may read every row of a tenant: a rule, a search, a count. Evaluations
// have connections of their own, so that they never use all connections of the database.

// Limits of evaluations. Those that a caller waits for, and those in the background, have separate
// limits.
const (
	// evaluationTime is the time limit of an evaluation that a caller waits for, including its wait
	// for a turn.
	evaluationTime = 10 * time.Second

	// evaluationsPerOwner is how many evaluations of an owner run at a time, for callers and in the
	// background.
	evaluationsPerOwner = 2

	sqliteEvaluations = 3 // for callers
	sqliteBackground  = 2

	// callerStatementTimeout ends a statement of a request on PostgreSQL if its cancellation is
	// lost. Requests themselves have 30 s.
	callerStatementTimeout = 35 * time.Second
)

// postgresEvaluations returns how many evaluations may run, for callers and in the background, with
// a number of connections: never all of them.
func postgresEvaluations(conns int) (callers, background int) {
	return max(1, conns/4), max(1, conns/8)
}

// evaluations are the limits of evaluations of a database.
type evaluations struct {
	callers, background *turns.Turns[string] // by owner
	timeout             time.Duration
	readers             *sql.DB // SQLite only
}

// Evaluations returns how many evaluations run, and how many wait for a turn.
func (db *DB) Evaluations() (running, waiting int) {
	for _, t := range []*turns.Turns[string]{db.evaluations.callers, db.evaluations.background} {
		running += t.Held()
		waiting += t.Waiting()
	}
	return running, waiting
}

type forCaller struct{}

// ForCaller returns a context for work that a tenant's caller waits for. Its reads use other
// connections than the rest of the program, and its evaluations have a deadline.
func ForCaller(ctx context.Context) context.Context {
	return context.WithValue(ctx, forCaller{}, true)
}

func isForCaller(ctx context.Context) bool { return ctx.Value(forCaller{}) != nil }

// Evaluate calls fn for reads that may read every row of an owner, which is a tenant. It waits for
// a turn first: an owner has at most two evaluations in progress. If a caller waits for it
// (ForCaller), it ends after ten seconds, including the wait, with fault.ErrDeadline. All reads see
// one state of the database; they must use the context and the handle that fn is called with.
// Within a transaction or another evaluation, fn runs as part of that.
func (db *DB) Evaluate(ctx context.Context, owner string, fn func(ctx context.Context, db *DB) error) error {
	if db.tx != nil {
		return fn(ctx, db)
	}
	e := db.evaluations
	queue := e.background
	if isForCaller(ctx) {
		queue = e.callers
		var cancel context.CancelFunc
		ctx, cancel = db.WithDeadline(ctx)
		defer cancel()
	}
	err := queue.Acquire(ctx, owner)
	if err == nil {
		err = db.evaluate(ctx, owner, fn)
		queue.Release(owner)
	}
	return fault.Timely(ctx, err)
}

type hasDeadline struct{}

// WithDeadline returns a context with the deadline of an evaluation that a caller waits for. The
// deadline is for all evaluations under the context together. Other contexts are returned
// unchanged.
func (db *DB) WithDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if !isForCaller(ctx) || ctx.Value(hasDeadline{}) != nil {
		return ctx, func() {}
	}
	return fault.Within(context.WithValue(ctx, hasDeadline{}, true), db.evaluations.timeout)
}

// InEvaluation reports whether db is an evaluation, which sees one state of the database and no changes of its own.
func (db *DB) InEvaluation() bool { return db.tx != nil && db.tx.reads }

func (db *DB) evaluate(ctx context.Context, owner string, fn func(ctx context.Context, db *DB) error) error {
	if db.dialect == SQLite {
		return db.evaluateSQLite(ctx, fn)
	}
	conn, err := db.poolFor(ctx).Conn(ctx)
	if err != nil {
		return fmt.Errorf("begin an evaluation: %w", err)
	}
	pg := &pgTx{conn: conn, begun: true}
	defer pg.rollback(ctx)
	if err := db.beginEvaluation(ctx, pg, owner); err != nil {
		return fmt.Errorf("begin an evaluation: %w", err)
	}
	return fn(ctx, &DB{shared: db.shared, tx: &transaction{pg: pg, reads: true}})
}

// beginEvaluation begins the transaction of an evaluation in one round trip. If a caller waits for it, it
// waits until fewer than two evaluations of the owner are in progress in all processes on the database. Each
// has one of two locks.
func (db *DB) beginEvaluation(ctx context.Context, pg *pgTx, owner string) error {
	text := `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	if !isForCaller(ctx) {
		_, err := pg.conn.ExecContext(ctx, text)
		return err
	}
	const class = 1885430636 // of the first lock; that of the second is the next number
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	key := int64(int32(h.Sum32()))
	batch, granted := &pgx.Batch{}, false
	batch.Queue(text)
	batch.Queue(`
		SELECT CASE WHEN pg_try_advisory_xact_lock(CAST($1 AS INTEGER), CAST($3 AS INTEGER)) THEN TRUE
			ELSE pg_try_advisory_xact_lock(CAST($2 AS INTEGER), CAST($3 AS INTEGER)) END
		FROM (SELECT set_config('statement_timeout', $4, TRUE)) AS s`,
		class, class+1, key, fmt.Sprint((db.evaluations.timeout + time.Second).Milliseconds())).QueryRow(func(row pgx.Row) error {
		return row.Scan(&granted)
	})
	err := pg.pgx(func(conn *pgx.Conn) error { return conn.SendBatch(ctx, batch).Close() })
	if err != nil || granted {
		return err
	}
	_, err = pg.ExecContext(ctx, `SELECT pg_advisory_xact_lock(CAST($1 AS INTEGER), CAST($2 AS INTEGER))`, class+time.Now().UnixNano()%2, key)
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

// errReadOnly means that an evaluation tried to write.
var errReadOnly = errors.New("sqldb: an evaluation must not write")
