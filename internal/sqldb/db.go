// Package sqldb is one handle for SQLite and PostgreSQL.
//
// One SQL text serves both dialects wherever it can. Parameters are written
// $1, $2, …; where the dialects differ the handle supplies the fragment, and the
// fragment's name says what it does. A handle is either the database itself or
// a transaction on it, so a function that takes one works alone or inside its
// caller's transaction.
//
// SQLite has one writer connection, on which write transactions take turns,
// and several readers; PostgreSQL has pools. Requests of tenants (ForCaller) and
// the rest of the program (engines, health, signing in) use different readers or
// pools, and evaluations (Evaluate) are bounded, so that none of them keeps the
// others waiting. Both databases keep what is committed (synchronous commit; WAL
// with synchronous=FULL).
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"
)

// Dialect names the database behind a handle.
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

// ErrNoRows is what a Row's Scan returns when nothing matched.
var ErrNoRows = sql.ErrNoRows

// DB is a handle: the database, or a transaction on it.
// The database handle is safe for concurrent use, a transaction is not.
type DB struct {
	*shared
	tx *transaction // nil on the database handle
}

// shared is what a database handle and its transactions have in common.
type shared struct {
	dialect     Dialect
	pool, asked *sql.DB // PostgreSQL, or SQLite's readers; asked is for callers
	writer      *writer // SQLite only
	reads       map[*sql.DB]*statements
	evaluations *evaluations
	growth      *growth      // PostgreSQL only
	distributed *atomic.Bool // PostgreSQL only: see Distributed
	closers     []func() error
	file        string    // SQLite only
	lock        *fileLock // SQLite only
	trace       func(text string, args []any)
	subscribers subscribers
}

type transaction struct {
	pg    onPostgres // nil on SQLite, where the writer is held instead
	pipe  *pgTx      // pg, but for an evaluation
	conn  *sql.Conn  // of an evaluation on SQLite
	reads bool       // an evaluation, which only reads
	after []func()

	signals []Signal // notified so far, each once

	freely bool // plansFreely was said
}

// onPostgres runs the statements of a transaction.
type onPostgres interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// poolFor returns the connections for work under ctx.
func (db *DB) poolFor(ctx context.Context) *sql.DB {
	if isForCaller(ctx) {
		return db.asked
	}
	return db.pool
}

// Dialect tells which database is behind the handle.
func (db *DB) Dialect() Dialect { return db.dialect }

// File returns the path of an SQLite database; empty on PostgreSQL.
func (db *DB) File() string { return db.file }

// Stats returns the state of the pool that engines use.
func (db *DB) Stats() sql.DBStats { return db.pool.Stats() }

// Close closes every connection. It is called on the database handle, once.
func (db *DB) Close() error {
	var errs []error
	for _, c := range db.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.QueryRow(ctx, `SELECT 1`).Scan(&one)
}

// InTx begins a transaction and passes it to fn, or joins the one that db is.
// It commits when fn returns nil. Inside, use the handle fn is given and no
// other. On PostgreSQL a transaction that lost against a concurrent one
// (SQLSTATE class 40) is run again, so fn must change nothing but the database
// and what it assigns anew.
func (db *DB) InTx(ctx context.Context, fn func(tx *DB) error) error {
	if db.tx != nil {
		return fn(db)
	}
	for try := 1; ; try++ {
		err := db.attemptTx(ctx, fn)
		if err == nil || try == 8 || !lostRace(err) {
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

// Transacting reports whether db is a transaction.
func (db *DB) Transacting() bool { return db.tx != nil }

// AfterCommit runs f once the transaction has committed; on the database
// handle, at once. What must not be lost is a row. Loops are woken by Notify.
func (db *DB) AfterCommit(f func()) {
	if db.tx == nil {
		f()
		return
	}
	db.tx.after = append(db.tx.after, f)
}

// lostRace reports whether the transaction may succeed when run again: it is
// PostgreSQL's word (serialization_failure or deadlock_detected), or the connection
// had gone before anything was sent.
func lostRace(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01") || pgconn.SafeToRetry(err)
}

// IsUniqueViolation reports whether err says that a unique key is already taken.
func IsUniqueViolation(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	return sqliteUnique(err)
}

// IsForeignKeyViolation reports whether err says that a row refers to one that has just gone.
// SQLite's writers take turns, so there it is no accident.
func IsForeignKeyViolation(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23503"
}

// IsInvalidData reports whether err says that the database does not take these values,
// whenever they are written: SQLSTATE classes 22 (data exception) and 23
// (integrity constraint violation), and what SQLite has for these.
func IsInvalidData(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23")
	}
	return errors.Is(err, sqlite3.CONSTRAINT) || errors.Is(err, sqlite3.MISMATCH) || errors.Is(err, sqlite3.TOOBIG)
}
