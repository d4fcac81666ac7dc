// Package dbtest provides tests with empty, migrated databases of each dialect.
//
// PostgreSQL is used if PACKETBOAT_TEST_POSTGRES_URL is the address of a server on which databases
// may be created; `make test` starts one. Without it, the tests on PostgreSQL are skipped, or fail
// if CI=true.
package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the admin connection

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ServerVariable is the environment variable with the PostgreSQL server's address.
const ServerVariable = "PACKETBOAT_TEST_POSTGRES_URL"

// Each runs f as subtests sqlite and postgres, each with a database of its own.
// PACKETBOAT_TEST_DIALECT limits it to one of them.
func Each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	EachWith(t, options, f)
}

// EachWith is Each for databases that are opened with options.
func EachWith(t *testing.T, o sqldb.Options, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	for _, d := range []struct {
		name    string
		address func(testing.TB) string
	}{{"sqlite", sqliteAddress}, {"postgres", postgresAddress}} {
		t.Run(d.name, func(t *testing.T) {
			if only := os.Getenv("PACKETBOAT_TEST_DIALECT"); only != "" && only != d.name {
				t.Skip("PACKETBOAT_TEST_DIALECT=" + only)
			}
			address, o := d.address(t), o
			if d.name == "postgres" {
				o.Trace = watchPlans(t)
			}
			f(t, open(t, address, o))
		})
	}
}

// options are those of test databases.
var options = sqldb.Options{MaxConns: 8}

// One returns a database for a test whose result does not depend on the dialect: SQLite, unless
// PACKETBOAT_TEST_DIALECT is postgres.
func One(t testing.TB) *sqldb.DB {
	t.Helper()
	if onPostgres() {
		return Postgres(t)
	}
	return SQLite(t)
}

// OneAddress is One for a test that opens the database itself.
func OneAddress(t testing.TB) string {
	t.Helper()
	if onPostgres() {
		return postgresAddress(t)
	}
	return sqliteAddress(t)
}

func onPostgres() bool { return os.Getenv("PACKETBOAT_TEST_DIALECT") == "postgres" }

// Addresses runs f as subtests with the address of a new database of each dialect, for tests that
// start the program. PACKETBOAT_TEST_DIALECT limits it to one of them.
func Addresses(t *testing.T, f func(t *testing.T, address string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		if only := os.Getenv("PACKETBOAT_TEST_DIALECT"); only != "" && only != "sqlite" {
			t.Skip("PACKETBOAT_TEST_DIALECT=" + only)
		}
		f(t, "sqlite:"+filepath.Join(t.TempDir(), "packetboat.db"))
	})
	t.Run("postgres", func(t *testing.T) { f(t, postgresAddress(t)) })
}

