// Package dbcopy moves an installation from its SQLite database to an empty
// PostgreSQL database.
//
// Rows are read in the order of their table's primary key, from one state of the
// source, and written by COPY. Each batch commits together with the place it has
// come to, so that a copy that was interrupted goes on where it was. When all rows
// are there, both databases are read in that order, and every table must have the
// same number of rows and the same checksum in both. Only then is the copy ended:
// until it is, Unfinished tells the program not to start on the target.
//
// What there is to copy is read from the catalogs, so a new table or column needs
// nothing here.
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
	// ErrNotEmpty says that the target holds something else than this copy.
	ErrNotEmpty = errors.New("the target database is not empty")
	// ErrUnderWay says that another process copies into the target.
	ErrUnderWay = errors.New("another process is copying into the target database")
	// ErrUnfinished says that a copy into the database has not come to its end.
	ErrUnfinished = errors.New("the copy into this database has not ended: run packetboat copy again, which goes on where it was")
	// ErrDiffers says that the target does not hold what the source does.
	ErrDiffers = errors.New("the target database differs from the source")
	// ErrSource says that the source holds no installation that can be copied.
	ErrSource = errors.New("the source database cannot be copied")
)

// Options are what a copy may be told.
type Options struct {
	// Progress is told how far the copy is: after each batch of rows, and after each
	// table that was verified; may be nil.
	Progress func(p Progress)

	batchRows, batchBytes int                      // 0 means the default
	beforeCommit          func(table string) error // of a batch; may be nil
}

// Progress is how far a copy has come with a table.
type Progress struct {
	Table    string
	Rows     int64
	Verified bool
}

// A batch is what one transaction writes.
const (
	defaultRows  = 50_000
	defaultBytes = 32 << 20
)

// Table is the outcome of one table.
type Table struct {
	Name     string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"` // SHA-256 of the rows in order of their key
}

// Report is the outcome of a copy.
type Report struct {
	Tables  []Table
	Resumed bool      // an earlier run had begun it
	Before  bool      // an earlier run had ended it, and nothing was done now
	EndedAt time.Time // when the target was found to be the same as the source
}

// Run copies the source, an SQLite database that nothing can be written to meanwhile,
// to the PostgreSQL database at an address: an empty one, or the target of a copy of
// the same source that was interrupted.
func Run(ctx context.Context, source *sqldb.DB, address string, o Options) (_ Report, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) { // SQLite says only that it was interrupted
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
	if current, err := source.Current(ctx); err != nil {
		return Report{}, err
	} else if !current {
		return Report{}, fmt.Errorf("%w: its schema is not that of this program; run packetboat migrate on it first", ErrSource)
	}
	if err := prepare(ctx, address); err != nil {
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
	// The transaction writes nothing. It keeps other processes from writing to the
	// source: what they wrote behind the state that is copied would be missing.
	err = source.InTx(ctx, func(*sqldb.DB) error {
		return source.Evaluate(ctx, "copy", func(ctx context.Context, source *sqldb.DB) (err error) {
			c := &copier{source: source, target: conn, Options: o}
			report, err = c.run(ctx)
			return err
		})
	})
	return report, err
}

// prepare gives an empty target its schema.
func prepare(ctx context.Context, address string) error {
	db, err := sqldb.Open(ctx, address, sqldb.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	err = db.CheckSchema(ctx)
	if err == nil {
		err = blankOrOurs(ctx, db)
	}
	if err == nil {
		_, err = db.Migrate(ctx)
	}
	if err != nil {
		err = fmt.Errorf("prepare the target: %w", err)
	}
	return errors.Join(err, db.Close())
}

// blankOrOurs refuses a database that holds things of others.
func blankOrOurs(ctx context.Context, db *sqldb.DB) error {
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
	source *sqldb.DB // one state of it
	target *pgx.Conn
	tables []table
}

func (c *copier) run(ctx context.Context) (Report, error) {
	if err := c.alone(ctx); err != nil {
		return Report{}, err
	}
	var err error
	if c.tables, err = c.plan(ctx); err != nil {
		return Report{}, err
	}
	identity, err := c.identity(ctx)
	if err != nil {
		return Report{}, err
	}
	report, err := c.begin(ctx, identity)
	if err != nil || report.Before {
		return report, err
	}
	for _, t := range c.tables {
		if err := c.copyTable(ctx, t); err != nil {
			return report, fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	if report.Tables, err = c.verify(ctx); err != nil {
		return report, err
	}
	report.EndedAt, err = c.end(ctx, report.Tables)
	return report, err
}

// alone makes sure that no other process copies into the target.
func (c *copier) alone(ctx context.Context) error {
	var free bool
	if err := c.target.QueryRow(ctx, `SELECT pg_try_advisory_lock(1885430635, 1668247673)`).Scan(&free); err != nil {
		return fmt.Errorf("lock the target: %w", err)
	}
	if !free {
		return ErrUnderWay
	}
	return nil
}

// quoted returns names as SQL writes them, with commas between.
func quoted(names []string, format string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf(format, `"`+strings.ReplaceAll(n, `"`, `""`)+`"`)
	}
	return strings.Join(list, ", ")
}
