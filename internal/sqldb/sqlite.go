package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/packetboat/packetboat/internal/sqldb/filelock"
)

// Limits of an SQLite database. Each connection has a page cache of its own, so their number bounds
// the memory.
const (
	sqliteReaders    = 4 // for callers, and as many for the rest of the program
	sqliteCacheKB    = 4096
	sqliteBusyMillis = 10_000
)

// dsn returns the file's URL with the settings that every connection needs.
func dsn(path string, immediate bool) string {
	q := url.Values{}
	for _, p := range []string{
		fmt.Sprintf("busy_timeout(%d)", sqliteBusyMillis),
		"journal_mode(wal)",
		"synchronous(full)",
		"foreign_keys(on)",
		"temp_store(memory)",
		fmt.Sprintf("cache_size(-%d)", sqliteCacheKB),
		"wal_autocheckpoint(4000)",
		"journal_size_limit(67108864)",
	} {
		q.Add("_pragma", p)
	}
	if immediate {
		q.Set("_txlock", "immediate")
	}
	q.Set("modeof", path) // the log has the mode of the database; see makePrivate
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

func openSQLite(ctx context.Context, path string, o Options) (_ *DB, err error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // as SQLite does
		return nil, err
	}
	lock, err := filelock.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	w, err := driver.Open(dsn(path, true), configureConn)
	if err != nil {
		return nil, err
	}
	w.SetMaxOpenConns(1)
	conn, err := w.Conn(ctx)
	if err != nil {
		return nil, errors.Join(explainFile(path, err), w.Close())
	}
	if err := makePrivate(path); err != nil { // another process may have deleted the files when it closed
		return nil, errors.Join(err, conn.Close(), w.Close())
	}
	db := &DB{shared: &shared{
		dialect:     SQLite,
		file:        path,
		lock:        lock,
		writer:      &writer{conn: conn, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}},
		reads:       map[*sql.DB]*statements{},
		evaluations: newEvaluations(sqliteEvaluations, sqliteBackground, o),
	}}
	var errs []error
	readers := func(open func(dsn string) (*sql.DB, error), conns int) *sql.DB {
		p, err := open(dsn(path, false))
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		p.SetMaxOpenConns(conns)
		p.SetMaxIdleConns(conns)
		db.closers = append(db.closers, p.Close)
		return p
	}
	plain := func(dsn string) (*sql.DB, error) { return driver.Open(dsn, configureConn) }
	db.pool, db.callerPool = readers(plain, sqliteReaders), readers(plain, sqliteReaders)
	db.evaluations.readers = readers(openKeeping, sqliteEvaluations+sqliteBackground)
	db.closers = append(db.closers, db.writer.close, conn.Close, w.Close)
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, db.Close())...)
	}
	db.evaluations.readers.SetConnMaxIdleTime(time.Minute) // to free their memory
	db.closers = append(db.closers, lock.Close)
	for _, p := range []*sql.DB{db.pool, db.callerPool} {
		s := &statements{pool: p, stmts: map[string]*sql.Stmt{}}
		db.reads[p] = s
		db.closers = append([]func() error{s.close}, db.closers...)
	}
	return db, nil
}

// configureConn configures a connection: a statement is planned once, whatever values are bound to
// it later. Otherwise, if a parameter is compared with the condition of a partial index, SQLite
// prepares the statement again for each execution.
func configureConn(c *sqlite3.Conn) error {
	if _, err := c.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		return err
	}
	return registerFunctions(c)
}

// writer is the one connection of SQLite that writes. A goroutine that has acquired it may use it.
type writer struct {
	turn  chan struct{}
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // of conn; guarded by turn
}

func (w *writer) acquire(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) release() { <-w.turn }

