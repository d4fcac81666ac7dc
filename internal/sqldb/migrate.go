package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migration files of both dialects.
func Migrations() fs.FS { return migrations }

// Migrate applies missing migrations and returns how many it applied. One process does so at a time, and only while no
// process serves the database: it would go on with statements and sums of the old schema. The error is ErrInUse if one
// does.
func (db *DB) Migrate(ctx context.Context) (int, error) {
	schema, err := db.Schema(ctx)
	if err != nil {
		return 0, err
	}
	if len(schema.Missing) == 0 { // the usual case, which needs no lock
		return 0, db.ready(ctx)
	}
	pool, done, err := db.reserve(ctx)
	if err != nil {
		return 0, err
	}
	ran, err := db.migrate(ctx, pool)
	return ran, errors.Join(err, done())
}

// migrate applies the migrations that are missing now, over the one connection of pool.
func (db *DB) migrate(ctx context.Context, pool *sql.DB) (int, error) {
	if _, err := db.Schema(ctx); err != nil { // a newer program may have migrated first
		return 0, err
	}
	p, err := db.provider(pool)
	if err != nil {
		return 0, err
	}
	ran, err := p.Up(ctx)
	if err != nil {
		return len(ran), fmt.Errorf("migrate: %w", err)
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

// provider returns goose.
func (db *DB) provider(pool *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectPostgres
	if db.dialect == SQLite {
		files, dialect = strictFS{files}, goose.DialectSQLite3
	}
	others, err := fs.Glob(files, "*"+db.othersSuffix())
	if err != nil {
		return nil, err
	}
	for i, f := range others {
		others[i] = path.Base(f)
	}
	return goose.NewProvider(dialect, pool, files,
		goose.WithAllowOutofOrder(true),
		goose.WithDisableGlobalRegistry(true),
		goose.WithTableName("schema_migration"),
		goose.WithExcludeNames(others))
}

// othersSuffix is what the names of migrations for the other dialect end in.
func (db *DB) othersSuffix() string {
	if db.dialect == SQLite {
		return ".postgres.sql"
	}
	return ".sqlite.sql"
}

// reserve waits for the turn of this process to migrate, and returns a pool of one connection for it.
func (db *DB) reserve(ctx context.Context) (pool *sql.DB, done func() error, err error) {
	if db.dialect == Postgres {
		return db.reservePostgres(ctx)
	}
	unlock, err := db.reserveFile(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := db.writer.acquire(ctx); err != nil {
		unlock()
		return nil, nil, err
	}
	if pool, err = driver.Open(dsn(db.file, true), registerFunctions); err != nil {
		db.writer.release()
		unlock()
		return nil, nil, err
	}
	pool.SetMaxOpenConns(1)
	return pool, func() error {
		defer unlock()
		defer db.writer.release()
		return pool.Close()
	}, nil
}
