//go:build linux || darwin

package sqldb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/filelock"
)

func openFile(t *testing.T, path string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestOnlyTheOwnerMayReadADatabase(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(dir, "packetboat.db")
	private := func(when string) {
		t.Helper()
		for _, path := range []string{file, file + "-wal", file + "-shm"} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s has mode %o, want 600", when, filepath.Base(path), info.Mode().Perm())
			}
		}
	}
	db := openFile(t, file)
	scratch(t, db)
	private("a new database")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the new directory: %v, %v; want mode 700", info.Mode(), err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} { // as created by earlier versions
		if err := os.Chmod(file+suffix, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	openFile(t, file)
	private("a database of an earlier version")
}

func TestOneProcessServesAFileWhateverItsName(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	file, soft, softDir, hard := filepath.Join(dir, "p.db"), filepath.Join(elsewhere, "soft.db"), filepath.Join(elsewhere, "dir"), filepath.Join(elsewhere, "p.db")
	first := openFile(t, file)
	if _, err := first.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	scratch(t, first)
	if err := errors.Join(os.Symlink(file, soft), os.Symlink(dir, softDir), os.Link(file, hard)); err != nil {
		t.Fatal(err)
	}
	stop, err := first.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Closing any descriptor of the file ends classic fcntl locks.
	if f, err := os.Open(file); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, soft, filepath.Join(softDir, "p.db")} {
		second := openFile(t, name) // a command while another process serves
		if _, err := second.Exec(t.Context(), `INSERT INTO scratch (tenant_id, id) VALUES ($1, 'a')`, name); err != nil {
			t.Errorf("a command that opened %s: %v", name, err)
		}
		if _, err := second.Serve(t.Context()); !errors.Is(err, filelock.ErrServed) {
			t.Errorf("a second server that opened %s: %v, want ErrServed", name, err)
		}
	}
	if _, err := sqldb.Open(t.Context(), "sqlite:"+hard, sqldb.Options{}); !errors.Is(err, filelock.ErrOtherName) {
		t.Errorf("opened by a hard link: %v, want ErrOtherName", err)
	}
	var n int
	if err := first.QueryRow(t.Context(), `/* all tenants: a test */ SELECT COUNT(*) FROM scratch`).Scan(&n); err != nil || n != 3 {
		t.Errorf("the first one reads %d rows, %v; want 3", n, err)
	}
	stop.Stop()
	again, err := openFile(t, soft).Serve(t.Context())
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	again.Stop()
}

func TestAHardLinkCanBeUsedAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, hard := filepath.Join(dir, "p.db"), filepath.Join(dir, "q.db")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Link(file, hard)); err != nil {
		t.Fatal(err)
	}
	db := openFile(t, hard)
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop, err := db.Serve(t.Context())
	if err != nil {
		t.Fatalf("while no other process has the file open: %v", err)
	}
	defer stop.Stop()
	if _, err := sqldb.Open(t.Context(), "sqlite:"+file, sqldb.Options{}); !errors.Is(err, filelock.ErrOtherName) || !strings.Contains(err.Error(), file) {
		t.Errorf("the first name while the second is in use: %v, want ErrOtherName", err)
	}
}
