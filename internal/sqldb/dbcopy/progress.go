package dbcopy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// The progress is stored in a table of the target that only a copy creates. The row without a name
// is that of the copy itself. place is the key of the last row that was copied.
const progressTable = `
	CREATE TABLE IF NOT EXISTS database_copy (
		name     TEXT    NOT NULL PRIMARY KEY,
		source   TEXT    NOT NULL,
		place    TEXT,
		copied   BIGINT  NOT NULL,
		ended    BOOLEAN NOT NULL,
		checksum TEXT,
		at       BIGINT  NOT NULL
	)`

// Unfinished returns ErrUnfinished if a copy into the database is not finished.
func Unfinished(ctx context.Context, db *sqldb.DB) error {
	if db.Dialect() != sqldb.Postgres {
		return nil
	}
	var begun, open bool
	err := db.QueryRow(ctx, `SELECT to_regclass('database_copy') IS NOT NULL`).Scan(&begun)
	if err == nil && begun {
		err = db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM database_copy WHERE name = '' AND NOT ended)`).Scan(&open)
	}
	if err != nil {
		return fmt.Errorf("check for an unfinished copy: %w", err)
	}
	if open {
		return ErrUnfinished
	}
	return nil
}

// identity returns a hash that distinguishes the source from other installations: of its secret
// key, its first tenant and its first user.
func (c *copier) identity(ctx context.Context) (string, error) {
	h := sha256.New()
	for _, query := range []string{
		`SELECT fingerprint FROM secret_key WHERE name = 'main'`,
		`SELECT tenant_id || ' ' || site_key || ' ' || created_at FROM tenant ORDER BY tenant_id LIMIT 1`,
		`SELECT hex(id) || ' ' || created_at FROM app_user ORDER BY id LIMIT 1`,
	} {
		var text string
		err := c.source.QueryRow(ctx, query).Scan(&text)
		if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
			return "", fmt.Errorf("identify the source: %w", err)
		}
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// begin begins a copy of the source into the target, or continues one.
func (c *copier) begin(ctx context.Context, identity string) (Report, error) {
	var r Report
	err := pgx.BeginFunc(ctx, c.target, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, progressTable); err != nil {
			return fmt.Errorf("begin the copy: %w", err)
		}
		var source string
		var at int64
		err := tx.QueryRow(ctx, `SELECT source, ended, at FROM database_copy WHERE name = ''`).Scan(&source, &r.AlreadyDone, &at)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return c.beginEmpty(ctx, tx, identity)
		case err != nil:
			return fmt.Errorf("load the progress of the copy: %w", err)
		case source != identity:
			return fmt.Errorf("%w: it contains a copy of another installation", ErrNotEmpty)
		case !r.AlreadyDone:
			r.Resumed = true
			return nil
		}
		r.EndedAt = sqldb.Time(at)
		r.Tables, err = c.loadTables(ctx, tx)
		return err
	})
	return r, err
}

// beginEmpty begins the copy into a target that has only its schema. The key that a migration has
// stored there may exist: it is the same as the source's.
func (c *copier) beginEmpty(ctx context.Context, tx pgx.Tx, identity string) error {
	var mine string
	if err := c.source.QueryRow(ctx, `SELECT COALESCE((SELECT fingerprint FROM secret_key WHERE name = 'main'), '')`).Scan(&mine); err != nil {
		return fmt.Errorf("read the source's key: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM secret_key WHERE name = 'main' AND fingerprint = $1`, mine); err != nil {
		return fmt.Errorf("begin the copy: %w", err)
	}
	for _, t := range c.tables {
		var filled bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+quoted([]string{t.name}, "%s")+`)`).Scan(&filled); err != nil {
			return fmt.Errorf("check whether the target is empty: %w", err)
		}
		if filled {
			return fmt.Errorf("%w: its table %s has rows", ErrNotEmpty, t.name)
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO database_copy (name, source, copied, ended, at) VALUES ('', $1, 0, FALSE, $2)`, identity, time.Now().UnixMicro())
	if err != nil {
		return fmt.Errorf("begin the copy: %w", err)
	}
	return nil
}

// tableProgress is the progress of one table.
type tableProgress struct {
	place  string // empty: no row yet
	copied int64
	ended  bool
}

func (c *copier) loadProgress(ctx context.Context, t table) (tableProgress, error) {
	var s tableProgress
	err := c.target.QueryRow(ctx, `SELECT COALESCE(place, ''), copied, ended FROM database_copy WHERE name = $1`, t.name).Scan(&s.place, &s.copied, &s.ended)
	if errors.Is(err, pgx.ErrNoRows) {
		return tableProgress{}, nil
	}
	return s, err
}

func saveProgress(ctx context.Context, tx pgx.Tx, t table, s tableProgress) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO database_copy (name, source, place, copied, ended, at) VALUES ($1, '', $2, $3, $4, $5)
		ON CONFLICT (name) DO UPDATE SET place = excluded.place, copied = excluded.copied, ended = excluded.ended, at = excluded.at`,
		t.name, s.place, s.copied, s.ended, time.Now().UnixMicro())
	return err
}

