package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migration files of both dialects.
func Migrations() fs.FS { return migrations }

// Options are what Open needs to know besides the address.
type Options struct {
	DataDir  string // where a relative SQLite path begins
	MaxConns int    // PostgreSQL connections; 0 means 20

	// Patience is how long Open waits for a PostgreSQL server that is not up yet.
	Patience time.Duration
	// Waiting is told every few seconds that it does, and why; may be nil.
	Waiting func(err error)

	// Trace is given every statement before it runs, in the database's own words,
	// with its parameters; may be nil.
	Trace func(text string, args []any)
	// EvaluationTime is how long a caller waits for an evaluation; 0 means 10 s.
	EvaluationTime time.Duration
}

// Open opens the database at address: sqlite:PATH or postgres://….
// It does not migrate.
func Open(ctx context.Context, address string, o Options) (*DB, error) {
	if strings.HasPrefix(address, "sqlite:") {
		file, err := SQLiteFile(address, o.DataDir)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		return openSQLite(ctx, file, o)
	}
	if strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://") {
		return openPostgres(ctx, address, o)
	}
	return nil, fmt.Errorf("database address must begin with sqlite: or postgres://")
}

// SQLiteFile returns the path of the database at an address sqlite:PATH. A relative
// path begins in dir.
func SQLiteFile(address, dir string) (string, error) {
	file, ok := strings.CutPrefix(address, "sqlite:")
	file = strings.TrimPrefix(file, "//")
	if !ok || file == "" || strings.Contains(file, ":memory:") {
		return "", fmt.Errorf("database address %q: name a file, as in sqlite:packetboat.db", address)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return file, nil
}

func openPostgres(ctx context.Context, address string, o Options) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	cfg.MaxConns = 20
	if o.MaxConns > 0 {
		cfg.MaxConns = int32(o.MaxConns)
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	cfg.ConnConfig.RuntimeParams["application_name"] = "packetboat"
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	maps.Copy(cfg.ConnConfig.RuntimeParams, sessionPlans)
	// A process that stands still within a transaction holds up who follows the
	// journal, in all processes.
	cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60s"
	grown := &growth{}
	cfg.PrepareConn = grown.fresh
	// The server is asked to end the statement of a context that is done, and a
	// moment is left to it for saying so. The connection stays in use.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 3 * time.Second}
	}
	db, err := postgresPools(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	db.growth, db.trace = grown, o.Trace
	if err := db.await(ctx, o); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return db, nil
}

// Migrate brings the schema up to date and returns how many migrations ran.
func (db *DB) Migrate(ctx context.Context) (int, error) {
	p, pool, done, err := db.provider(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	known := versions(p.ListSources())
	applied, err := db.applied(ctx, pool)
	if err != nil {
		return 0, err
	}
	if err := usable(applied, known); err != nil {
		return 0, err
	}
	if len(missing(applied, known)) == 0 { // most starts: they wait for nobody's turn
		return 0, db.ready(ctx)
	}
	ran, err := p.Up(ctx)
	if err != nil {
		return len(ran), fmt.Errorf("migrate: %w", err)
	}
	if applied, err = db.applied(ctx, pool); err != nil {
		return len(ran), err
	}
	if err := usable(applied, known); err != nil { // a newer program had its turn first
		return len(ran), err
	}
	if db.dialect == SQLite && len(ran) > 0 {
		if err := assume(ctx, pool); err != nil {
			return len(ran), fmt.Errorf("migrate: tell the planner: %w", err)
		}
	}
	return len(ran), db.ready(ctx)
}

// ready does what a migrated database needs at each start.
func (db *DB) ready(ctx context.Context) error {
	return errors.Join(db.assumePostgres(ctx), db.assignHomes(ctx))
}

// Pending reports whether the schema is older than this program.
func (db *DB) Pending(ctx context.Context) (bool, error) {
	p, _, done, err := db.provider(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	return p.HasPending(ctx)
}

// provider returns goose with the connections it works on.
func (db *DB) provider(ctx context.Context) (*goose.Provider, *sql.DB, func(), error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, nil, nil, err
	}
	opts := []goose.ProviderOption{
		goose.WithAllowOutofOrder(true),
		goose.WithDisableGlobalRegistry(true),
		goose.WithTableName("schema_migration"),
	}
	other, dialect := ".postgres.sql", goose.DialectSQLite3
	if db.dialect == SQLite {
		files = strictFS{files}
	}
	if db.dialect == Postgres {
		other, dialect = ".sqlite.sql", goose.DialectPostgres
		locker, err := lock.NewPostgresTableLocker(lock.WithTableName("schema_lock"),
			lock.WithTableLeaseDuration(turnLease), lock.WithTableHeartbeatInterval(turnBeat),
			lock.WithTableLockTimeout(turnRetry, uint64(turnWait/turnRetry)))
		if err != nil {
			return nil, nil, nil, err
		}
		opts = append(opts, goose.WithLocker(locker))
	}
	all, err := fs.Glob(files, "*"+other)
	if err != nil {
		return nil, nil, nil, err
	}
	for i, f := range all {
		all[i] = path.Base(f)
	}
	opts = append(opts, goose.WithExcludeNames(all))
	pool, done := db.pool, func() {}
	if db.dialect == SQLite {
		if err := db.writer.acquire(ctx); err != nil {
			return nil, nil, nil, err
		}
		var file string
		if err := db.writer.conn.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
			db.writer.release()
			return nil, nil, nil, err
		}
		if pool, err = driver.Open(dsn(file, true), functions); err != nil {
			db.writer.release()
			return nil, nil, nil, err
		}
		pool.SetMaxOpenConns(1)
		done = func() {
			_ = pool.Close()
			db.writer.release()
		}
	}
	p, err := goose.NewProvider(dialect, pool, files, opts...)
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	return p, pool, done, nil
}
