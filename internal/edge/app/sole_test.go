package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestOneProcessServesAnSQLiteDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "packetboat.db"), filepath.Join(dir, "link.db")
	open := func(path string) *sqldb.DB {
		db, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	first := open(file)
	if _, err := first.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	serving, err := first.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		if _, err := open(name).Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "another process already serves") {
			t.Errorf("a second server of %s: %v, want it refused", name, err)
		}
	}
	if info, err := os.Stat(file + ".serving"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock file: %v, %v; want mode 600", info, err)
	}
	serving.Stop()
	second := open(link)
	if serving, err = second.Serve(t.Context()); err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	serving.Stop()
}

func TestAnyNumberServesPostgres(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	for range 2 {
		if _, err := db.Serve(t.Context()); err != nil {
			t.Errorf("PostgreSQL: %v, want no lock", err)
		}
	}
}
