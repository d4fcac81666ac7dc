package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestADatabaseKeepsItsSecretKey(t *testing.T) {
	t.Parallel()
	box := func(fill byte) *secret.Box {
		b, err := secret.NewBox(bytes.Repeat([]byte{fill}, secret.KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for range 2 {
			if err := sameKey(t.Context(), db, box(1)); err != nil {
				t.Errorf("its own key: %v", err)
			}
		}
		if err := sameKey(t.Context(), db, box(2)); err == nil || !strings.Contains(err.Error(), "secret.key") {
			t.Errorf("another key: %v; want a refusal that names secret.key", err)
		}
	})
}
