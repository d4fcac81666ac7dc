package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/packetboat/packetboat/internal/sqldb/filelock"
)

// ErrInUse means that migrations are missing, and that another process serves the database, which would go on with the
// schema it knows.
var ErrInUse = errors.New("the schema of the database is older than this program, and another process serves it")

const (
	migrationTurn = 250 * time.Millisecond // between attempts to get a lock
	migrationWait = 5 * time.Second        // for processes that serve to end
)

// Processes on PostgreSQL hold these advisory locks as long as their session lasts, which the server ends when the
// process ends.
const (
	servingKey   = 0x7061636b73657276 // shared by those that serve
	migratingKey = 0x7061636b6d696772 // held by the one that migrates
)

// Sessions have applicationName. Programs from before these locks hold none, and are known by formerName.
const (
	applicationName = "Packetboat"
	formerName      = "packetboat"
)

// Serving is the mark that a process serves a database. Nobody migrates the database meanwhile.
type Serving struct {
	db     *DB
	unlock func()    // SQLite only
	pool   *sql.DB   // PostgreSQL only, for one connection
	conn   *sql.Conn // has the lock; nil after the connection was lost
}

// Serve makes this process one that serves the database, until Stop is called or the process ends. Its schema must be
// that of this program. One process serves an SQLite database: others get filelock.ErrServed, whatever name they opened
// the file by, but may use the database. Any number may serve a PostgreSQL database.
func (db *DB) Serve(ctx context.Context) (_ *Serving, err error) {
	s := &Serving{db: db}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if db.dialect == SQLite {
		if s.unlock, err = db.serveFile(ctx); err != nil {
			return nil, err
		}
	} else {
		s.pool = db.session()
		if err := await(ctx, 0, s.lock); err != nil {
			return nil, err
		}
	}
	schema, err := db.Schema(ctx)
	if err == nil {
		err = schema.Err()
	}
	return s, err
}

// Stop ends the mark.
func (s *Serving) Stop() {
	if s.unlock != nil {
		s.unlock()
	}
	if s.conn != nil {
		_ = s.conn.Close()
	}
	if s.pool != nil {
		_ = s.pool.Close() // ends the session, and with it the lock
	}
}

// Check returns ErrNewerSchema if a newer program has migrated the database nevertheless, such as while the connection
// to PostgreSQL was lost. Any other error means that it could not be found out. It is called now and then.
func (s *Serving) Check(ctx context.Context) error {
	if s.pool != nil {
		if err := s.keep(ctx); err != nil {
			return err
		}
	}
	_, err := s.db.Schema(ctx)
	return err
}

// keep takes the lock again if the connection was lost.
func (s *Serving) keep(ctx context.Context) error {
	if s.conn != nil {
		if _, err := s.conn.ExecContext(ctx, `SELECT 1`); err == nil {
			return nil
		}
		_ = s.conn.Close()
		s.conn = nil
	}
	locked, err := s.lock(ctx)
	if err == nil && !locked {
		err = fmt.Errorf("%w: another process is migrating it", ErrNewerSchema)
	}
	return err
}

