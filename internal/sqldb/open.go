package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/packetboat/packetboat/internal/base/turns"
)

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
	cfg.ConnConfig.RuntimeParams["application_name"] = applicationName
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
	db.growth, db.trace, db.server = grown, o.Trace, cfg.ConnConfig
	if err := db.awaitServer(ctx, o); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return db, nil
}

// postgresPools opens the pools for callers and for the rest of the program.
func postgresPools(ctx context.Context, cfg *pgxpool.Config, o Options) (*DB, error) {
	db := &DB{shared: &shared{dialect: Postgres, distributed: &atomic.Bool{}}}
	cfg.AfterConnect = db.detectCitus
	callers := cfg.Copy()
	conns := int(cfg.MaxConns)
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
