package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// Processes that start on one PostgreSQL database take turns at migrating it.
const (
	turnLease = 6 * time.Second  // for so long a process that was killed keeps its turn
	turnBeat  = time.Second      // between renewals, beside a migration that takes long
	turnRetry = time.Second / 2  // between looks whether the turn is free
	turnWait  = 30 * time.Minute // a large table may take a migration so long
)

var (
	// ErrNewerSchema says that a newer program has migrated the database.
	ErrNewerSchema = errors.New("the database is newer than this program")
	// ErrFormerSchema says that the database was made before the schema that the
	// migrations begin with; none of them leads from there to here.
	ErrFormerSchema = errors.New("the database was made before the present schema")
)

// CheckSchema refuses a database whose schema this program can neither use nor bring
// up to date: with ErrNewerSchema or ErrFormerSchema. It changes nothing.
func (db *DB) CheckSchema(ctx context.Context) error {
	p, pool, done, err := db.provider(ctx)
	if err != nil {
		return err
	}
	defer done()
	applied, err := db.applied(ctx, pool)
	if err != nil {
		return err
	}
	return usable(applied, versions(p.ListSources()))
}

// Current reports whether the schema is exactly the one of this program. It changes
// nothing.
func (db *DB) Current(ctx context.Context) (bool, error) {
	p, pool, done, err := db.provider(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	applied, err := db.applied(ctx, pool)
	if err != nil {
		return false, err
	}
	known := versions(p.ListSources())
	if err := usable(applied, known); err != nil {
		return false, err
	}
	return len(missing(applied, known)) == 0, nil
}

// applied returns the versions of the migrations that the database has had, in
// order; none when it is new.
func (db *DB) applied(ctx context.Context, pool *sql.DB) ([]int64, error) {
	begun := `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'schema_migration')`
	if db.dialect == Postgres {
		begun = `SELECT to_regclass('schema_migration') IS NOT NULL`
	}
	var any bool
	if err := pool.QueryRowContext(ctx, begun).Scan(&any); err != nil {
		return nil, fmt.Errorf("look for the schema's version: %w", err)
	}
	if !any {
		return nil, nil
	}
	var list sql.NullString
	joined := `SELECT group_concat(version_id) FROM schema_migration WHERE version_id > 0`
	if db.dialect == Postgres {
		joined = `SELECT string_agg(version_id::text, ',') FROM schema_migration WHERE version_id > 0`
	}
	if err := pool.QueryRowContext(ctx, joined).Scan(&list); err != nil {
		return nil, fmt.Errorf("read the schema's version: %w", err)
	}
	var out []int64
	for text := range strings.FieldsFuncSeq(list.String, func(r rune) bool { return r == ',' }) {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the schema's version: %w", err)
		}
		out = append(out, v)
	}
	slices.Sort(out)
	return out, nil
}

// versions returns those of migrations, in order.
func versions(sources []*goose.Source) []int64 {
	out := make([]int64, len(sources))
	for i, s := range sources {
		out[i] = s.Version
	}
	slices.Sort(out)
	return out
}

// missing returns which of the wanted versions are not there.
func missing(there, wanted []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(wanted), func(v int64) bool {
		_, found := slices.BinarySearch(there, v)
		return found
	})
}

// usable refuses a database with migrations that this program does not know: what it
// writes might not be what the newer program expects, and the tables of a former
// schema are not those that it reads.
func usable(applied, known []int64) error {
	unknown := missing(known, applied)
	if len(unknown) == 0 {
		return nil
	}
	if unknown[0] < known[0] {
		return fmt.Errorf("%w, by an earlier version of Packetboat, and cannot be upgraded: start this program with an empty database", ErrFormerSchema)
	}
	return fmt.Errorf("%w: its schema has version %d, and the newest that this program knows is %d; start the newer program, or restore a backup from before the upgrade",
		ErrNewerSchema, slices.Max(unknown), slices.Max(known))
}
