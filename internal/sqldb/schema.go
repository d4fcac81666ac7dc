package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

var (
	// ErrNewerSchema means that a newer program has migrated the database.
	ErrNewerSchema = errors.New("the database is newer than this program")
	// ErrOldSchema means that the database is older than the first migration, so that no migration
	// applies to it.
	ErrOldSchema = errors.New("the database was made before the present schema")
	// ErrMissingMigrations means that Migrate has to be called.
	ErrMissingMigrations = errors.New("the schema of the database is older than this program")
)

// Schema tells which migrations a database has.
type Schema struct {
	Applied []int64 // versions, in order
	Missing []int64 // of this program
}

// New reports whether the database has no migration at all, so that no program can be using it.
func (s Schema) New() bool { return len(s.Applied) == 0 }

// Err returns ErrMissingMigrations if migrations are missing.
func (s Schema) Err() error {
	if len(s.Missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w (migrations missing: %d): make a backup, stop the processes that serve it, and start packetboat serve, or run packetboat migrate",
		ErrMissingMigrations, len(s.Missing))
}

// Schema reads the schema of the database, and changes nothing. The error is ErrNewerSchema or ErrOldSchema if this program
// can neither use the schema nor migrate it.
func (db *DB) Schema(ctx context.Context) (Schema, error) {
	applied, err := db.applied(ctx)
	if err != nil {
		return Schema{}, err
	}
	known, err := db.known()
	if err != nil {
		return Schema{}, err
	}
	return Schema{Applied: applied, Missing: missingVersions(applied, known)}, checkVersions(applied, known)
}

// applied returns the versions of the migrations applied to the database, in order; none if it is
// new.
func (db *DB) applied(ctx context.Context) ([]int64, error) {
	begun := `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'schema_migration')`
	if db.dialect == Postgres {
		begun = `SELECT to_regclass('schema_migration') IS NOT NULL`
	}
	var any bool
	if err := db.pool.QueryRowContext(ctx, begun).Scan(&any); err != nil {
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
	if err := db.pool.QueryRowContext(ctx, joined).Scan(&list); err != nil {
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

// known returns the versions of this program's migrations, in order.
func (db *DB) known() ([]int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name, so by version
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, f := range files {
		if strings.HasSuffix(f, db.othersSuffix()) {
			continue
		}
		v, err := goose.NumericComponent(path.Base(f))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
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
