// Package dbcopy copies an installation from its SQLite database to an empty PostgreSQL database.
//
// Rows are read in the order of their table's primary key, from one state of the source, and
// written by COPY. Each batch commits together with its last key, so that an interrupted copy
// continues there. When all rows are copied, both databases are read in the same order, and the
// number of rows and the checksum of each table must agree. Only then is the copy finished: before
// that, Unfinished returns an error, and the program does not start on the target.
//
// Tables and columns are read from the catalogs, so new ones need no change here.
package dbcopy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/packetboat/packetboat/internal/sqldb"
)

var (
	// ErrNotEmpty means that the target contains other data than this copy.
	ErrNotEmpty = errors.New("the target database is not empty")
	// ErrRunning means that another process copies into the target.
	ErrRunning = errors.New("another process is copying into the target database")
	// ErrUnfinished means that a copy into the database is not finished.
	ErrUnfinished = errors.New("the copy into this database is not finished: run packetboat copy again, which continues it")
	// ErrDifferent means that the target's data differ from the source's.
	ErrDifferent = errors.New("the target database differs from the source")
	// ErrSource means that the source contains no installation that can be copied.
	ErrSource = errors.New("the source database cannot be copied")
)

// Options configure Run.
type Options struct {
	// Progress is called after each batch of rows, and after each table that was verified; may be
	// nil.
	Progress func(p Progress)

	batchRows, batchBytes int                      // 0 means the default
	beforeCommit          func(table string) error // of a batch; may be nil
}

// Progress is the state of the copy of a table.
type Progress struct {
	Table    string
	Rows     int64
	Verified bool
}

// The limits of a batch, which is the rows of one transaction.
const (
	defaultRows  = 50_000
	defaultBytes = 32 << 20
)

// Table is the result for one table.
type Table struct {
	Name     string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"` // SHA-256 of the rows in order of their key
}

// Report is the result of a copy.
type Report struct {
	Tables      []Table
	Resumed     bool      // begun by an earlier run
	AlreadyDone bool      // finished by an earlier run
	EndedAt     time.Time // when the target was verified
}

// Run copies the source, an SQLite database that must not be written to meanwhile, to the
// PostgreSQL database at an address: an empty one, or the target of an interrupted copy of the same
// source.
func Run(ctx context.Context, source *sqldb.DB, address string, o Options) (_ Report, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) { // SQLite's error does not wrap that of the context
			err = errors.Join(ctx.Err(), err)
		}
	}()
	if o.batchRows == 0 {
		o.batchRows = defaultRows
	}
	if o.batchBytes == 0 {
		o.batchBytes = defaultBytes
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if schema, err := source.Schema(ctx); err != nil {
		return Report{}, err
	} else if len(schema.Missing) > 0 {
		return Report{}, fmt.Errorf("%w: its schema is not that of this program; run packetboat migrate on it first", ErrSource)
	}
	if err := prepareTarget(ctx, address); err != nil {
		return Report{}, err
	}
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return Report{}, fmt.Errorf("address of the target: %w", err)
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "packetboat copy"
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return Report{}, fmt.Errorf("connect to the target: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var report Report
	// The transaction writes nothing. It prevents other processes from writing to the source, since
	// their changes would be missing from the target: mail that a process sends meanwhile would be sent
	// again from there.
	err = source.InTx(ctx, func(*sqldb.DB) error {
		return source.Evaluate(ctx, "copy", func(ctx context.Context, source *sqldb.DB) (err error) {
			c := &copier{source: source, target: conn, Options: o}
			report, err = c.run(ctx)
			return err
		})
	})
	return report, err
}

// prepareTarget migrates an empty target.
func prepareTarget(ctx context.Context, address string) error {
	db, err := sqldb.Open(ctx, address, sqldb.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	if _, err = db.Schema(ctx); err == nil {
		err = checkTarget(ctx, db)
	}
	if err == nil {
		_, err = db.Migrate(ctx)
	}
	if err != nil {
		err = fmt.Errorf("prepare the target: %w", err)
	}
	return errors.Join(err, db.Close())
}

// checkTarget returns ErrNotEmpty for a database that contains tables of others.
func checkTarget(ctx context.Context, db *sqldb.DB) error {
	var other string
	err := db.QueryRow(ctx, `
		SELECT CAST(c.relname AS TEXT) FROM pg_class AS c
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
			AND to_regclass('schema_migration') IS NULL
			AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e')
		ORDER BY c.relname LIMIT 1`).Scan(&other)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: it has a table %s that is not Packetboat's", ErrNotEmpty, other)
}

// copier is one run.
type copier struct {
	Options
	source *sqldb.DB // an evaluation, so one state
	target *pgx.Conn
	tables []table
}

func (c *copier) run(ctx context.Context) (Report, error) {
	if err := c.lockTarget(ctx); err != nil {
		return Report{}, err
	}
	var err error
	if c.tables, err = c.loadTablePlan(ctx); err != nil {
		return Report{}, err
	}
	identity, err := c.identity(ctx)
	if err != nil {
		return Report{}, err
	}
	report, err := c.begin(ctx, identity)
	if err != nil || report.AlreadyDone {
		return report, err
	}
	for _, t := range c.tables {
		if err := c.copyTable(ctx, t); err != nil {
			return report, fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	// Only finish lets the program start on the target. A run that is killed before verifies again.
	if report.Tables, err = c.verify(ctx); err != nil {
		return report, err
	}
	report.EndedAt, err = c.finish(ctx, report.Tables)
	return report, err
}

// lockTarget ensures that no other process copies into the target.
func (c *copier) lockTarget(ctx context.Context) error {
	var free bool
	if err := c.target.QueryRow(ctx, `SELECT pg_try_advisory_lock(1885430635, 1668247673)`).Scan(&free); err != nil {
		return fmt.Errorf("lock the target: %w", err)
	}
	if !free {
		return ErrRunning
	}
	return nil
}

// quoted returns names as quoted identifiers in a format, separated by commas.
func quoted(names []string, format string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf(format, `"`+strings.ReplaceAll(n, `"`, `""`)+`"`)
	}
	return strings.Join(list, ", ")
}
