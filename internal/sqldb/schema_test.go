package sqldb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var own string
		if err := db.QueryRow(t.Context(), `SELECT CAST(MAX(version_id) AS TEXT) FROM schema_migration`).Scan(&own); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO schema_migration (version_id, is_applied) VALUES (20990101000000, $1)`, true); err != nil {
			t.Fatal(err)
		}
		// A migration of this program is pending, and must not run.
		if _, err := db.Exec(t.Context(), `DELETE FROM schema_migration WHERE version_id = CAST($1 AS BIGINT)`, own); err != nil {
			t.Fatal(err)
		}
		ran, err := db.Migrate(t.Context())
		if !errors.Is(err, sqldb.ErrNewerSchema) || ran != 0 || !strings.Contains(err.Error(), "20990101000000") || !strings.Contains(err.Error(), own) {
			t.Errorf("Migrate = %d, %v; want it refused, with 20990101000000 and %s named", ran, err, own)
		}
	})
}
