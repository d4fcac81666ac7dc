package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// opening are the commands that open the database.
var opening = [][]string{
	{"serve"}, {"serve", "--roles=api"}, {"demo"}, {"release"}, {"migrate"},
	{"tenant", "list"}, {"tenant", "create", "--slug=acme", "--name=Acme"},
	{"user", "create", "--email=ann@example.org", "--name=Ann", "--tenant=acme"},
	{"user", "reset-password", "--email=ann@example.org"},
	{"user", "login-link", "--email=ann@example.org"},
	{"recount", "--check"}, {"apikey", "list", "--tenant=acme"}, {"domain", "pause", "--tenant=acme", "--domain=example.org"},
}

func TestADatabaseOfAnotherSchemaIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	former := []string{
		`CREATE TABLE schema_migration (version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL)`,
		`CREATE TABLE contact (id TEXT NOT NULL PRIMARY KEY)`,
		`INSERT INTO schema_migration (version_id, is_applied) VALUES (0, TRUE), (20260101000000, TRUE), (20261120000000, TRUE)`,
		`INSERT INTO contact (id) VALUES ('0190a0a0-0000-7000-8000-000000000001')`,
	}
	newer := []string{`INSERT INTO schema_migration (version_id, is_applied) VALUES (20990101000000, TRUE)`}
	for name, tt := range map[string]struct {
		migrate    bool
		statements []string
		want       string
	}{
		"former": {false, former, "was made before the present schema, by an earlier version of Packetboat, and cannot be upgraded: start this program with an empty database"},
		"newer":  {true, newer, "is newer than this program: its schema has version 20990101000000"},
	} {
		refused := func(t *testing.T, address string) {
			db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 2})
			if err != nil {
				t.Fatal(err)
			}
			if tt.migrate {
				if _, err := db.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range tt.statements {
				if _, err := db.Exec(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			data := t.TempDir()
			p := program{t, []string{"--database-url=" + address, "--data-dir=" + data, "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}}
			before := contents(t, address, data)
			for _, args := range opening {
				o := p.run("", args...)
				if o.status != exitFailure || o.out != "" || strings.Count(o.err, "\n") != 1 || !strings.Contains(o.err, "packetboat: the database "+tt.want) {
					t.Errorf("packetboat %s = %+v, want status 1 and: %s", strings.Join(args, " "), o, tt.want)
				}
			}
			if strings.HasPrefix(address, "sqlite:") {
				args := []string{"copy", "--from=" + address, "--to=postgres://127.0.0.1:1/none"}
				if o := p.run("", args...); o.status != exitFailure || !strings.Contains(o.err, "the source: the database "+tt.want) {
					t.Errorf("packetboat %s = %+v, want status 1 and: %s", strings.Join(args, " "), o, tt.want)
				}
			}
			if after := contents(t, address, data); !maps.Equal(before, after) {
				t.Errorf("%s: the database or the data directory was changed:\n%v\n%v", name, before, after)
			}
		}
		t.Run(name+"/sqlite", func(t *testing.T) {
			t.Parallel()
			refused(t, "sqlite:"+filepath.Join(t.TempDir(), "packetboat.db"))
		})
		t.Run(name+"/postgres", func(t *testing.T) {
			t.Parallel()
			refused(t, dbtest.BlankPostgres(t))
		})
	}
}

func TestACommandDoesNotMigrate(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		data := t.TempDir()
		p := program{t, []string{"--database-url=" + address, "--data-dir=" + data, "--listen=127.0.0.1:0", "--admin-listen=off"}}
		p.ok("tenant", "list") // of a new database, which nobody can be serving
		db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `DELETE FROM schema_migration WHERE version_id = (SELECT MAX(version_id) FROM schema_migration)`); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before := contents(t, address, data)
		for _, args := range opening {
			if slices.Contains([]string{"serve", "demo", "migrate"}, args[0]) {
				continue
			}
			o := p.run("", args...)
			if o.status != exitFailure || o.out != "" || !strings.Contains(o.err, "migrations missing: 1") || !strings.Contains(o.err, "packetboat migrate") {
				t.Errorf("packetboat %s = %+v, want it refused, with packetboat migrate named", strings.Join(args, " "), o)
			}
		}
		if after := contents(t, address, data); !maps.Equal(before, after) {
			t.Errorf("the database or the data directory was changed:\n%v\n%v", before, after)
		}
	})
}

func TestAnEmptiedDatabaseIsNotANewInstallation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(data, "packetboat.db")
	p := program{t, []string{"--data-dir=" + data, "--listen=127.0.0.1:0", "--admin-listen=off"}}
	p.ok("tenant", "create", "--slug=acme", "--name=Acme")
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(file + suffix)
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	for _, args := range opening {
		o := p.run("", args...)
		if o.status != exitFailure || o.out != "" || !strings.Contains(o.err, file) || !strings.Contains(o.err, "restore a backup") {
			t.Errorf("packetboat %s = %+v, want it refused", strings.Join(args, " "), o)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("the file was changed: %v, %v", info, err)
	}
	if err := os.Remove(file); err != nil { // on purpose
		t.Fatal(err)
	}
	p.ok("tenant", "list")
}

// contents returns the bytes of an SQLite database, or what PostgreSQL has changed
// in a database, and the files of the data directory.
func contents(t *testing.T, address, data string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"data": strings.Join(files, " ")}
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all["file"] = string(b)
		return all
	}
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, query := range map[string]string{
		"catalog": `SELECT string_agg(relname || ' ' || relfilenode, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
		"rows":    `SELECT string_agg(t::text, ',') FROM schema_migration AS t`,
	} {
		var text string
		if err := db.QueryRow(t.Context(), query).Scan(&text); err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	return all
}