// lock takes the lock of those that serve, and reports whether it was free.
func (s *Serving) lock(ctx context.Context) (locked bool, err error) {
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock_shared($1)`, servingKey).Scan(&locked); err != nil || !locked {
		return false, errors.Join(err, conn.Close())
	}
	s.conn = conn
	return true, nil
}

// session returns a pool for one connection, which stays open. The server notices within a minute when this machine is gone.
func (db *DB) session() *sql.DB {
	cfg := db.server.Copy()
	maps.Copy(cfg.RuntimeParams, map[string]string{"tcp_keepalives_idle": "20", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"})
	pool := stdlib.OpenDB(*cfg)
	pool.SetMaxOpenConns(1)
	pool.SetMaxIdleConns(1)
	return pool
}

// errBusy means that a lock was not free in time.
var errBusy = errors.New("a lock is held by another process")

// await calls try until it reports true, at most for a time unless that is 0. The error is errBusy after that time.
func await(ctx context.Context, within time.Duration, try func(ctx context.Context) (bool, error)) error {
	begun := time.Now()
	for {
		done, err := try(ctx)
		if done || err != nil {
			return err
		}
		if within > 0 && time.Since(begun) >= within {
			return errBusy
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrationTurn):
		}
	}
}

// Settled is Schema after a process that is migrating has ended.
func (db *DB) Settled(ctx context.Context) (Schema, error) {
	s, err := db.Schema(ctx)
	if err != nil || s.New() || len(s.Missing) == 0 {
		return s, err
	}
	release, err := db.turnToMigrate(ctx)
	if err != nil {
		return s, err
	}
	release()
	return db.Schema(ctx)
}

// turnToMigrate waits until no other process migrates.
func (db *DB) turnToMigrate(ctx context.Context) (release func(), err error) {
	if db.dialect == SQLite {
		return db.turnOfFile(ctx)
	}
	pool := db.session()
	release = func() { _ = pool.Close() }
	if err := await(ctx, 0, advisoryLock(pool, migratingKey)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// advisoryLock returns a function that tries to get a lock, and reports whether it was free.
func advisoryLock(pool *sql.DB, key int64) func(context.Context) (bool, error) {
	return func(ctx context.Context) (free bool, err error) {
		err = pool.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&free)
		return free, err
	}
}

// reservePostgres waits until no other process migrates or serves. The locks belong to the connection that migrates: if this
// process is killed, they are free when the server has ended its last statement and rolled it back, and no sooner.
func (db *DB) reservePostgres(ctx context.Context) (_ *sql.DB, done func() error, err error) {
	pool := db.session()
	defer func() {
		if err != nil {
			err = errors.Join(err, pool.Close())
		}
	}()
	if err := await(ctx, 0, advisoryLock(pool, migratingKey)); err != nil {
		return nil, nil, err
	}
	schema, err := db.Schema(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(schema.Missing) == 0 { // another process has migrated meanwhile
		return pool, pool.Close, nil
	}
	err = await(ctx, migrationWait, advisoryLock(pool, servingKey))
	if err == nil && !schema.New() {
		err = await(ctx, migrationWait, func(ctx context.Context) (gone bool, err error) {
			err = pool.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1)`, formerName).Scan(&gone)
			return gone, err
		})
	}
	if errors.Is(err, errBusy) {
		err = db.inUse(ctx, pool)
	}
	return pool, pool.Close, err
}

// inUse returns ErrInUse with the addresses of those that serve.
func (db *DB) inUse(ctx context.Context, pool *sql.DB) error {
	var where sql.NullString
	err := pool.QueryRowContext(ctx, `
		SELECT string_agg(DISTINCT COALESCE(host(a.client_addr), 'the machine of the database'), ', ') FROM pg_stat_activity AS a
		WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND (a.application_name = $1 OR EXISTS (
			SELECT 1 FROM pg_locks AS l WHERE l.pid = a.pid AND l.locktype = 'advisory' AND l.granted
				AND l.objsubid = 1 AND (l.classid::bigint << 32) | l.objid::bigint = $2))`, formerName, int64(servingKey)).Scan(&where)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w (connected from %s): stop all processes of the old program, then start this one", ErrInUse, where.String)
}

// reserveFile waits until no other process migrates or serves.
func (db *DB) reserveFile(ctx context.Context) (unlock func(), err error) {
	release, err := db.turnOfFile(ctx)
	if err != nil {
		return nil, err
	}
	schema, err := db.Schema(ctx)
	if err != nil || len(schema.Missing) == 0 {
		return release, err
	}
	var stop func()
	err = await(ctx, migrationWait, func(context.Context) (bool, error) {
		stop, err = db.lock.Serve()
		if errors.Is(err, filelock.ErrServed) {
			return false, nil
		}
		return err == nil, err
	})
	if errors.Is(err, errBusy) {
		err = fmt.Errorf("%w: %s; stop that process first, then start this program", ErrInUse, db.file)
	}
	if err != nil {
		release()
		return nil, err
	}
	return func() { stop(); release() }, nil
}

// turnOfFile waits for the lock of the process that migrates.
func (db *DB) turnOfFile(ctx context.Context) (release func(), err error) {
	err = await(ctx, 0, func(context.Context) (bool, error) {
		release, err = db.lock.Migrate()
		return release != nil, err
	})
	return release, err
}

// serveFile takes the lock of the process that serves. One that migrates has it too, and is waited for.
func (db *DB) serveFile(ctx context.Context) (unlock func(), err error) {
	release, err := db.turnOfFile(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if unlock, err = db.lock.Serve(); errors.Is(err, filelock.ErrServed) {
		err = fmt.Errorf("%w %s: stop it first, or give this one a --data-dir of its own; several processes need PostgreSQL", filelock.ErrServed, db.file)
	}
	return unlock, err
}
