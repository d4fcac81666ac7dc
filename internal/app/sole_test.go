package app

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOneProcessServesAnSQLiteDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "packetboat.db")
	unlock, err := soleServer(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := soleServer(file); err == nil || !strings.Contains(err.Error(), "another process already serves") {
		t.Errorf("a second server: %v, want to be told of the first", err)
	}
	unlock()
	if unlock, err := soleServer(file); err != nil {
		t.Errorf("after the first has ended: %v", err)
	} else {
		unlock()
	}
	if _, err := soleServer(""); err != nil {
		t.Errorf("PostgreSQL: %v, want no lock", err)
	}
}