// template returns the file of an empty, migrated SQLite database. The first process that needs it for
// these migrations creates it, below the directory for temporary files.
var template = sync.OnceValues(func() ([]byte, error) {
	texts, err := migrationTexts()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(texts))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("packetboat-dbtest-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, hex.EncodeToString(sum[:12])+".db")
	if b, err := os.ReadFile(file); !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	work, err := os.MkdirTemp(dir, "template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	mine := filepath.Join(work, "template.db")
	db, err := sqldb.Open(context.Background(), "sqlite:"+mine, sqldb.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := db.Migrate(context.Background()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := db.Close(); err != nil { // writes the log into the file
		return nil, err
	}
	if err := os.Rename(mine, file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// SQLite returns an empty, migrated SQLite database.
func SQLite(t testing.TB) *sqldb.DB {
	t.Helper()
	return open(t, sqliteAddress(t), options)
}

func sqliteAddress(t testing.TB) string {
	t.Helper()
	b, err := template()
	if err != nil {
		t.Fatalf("create the SQLite template: %v", err)
	}
	file := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + file
}

// Postgres returns an empty, migrated PostgreSQL database. When the test ends, the plans of its
// statements are checked: see ReadsTenant.
func Postgres(t testing.TB) *sqldb.DB {
	t.Helper()
	o := options
	o.Trace = watchPlans(t)
	return open(t, postgresAddress(t), o)
}

func open(t testing.TB, address string, o sqldb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(context.Background(), address, o)
	if err != nil {
		t.Fatalf("open the test database: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the test database: %v", err)
		}
	})
	return db
}

// BlankPostgres returns the address of a PostgreSQL database without tables.
func BlankPostgres(t testing.TB) string {
	t.Helper()
	admin, server := postgresServer(t)
	return newDatabase(t, admin, server, `TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'`)
}

// LanguagePostgres returns the address of a PostgreSQL database without tables that sorts texts by the rules of
// a language.
func LanguagePostgres(t testing.TB) string {
	t.Helper()
	admin, server := postgresServer(t)
	return newDatabase(t, admin, server, `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'`)
}

func postgresAddress(t testing.TB) string {
	t.Helper()
	admin, server := postgresServer(t)
	nodes, err := CitusNodes(server)
	if err != nil {
		t.Fatal(err)
	}
	if nodes != nil {
		return distributedAddress(t, nodes)
	}
	source, err := postgresTemplate(admin, server)
	if err != nil {
		t.Fatalf("create the PostgreSQL template: %v", err)
	}
	like := `TEMPLATE ` + source
	var version int
	if err := admin.QueryRow(`SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version >= 150000 { // since version 15 the default is wal_log, which is slower
		like += ` STRATEGY file_copy`
	}
	return newDatabase(t, admin, server, like)
}

// postgresServer connects to the server on which tests create databases.
func postgresServer(t testing.TB) (admin *sql.DB, server string) {
	t.Helper()
	if os.Getenv("PACKETBOAT_TEST_DIALECT") == "sqlite" {
		t.Skip("PACKETBOAT_TEST_DIALECT=sqlite")
	}
	server = os.Getenv(ServerVariable)
	if server == "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not set: CI must test PostgreSQL", ServerVariable)
		}
		t.Skipf("%s is not set: PostgreSQL is not tested", ServerVariable)
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	admin.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = admin.Close() })
	return admin, server
}

// newDatabase creates a database that is dropped when the test ends.
func newDatabase(t testing.TB, admin *sql.DB, server, like string) (address string) {
	t.Helper()
	name := "t_" + strings.ReplaceAll(id.NewText(), "-", "")
	if _, err := admin.Exec(`CREATE DATABASE ` + name + ` ` + like); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return databaseAddress(server, name)
}

var templateMu sync.Mutex

// postgresTemplate returns the name of a migrated database to copy.
func postgresTemplate(admin *sql.DB, server string) (string, error) {
	return scriptedTemplate(admin, server, "tmpl_", "")
}

// scriptedTemplate returns the name of a database that was migrated, and on which a script was run.
// It creates it if no test process has done so for these migrations and this script.
func scriptedTemplate(admin *sql.DB, server, prefix, script string) (string, error) {
	templateMu.Lock()
	defer templateMu.Unlock()
	texts, err := migrationTexts()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, sqldb.PostgresStatistics, script)
	fmt.Fprint(sum, texts)
	name := prefix + hex.EncodeToString(sum.Sum(nil))[:24]
	var have bool
	if err := admin.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&have); err != nil || have {
		return name, err
	}
	mine := fmt.Sprintf("%s_%d", name, os.Getpid())
	if _, err := admin.Exec(`CREATE DATABASE ` + mine + ` TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'`); err != nil {
		return "", err
	}
	ctx := context.Background()
	db, err := sqldb.Open(ctx, databaseAddress(server, mine), sqldb.Options{MaxConns: 2})
	if err != nil {
		return "", err
	}
	_, err = db.Migrate(ctx)
	if err == nil && script != "" {
		_, err = db.Exec(ctx, script)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return "", err
	}
	_, err = admin.Exec(`ALTER DATABASE ` + mine + ` RENAME TO ` + name)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "42P04" || pg.Code == "23505") { // another process was first
		_, err = admin.Exec(`DROP DATABASE ` + mine)
	}
	return name, err
}

// migrationTexts returns the texts of all migration files.
func migrationTexts() (string, error) {
	var all strings.Builder
	err := fs.WalkDir(sqldb.Migrations(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(sqldb.Migrations(), path)
		fmt.Fprintf(&all, "%s\n%s\n", path, b)
		return err
	})
	return all.String(), err
}

// DatabaseAddress returns the address of a database on the test server.
func DatabaseAddress(database string) string {
	return databaseAddress(os.Getenv(ServerVariable), database)
}

func databaseAddress(server, database string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // sql.Open has parsed it already
	}
	u.Path = "/" + database
	return u.String()
}
