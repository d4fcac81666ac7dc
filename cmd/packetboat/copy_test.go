package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbcopy"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestAnInstallationMovesToPostgreSQL(t *testing.T) {
	t.Parallel()
	data, target := t.TempDir(), dbtest.BlankPostgres(t)
	old := program{t, []string{"--database-url=sqlite:old.db", "--data-dir=" + data}}
	old.ok("tenant", "create", "--slug=acme", "--name=Acme", "--timezone=UTC")
	old.ok("tenant", "create", "--slug=beta", "--name=Beta", "--timezone=UTC")
	made := old.json("apikey", "create", "--tenant=acme", "--name=sync", "--scopes=lists:read")

	done := old.json("copy", "--from=sqlite:old.db", "--to="+target)
	if rows, _ := done["rows"].(float64); done["status"] != "copied" || rows < 10 || len(done["tables"].([]any)) < 50 {
		t.Errorf("copy shows %v", done)
	}
	again := old.run("", "copy", "--from=sqlite:old.db", "--to="+target)
	if again.status != 0 || !strings.Contains(again.out, "nothing to do") {
		t.Errorf("the same copy again = %+v", again)
	}
	moved := program{t, []string{"--database-url=" + target, "--data-dir=" + data}}
	if rows := moved.json("tenant", "list")["data"].([]any); len(rows) != 2 || rows[0].(map[string]any)["slug"] != "acme" {
		t.Errorf("the target has the tenants %v", rows)
	}
	if rows := moved.json("apikey", "list", "--tenant=acme")["data"].([]any); len(rows) != 1 || rows[0].(map[string]any)["id"] != made["id"] {
		t.Errorf("the target has the keys %v", rows)
	}
	moved.ok("tenant", "create", "--slug=gamma", "--name=Gamma", "--timezone=UTC")
}

func TestWhatIsNotCopied(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := program{t, []string{"--database-url=sqlite:old.db", "--data-dir=" + data}}
	p.ok("tenant", "create", "--slug=acme", "--name=Acme", "--timezone=UTC")
	served, err := sqldb.Open(t.Context(), "sqlite:"+filepath.Join(data, "old.db"), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	blank := dbtest.BlankPostgres(t)
	args := func(more ...string) []string { return append([]string{"copy"}, more...) }
	from, to := "--from=sqlite:old.db", "--to="+blank
	elsewhere := program{t, []string{"--data-dir=" + t.TempDir()}}
	refused := func(what string, p program, status int, says string, args ...string) {
		t.Helper()
		if o := p.run("", args...); o.status != status || o.out != "" || !strings.Contains(o.err, says) {
			t.Errorf("%s = %+v, want status %d and %q", what, o, status, says)
		}
	}
	refused("no source", p, exitUsage, "--from", args(to)...)
	refused("a source that is none", p, exitUsage, "--from", args("--from="+blank, to)...)
	refused("a target that is none", p, exitUsage, "--to", args(from, "--to=sqlite:new.db")...)
	refused("a source that is not there", p, exitFailure, "no such file", args("--from=sqlite:none.db", to)...)
	if _, err := os.Stat(filepath.Join(data, "none.db")); err == nil {
		t.Error("the source that was not there was made")
	}
	refused("no key", elsewhere, exitFailure, "there is no secret.key", args("--from=sqlite:"+filepath.Join(data, "old.db"), to)...)
	elsewhere.ok("tenant", "list") // makes a key
	refused("another key", elsewhere, exitFailure, "the secret key is not the one", args("--from=sqlite:"+filepath.Join(data, "old.db"), to)...)

	serving, err := served.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused("a source that is served", p, exitFailure, "a process serves the database", args(from, to)...)
	serving.Stop()

	db, err := sqldb.Open(t.Context(), blank, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var untouched bool
	if err := db.QueryRow(t.Context(), `SELECT NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace)`).Scan(&untouched); err != nil || !untouched {
		t.Errorf("what was refused left the target untouched: %t, %v", untouched, err)
	}
	if _, err := db.Exec(t.Context(), `CREATE TABLE theirs (x INTEGER)`); err != nil {
		t.Fatal(err)
	}
	refused("a target of others", p, exitFailure, dbcopy.ErrNotEmpty.Error(), args(from, to)...)
	if _, err := db.Exec(t.Context(), `DROP TABLE theirs`); err != nil {
		t.Fatal(err)
	}

	p.ok(args(from, to)...)
	if _, err := db.Exec(t.Context(), `UPDATE database_copy SET ended = FALSE WHERE name = ''`); err != nil {
		t.Fatal(err)
	}
	target := program{t, []string{"--database-url=" + blank, "--data-dir=" + data, "--listen=127.0.0.1:0", "--admin-listen=off"}}
	for _, args := range opening {
		refused(strings.Join(args, " ")+" on a target that is not finished", target, exitFailure, dbcopy.ErrUnfinished.Error(), args...)
	}
}
