package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresPools divides the connections between the callers and the rest of the
// program.
func postgresPools(ctx context.Context, cfg *pgxpool.Config, o Options) (*DB, error) {
	db := &DB{shared: &shared{dialect: Postgres, distributed: &atomic.Bool{}}}
	cfg.AfterConnect = db.detectCitus
	callers := cfg.Copy()
	conns := int(cfg.MaxConns)
	// Migrating needs two connections at a time.
	callers.MaxConns, cfg.MaxConns = int32(max(1, conns-conns/2)), int32(max(2, conns/2))
	callers.ConnConfig.RuntimeParams["statement_timeout"] = fmt.Sprint(callerStatement.Milliseconds())
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
	if db.asked, err = open(callers); err != nil {
		_ = db.Close()
		return nil, err
	}
	most, background := postgresEvaluations(conns)
	db.evaluations = newEvaluations(most, background, o)
	return db, nil
}

func newEvaluations(callers, background int, o Options) *evaluations {
	return &evaluations{
		callers:    newTurns(callers, evaluationsEach),
		background: newTurns(background, evaluationsEach),
		time:       cmp.Or(o.EvaluationTime, evaluationTime),
	}
}
