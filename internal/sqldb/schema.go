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

// Processes that start on the same PostgreSQL database migrate it one after another.
const (
	migrationLease     = 6 * time.Second  // after which another process continues if one was killed
	migrationHeartbeat = time.Second      // interval of renewals during a long migration
	migrationRetry     = time.Second / 2  // interval of attempts to get the lease
	migrationWait      = 30 * time.Minute // a migration of a large table may take this long
)

var (
	// ErrNewerSchema means that a newer program has migrated the database.
	ErrNewerSchema = errors.New("the database is newer than this program")
	// ErrOldSchema means that the database is older than the first migration, so that no migration
	// applies to it.
	ErrOldSchema = errors.New("the database was made before the present schema")
)

// CheckSchema returns ErrNewerSchema or ErrOldSchema if this program can neither use the schema of
// the database nor migrate it. It changes nothing.
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
	return checkVersions(applied, versions(p.ListSources()))
}

// Current reports whether the schema is exactly that of this program. It changes nothing.
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
	if err := checkVersions(applied, known); err != nil {
		return false, err
	}
	return len(missingVersions(applied, known)) == 0, nil
}

// applied returns the versions of the migrations applied to the database, in order; none if it is
// new.
func (db *DB) applied(ctx context.Context, pool *sql.DB) ([]int64, error) {
	begun := `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'schema_migration')`
	if db.dialect == Postgres {
		begun = `SELECT to_regclass('schema_migration') IS NOT NULL`
	}
	var any bool
	if err := pool.QueryRowContext(ctx, begun).Scan(&any); err != nil {
		return nil, fmt.Errorf("find the schema's version: %w", err)
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

// versions returns the versions of migrations, in order.
func versions(sources []*goose.Source) []int64 {
	out := make([]int64, len(sources))
	for i, s := range sources {
		out[i] = s.Version
	}
	slices.Sort(out)
	return out
}

// missingVersions returns the wanted versions that are not in have.
func missingVersions(have, wanted []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(wanted), func(v int64) bool {
		_, found := slices.BinarySearch(have, v)
		return found
	})
}

// checkVersions returns an error for a database with migrations that are unknown to this program:
// its writes might not be valid for the newer program, and the tables of an old schema are
// different ones.
func checkVersions(applied, known []int64) error {
	unknown := missingVersions(known, applied)
	if len(unknown) == 0 {
		return nil
	}
	if unknown[0] < known[0] {
		return fmt.Errorf("%w, by an earlier version of Packetboat, and cannot be upgraded: start this program with an empty database", ErrOldSchema)
	}
	return fmt.Errorf("%w: its schema has version %d, and the newest that this program knows is %d; start the newer program, or restore a backup from before the upgrade",
		ErrNewerSchema, slices.Max(unknown), slices.Max(known))
}