// close acquires the writer, and does not release it.
func (w *writer) close() error {
	w.turn <- struct{}{}
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func (w *writer) begin(ctx context.Context) (commit func() error, rollback func(), err error) {
	if err := w.acquire(ctx); err != nil {
		return nil, nil, err
	}
	if _, err := w.exec(ctx, toSQLite(`BEGIN IMMEDIATE`), nil); err != nil {
		w.release()
		return nil, nil, err
	}
	// COMMIT and ROLLBACK are not cancelled.
	end := context.WithoutCancel(ctx)
	rollback = func() {
		defer w.release()
		_, _ = w.exec(end, toSQLite(`ROLLBACK`), nil)
	}
	commit = func() error {
		if _, err := w.exec(end, toSQLite(`COMMIT`), nil); err != nil {
			rollback()
			return err
		}
		w.release()
		return nil
	}
	return commit, rollback, nil
}

func (w *writer) stmt(ctx context.Context, t text) (*sql.Stmt, error) {
	if s, ok := w.stmts[t.sqlite]; ok {
		return s, nil
	}
	if len(w.stmts) >= maxStatements { // rare: most texts are constants
		for k, s := range w.stmts {
			_ = s.Close()
			delete(w.stmts, k)
		}
	}
	s, err := w.conn.PrepareContext(ctx, t.sqlite)
	if err != nil {
		return nil, err
	}
	w.stmts[t.sqlite] = s
	return s, nil
}

func (w *writer) exec(ctx context.Context, t text, args []any) (sql.Result, error) {
	s, err := w.stmt(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (w *writer) query(ctx context.Context, t text, args []any) (*sql.Rows, error) {
	s, err := w.stmt(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// maxStatements bounds each cache of prepared statements.
const maxStatements = 400

// statements is a cache of prepared statements of the readers.
type statements struct {
	pool  *sql.DB
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// get returns a prepared statement, and a function to call after the query, or nil.
func (c *statements) get(ctx context.Context, t text) (*sql.Stmt, func(), error) {
	c.mu.RLock()
	s, ok := c.stmts[t.sqlite]
	c.mu.RUnlock()
	if ok {
		return s, nil, nil
	}
	s, err := c.pool.PrepareContext(ctx, t.sqlite)
	if err != nil {
		return nil, nil, err
	}
	if t.uncached {
		return s, func() { _ = s.Close() }, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, ok := c.stmts[t.sqlite]; ok {
		_ = s.Close()
		return other, nil, nil
	}
	if len(c.stmts) >= maxStatements { // full: not cached
		return s, func() { _ = s.Close() }, nil
	}
	c.stmts[t.sqlite] = s
	return s, nil, nil
}

func (c *statements) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	clear(c.stmts)
	return errors.Join(errs...)
}

// text is a statement for SQLite.
type text struct {
	sqlite   string
	writes   bool
	uncached bool // one of unboundedly many texts: not cached
}

// texts is a cache of statements by their PostgreSQL text. It is never cleared, since most texts
// are constants. Filters and definitions make an unbounded number of others, so its size is
// limited.
var (
	texts     sync.Map
	textCount atomic.Int64
)

const maxTexts = 4000

// toSQLite replaces $1 by ?1, and determines whether the statement writes.
func toSQLite(pg string) text {
	if t, ok := texts.Load(pg); ok {
		return t.(text)
	}
	t := text{sqlite: numberParams(pg), writes: isWrite(pg)}
	if textCount.Add(1) <= maxTexts {
		texts.Store(strings.Clone(pg), t)
	}
	return t
}

// numberParams replaces $N by ?N outside of quoted text.
func numberParams(pg string) string {
	out := []byte(pg)
	var quote byte
	for i := range out {
		c := out[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '$' && i+1 < len(out) && out[i+1] >= '0' && out[i+1] <= '9':
			out[i] = '?'
		}
	}
	return string(out)
}

// isWrite reports whether a statement writes. The text may begin with a comment.
func isWrite(s string) bool {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(s), "/*"); ok {
		_, s, _ = strings.Cut(rest, "*/")
	}
	words := strings.Fields(strings.ToUpper(s))
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "SELECT":
		return false
	case "WITH":
		for _, w := range words {
			if w == "UPDATE" || w == "INSERT" || w == "DELETE" {
				return true
			}
		}
		return false
	}
	return true
}

func sqliteUnique(err error) bool {
	return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) || errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY)
}

// ErrTooLong is the error for a statement that is too large for SQLite.
var ErrTooLong = errors.New("sqldb: the statement is too large for SQLite")

// Limits of a statement for SQLite. A connection has 256 MB of memory, which about 5,000 subqueries
// use up; the engine cannot recover from that.
const (
	maxSelects = 4500
	maxBytes   = 2 << 20
)

func tooLong(text string) bool {
	switch n := len(text); {
	case n < 64<<10:
		return false
	case n > maxBytes:
		return true
	}
	return strings.Count(text, "SELECT") > maxSelects
}
