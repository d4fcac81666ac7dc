// Package sqldb provides one handle for SQLite and PostgreSQL.
//
// One SQL text serves both dialects wherever possible. Parameters are written $1, $2, …; where the
// dialects differ, a method of the handle returns the fragment. A handle is either the database or
// a transaction on it, so a function with a handle as an argument works alone or inside its
// caller's transaction.
//
// SQLite has one connection that writes, which transactions use one after another, and several that
// read. PostgreSQL has pools. Requests of tenants (ForCaller) and the rest of the program (engines,
// health checks, signing in) use different readers or pools, and the number and time of evaluations
// (Evaluate) is limited, so that none of them delays the others. Both databases make commits
// durable (synchronous commit; WAL with synchronous=FULL).
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"

	"github.com/packetboat/packetboat/internal/sqldb/filelock"
)

// Dialect is the kind of a database.
type Dialect int

// The two dialects.
const (
	SQLite Dialect = iota + 1
	Postgres
)

// String returns the dialect's name in lower case.
func (d Dialect) String() string {
	if d == Postgres {
		return "postgres"
	}
	return "sqlite"
}

// ErrNoRows is returned by the Scan of a Row if the query returned no row.
var ErrNoRows = sql.ErrNoRows

// DB is a handle: the database, or a transaction on it. The database handle is safe for concurrent
// use, a transaction is not.
type DB struct {
	*shared
	tx *transaction // nil on the database handle
}

// shared is what a database handle and its transactions have in common.
type shared struct {
	dialect          Dialect
	pool, callerPool *sql.DB // PostgreSQL's pools, or SQLite's readers; callerPool is for callers
	writer           *writer // SQLite only
	reads            map[*sql.DB]*statements
	evaluations      *evaluations
	server           *pgx.ConnConfig // PostgreSQL only
	growth           *growth         // PostgreSQL only
	distributed      *atomic.Bool    // PostgreSQL only: see Distributed
	homes            sync.Map        // PostgreSQL only: keys that the table home has; see requireHome
	closers          []func() error
	file             string         // SQLite only
	lock             *filelock.File // SQLite only
	trace            func(text string, args []any)
	subscribers      subscribers
	watch            atomic.Pointer[writeWatch] // see WatchWrites
	attached         sync.Map                   // by type: see Attached
}

type transaction struct {
	pg    onPostgres // nil on SQLite, where the transaction has the writer
	pipe  *pgTx      // the same as pg; nil for an evaluation
	conn  *sql.Conn  // of an evaluation on SQLite
	reads bool       // an evaluation, which only reads
	after []func()

	signals []Signal  // notified so far, each once
	writes  writeList // in watched tables

	customPlans bool // customPlanSettings are set
}

// onPostgres runs the statements of a transaction.
type onPostgres interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// poolFor returns the connections for work under ctx.
func (db *DB) poolFor(ctx context.Context) *sql.DB {
	if isForCaller(ctx) {
		return db.callerPool
	}
	return db.pool
}

// Dialect returns the kind of the database.
func (db *DB) Dialect() Dialect { return db.dialect }

// File returns the path of an SQLite database; empty on PostgreSQL.
func (db *DB) File() string { return db.file }

// Stats returns the state of the pool that engines use.
func (db *DB) Stats() sql.DBStats { return db.pool.Stats() }

// Close closes all connections. It is called once, on the database handle.
func (db *DB) Close() error {
	var errs []error
	for _, c := range db.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Ping returns nil if the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.QueryRow(ctx, `SELECT 1`).Scan(&one)
}

// InTx calls fn with a new transaction, or with db if that is a transaction. It commits if fn
// returns nil. Inside, use only the handle that fn is called with. On PostgreSQL a transaction that
// failed with a conflict (SQLSTATE class 40) is repeated, so fn must change only the database, and
// variables that it sets again each time.
func (db *DB) InTx(ctx context.Context, fn func(tx *DB) error) error {
	if db.tx != nil {
		return fn(db)
	}
	for try := 1; ; try++ {
		err := db.attemptTx(ctx, fn)
		if err == nil || try == 8 || !retryable(err) {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(try) * int64(10*time.Millisecond)))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (db *DB) attemptTx(ctx context.Context, fn func(tx *DB) error) (err error) {
	tx := &DB{shared: db.shared, tx: &transaction{}}
	commit, rollback, err := db.begin(ctx, tx.tx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	done := false
	defer func() {
		if !done {
			rollback()
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	done = true
	if err := commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, f := range tx.tx.after {
		f()
	}
	db.send(tx.tx.signals...)
	db.Wrote(tx.tx.writes.all()...)
	return nil
}

func (db *DB) begin(ctx context.Context, t *transaction) (commit func() error, rollback func(), err error) {
	if db.writer != nil {
		return db.writer.begin(ctx)
	}
	conn, err := db.poolFor(ctx).Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	pg := &pgTx{conn: conn}
	t.pg, t.pipe = pg, pg
	return func() error { return pg.commit(ctx) }, func() { pg.rollback(ctx) }, nil
}

// InTransaction reports whether db is a transaction.
func (db *DB) InTransaction() bool { return db.tx != nil }

// AfterCommit calls f after the transaction has committed; on the database handle, at once. If the
// process is killed in between, f is not called, so work that must not be lost is a row. To wake
// loops, use Notify.
func (db *DB) AfterCommit(f func()) {
	if db.tx == nil {
		f()
		return
	}
	db.tx.after = append(db.tx.after, f)
}

// retryable reports whether the transaction may succeed if it is repeated: PostgreSQL reported
// serialization_failure or deadlock_detected, or the connection was lost before anything was sent.
func retryable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01") || pgconn.SafeToRetry(err)
}

// IsOutage reports whether err means that the database cannot be reached or is out of resources, as
// opposed to an error of the statement.
func IsOutage(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 08: connection; 53: out of resources; 57P: shutting down or starting.
		return strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "57P")
	}
	if lite, ok := errors.AsType[*sqlite3.Error](err); ok { // it has the methods of a net.Error too
		return slices.Contains([]sqlite3.ErrorCode{sqlite3.BUSY, sqlite3.NOMEM, sqlite3.INTERRUPT, sqlite3.IOERR, sqlite3.FULL, sqlite3.CANTOPEN}, lite.Code())
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}

// IsUniqueViolation reports whether err means that a unique key exists already.
func IsUniqueViolation(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	return sqliteUnique(err)
}

// IsForeignKeyViolation reports whether err means that a row refers to one that does not exist,
// such as one that was deleted concurrently. It is false on SQLite, where transactions are not
// concurrent and the error is therefore a mistake of the program.
func IsForeignKeyViolation(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23503"
}

// IsInvalidData reports whether err means that the database cannot store these values at any time:
// SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation), and the equivalents
// of SQLite.
func IsInvalidData(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23")
	}
	return errors.Is(err, sqlite3.CONSTRAINT) || errors.Is(err, sqlite3.MISMATCH) || errors.Is(err, sqlite3.TOOBIG)
}
