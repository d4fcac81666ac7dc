package sqldb_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestServerSaysHowTextsAreSorted(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{dbtest.BlankPostgres(t): true, dbtest.LanguagePostgres(t): false} {
		info, err := openAddress(t, address).Server(t.Context())
		if err != nil || info.ByBytes != want {
			t.Errorf("texts are sorted as bytes: %v, %v, want %v", info.ByBytes, err, want)
		}
	}
}