// finish marks the copy as finished, so that the target can be used.
func (c *copier) finish(ctx context.Context, tables []Table) (time.Time, error) {
	if err := c.analyze(ctx, tables); err != nil {
		return time.Time{}, err
	}
	now := time.Now().Truncate(time.Microsecond)
	err := pgx.BeginFunc(ctx, c.target, func(tx pgx.Tx) error {
		// Rows were copied with their numbers. A sequence that begins at 1 again would give new entries of the
		// journal positions before the cursors of all followers.
		if err := c.sequences(ctx, tx); err != nil {
			return err
		}
		for _, t := range tables {
			if _, err := tx.Exec(ctx, `UPDATE database_copy SET copied = $2, checksum = $3, place = NULL WHERE name = $1`, t.Name, t.Rows, t.Checksum); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `UPDATE database_copy SET ended = TRUE, at = $1 WHERE name = ''`, now.UnixMicro())
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("finish the copy: %w", err)
	}
	return now, nil
}

// analyze analyzes tables that have more than a few rows; the others have statistics from the
// migration.
func (c *copier) analyze(ctx context.Context, tables []Table) error {
	for _, t := range tables {
		if t.Rows <= 1000 {
			continue
		}
		if _, err := c.target.Exec(ctx, `ANALYZE `+quoted([]string{t.Name}, "%s")); err != nil {
			return fmt.Errorf("analyze table %s: %w", t.Name, err)
		}
	}
	return nil
}

// sequences sets each sequence to continue after the highest number of its column.
func (c *copier) sequences(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		SELECT s.oid::regclass::text, d.refobjid::regclass::text, quote_ident(a.attname)
		FROM pg_class AS s JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid
			AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
		JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
		WHERE s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return err
	}
	owned, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (names [3]string, err error) {
		err = row.Scan(&names[0], &names[1], &names[2])
		return names, err
	})
	if err != nil {
		return err
	}
	for _, o := range owned { // names quoted by PostgreSQL
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SELECT setval('%s', m.top) FROM (SELECT MAX(%s) AS top FROM %s) AS m WHERE m.top > 0`, o[0], o[2], o[1])); err != nil {
			return fmt.Errorf("set sequence %s: %w", o[0], err)
		}
	}
	return nil
}

// loadTables returns the results of a finished copy.
func (c *copier) loadTables(ctx context.Context, tx pgx.Tx) ([]Table, error) {
	rows, err := tx.Query(ctx, `SELECT name, copied, COALESCE(checksum, '') FROM database_copy WHERE name <> '' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Table, err error) {
		err = row.Scan(&t.Name, &t.Rows, &t.Checksum)
		return t, err
	})
}
