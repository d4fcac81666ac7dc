package sqldb_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// damaged returns the file of a database whose bytes were changed.
func damaged(t *testing.T, change func(b []byte) []byte) string {
	t.Helper()
	db := dbtest.SQLite(t)
	file := filepath.Join(t.TempDir(), "damaged.db")
	if _, err := db.Exec(t.Context(), `VACUUM INTO $1`, file); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestADamagedFileIsNamedWithWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"text", func([]byte) []byte { return bytes.Repeat([]byte("a shopping list\n"), 400) }, "it is no SQLite database"},
		{"header", func(b []byte) []byte { copy(b, "xxxx"); return b }, "it is no SQLite database"},
		{"first page", func(b []byte) []byte { clear(b[100:4096]); return b }, "it is damaged"},
	} {
		file := damaged(t, tt.change)
		db, err := sqldb.Open(t.Context(), "sqlite:"+file, sqldb.Options{})
		if err == nil {
			_, err = db.Schema(t.Context())
			err = errors.Join(db.Describe(err), db.Close())
		}
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "pragma") {
			t.Errorf("%s: %v; want the file named and %q", tt.name, err, tt.want)
		}
	}
}

func TestErrorsOfAStatementAreNotAboutTheFile(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	for _, err := range []error{nil, errors.New("no"), sqlite3.CONSTRAINT, sqlite3.BUSY} {
		if got := db.Describe(err); !errors.Is(got, err) || got != nil && strings.Contains(got.Error(), db.File()) {
			t.Errorf("Describe(%v) = %v", err, got)
		}
	}
	if got := db.Describe(sqlite3.FULL); !errors.Is(got, sqlite3.FULL) || !strings.Contains(got.Error(), db.File()) {
		t.Errorf("a full disk: %v", got)
	}
}

func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(b []byte) []byte
		found  bool
	}{
		"none":      {func(b []byte) []byte { return b }, false},
		"a page":    {func(b []byte) []byte { clear(b[len(b)/2&^4095:][:4096]); return b }, true},
		"cut off":   {func(b []byte) []byte { return b[:len(b)/2&^4095] }, true},
		"last page": {func(b []byte) []byte { copy(b[len(b)-4096:], bytes.Repeat([]byte{0xff}, 4096)); return b }, true},
	} {
		db, err := sqldb.Open(t.Context(), "sqlite:"+damaged(t, tt.change), sqldb.Options{})
		if err != nil {
			if !tt.found || !strings.Contains(err.Error(), "it is damaged") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		damage, err := db.QuickCheck(t.Context())
		if err != nil || len(damage) > 0 != tt.found {
			t.Errorf("%s: found %q, %v", name, damage, err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
