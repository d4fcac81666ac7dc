package sqldb

import (
	"cmp"
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
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/packetboat/packetboat/internal/base/turns"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migration files of both dialects.
func Migrations() fs.FS { return migrations }

// Options configure Open.
type Options struct {
	DataDir  string // directory of relative SQLite paths
	MaxConns int    // PostgreSQL connections; 0 means 20

	// ServerWait is how long Open waits for a PostgreSQL server that is not available yet.
	ServerWait time.Duration
	// OnServerWait is called every few seconds during this wait, with the last error; may be nil.
	OnServerWait func(err error)

	// Trace is called before each statement, with its text in the database's dialect and its
	// parameters; may be nil.
	Trace func(text string, args []any)
	// EvaluationTime is the time limit of evaluations for callers; 0 means 10 s.
	EvaluationTime time.Duration
}

// Open opens the database at an address, sqlite:PATH or postgres://…. It does not migrate.
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

// SQLiteFile returns the path of the database at an address sqlite:PATH. A relative path is
// relative to dir.
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
	// A process that hangs within a transaction holds up the journal's followers in all processes.
	cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60s"
	grown := &growth{}
	cfg.PrepareConn = grown.discardOutgrown
	// When a context ends, the server is requested to cancel the statement, and has a few seconds
	// to answer, after which the connection can be used again.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 3 * time.Second}
	}
	db, err := postgresPools(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	db.growth, db.trace = grown, o.Trace
	if err := db.awaitServer(ctx, o); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return db, nil
}

// Migrate applies pending migrations and returns how many it applied.
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
	if err := checkVersions(applied, known); err != nil {
		return 0, err
	}
	if len(missingVersions(applied, known)) == 0 { // the usual case, which needs no lock
		return 0, db.ready(ctx)
	}
	ran, err := p.Up(ctx)
	if err != nil {
		return len(ran), fmt.Errorf("migrate: %w", err)
	}
	if applied, err = db.applied(ctx, pool); err != nil {
		return len(ran), err
	}
	if err := checkVersions(applied, known); err != nil { // a newer program may have migrated first
		return len(ran), err
	}
	if db.dialect == SQLite && len(ran) > 0 {
		if err := assumeSQLite(ctx, pool); err != nil {
			return len(ran), fmt.Errorf("migrate: set the planner statistics: %w", err)
		}
	}
	return len(ran), db.ready(ctx)
}

// ready sets planner statistics and assigns tenants to nodes, at each start.
func (db *DB) ready(ctx context.Context) error {
	return errors.Join(db.assumePostgres(ctx), db.assignHomes(ctx))
}

// Pending reports whether there are migrations to apply.
func (db *DB) Pending(ctx context.Context) (bool, error) {
	p, _, done, err := db.provider(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	return p.HasPending(ctx)
}

// provider returns goose, the connections it uses, and a function that releases them.
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
			lock.WithTableLeaseDuration(migrationLease), lock.WithTableHeartbeatInterval(migrationHeartbeat),
			lock.WithTableLockTimeout(migrationRetry, uint64(migrationWait/migrationRetry)))
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
		if pool, err = driver.Open(dsn(file, true), registerFunctions); err != nil {
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

// postgresPools opens the pools for callers and for the rest of the program.
func postgresPools(ctx context.Context, cfg *pgxpool.Config, o Options) (*DB, error) {
	db := &DB{shared: &shared{dialect: Postgres, distributed: &atomic.Bool{}}}
	cfg.AfterConnect = db.detectCitus
	callers := cfg.Copy()
	conns := int(cfg.MaxConns)
	// A migration needs two connections at a time.
	callers.MaxConns, cfg.MaxConns = int32(max(1, conns-conns/2)), int32(max(2, conns/2))
	callers.ConnConfig.RuntimeParams["statement_timeout"] = fmt.Sprint(callerStatementTimeout.Milliseconds())
	open := func(cfg *pgxpool.Config) (*sql.DB, error) {
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		if err != nil {
			return nil, err
		}
		p := stdlib.OpenDBFromPool(pool)
		db.closers = append(db.closers, p.Close, func() error { pool.Close(); return nil })
		return p, nil
	}
	var err error
	if db.pool, err = open(cfg); err != nil {
		return nil, err
	}
	if db.callerPool, err = open(callers); err != nil {
		_ = db.Close()
		return nil, err
	}
	most, background := postgresEvaluations(conns)
	db.evaluations = newEvaluations(most, background, o)
	return db, nil
}

func newEvaluations(callers, background int, o Options) *evaluations {
	limited := func(slots int) *turns.Turns[string] {
		return &turns.Turns[string]{Policy: turns.FewestTurns, Slots: slots, OwnerSlots: evaluationsPerOwner}
	}
	return &evaluations{callers: limited(callers), background: limited(background), timeout: cmp.Or(o.EvaluationTime, evaluationTime)}
}
