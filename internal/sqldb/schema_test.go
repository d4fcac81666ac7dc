package sqldb_test

import (
	"errors"
	"strings"
	"sync"
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

// lockTable is the table of the migration's lease; a trigger stores the duration of each lease.
const lockTable = `
	CREATE TABLE schema_lock (lock_id bigint NOT NULL PRIMARY KEY, locked boolean NOT NULL DEFAULT false, locked_at timestamptz NULL,
		locked_by text NULL, lease_expires_at timestamptz NULL, updated_at timestamptz NULL);
	CREATE TABLE turn (lasts interval);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN INSERT INTO turn VALUES (NEW.lease_expires_at - NEW.updated_at); RETURN NEW; END';
	CREATE TRIGGER note BEFORE INSERT OR UPDATE ON schema_lock FOR EACH ROW WHEN (NEW.locked) EXECUTE FUNCTION note();
	INSERT INTO schema_lock VALUES (4097083626, true, now() - interval '7s', 'killed', now() - interval '1s', now() - interval '7s')`

func TestOneProcessMigratesAtATimeAndADeadOneLosesItsLeaseSoon(t *testing.T) {
	t.Parallel()
	address := dbtest.BlankPostgres(t)
	open := func() *sqldb.DB {
		db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db, other := open(), open()
	for statement := range strings.SplitSeq(lockTable, ";\n") {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	var ran [2]int
	var errs [2]error
	for i, db := range []*sqldb.DB{db, other} {
		all.Go(func() { ran[i], errs[i] = db.Migrate(t.Context()) })
	}
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil || ran[0] != 0 && ran[1] != 0 || ran[0]+ran[1] == 0 {
		t.Errorf("two processes ran %d migrations, %v; want all of them run by one", ran, err)
	}
	var short bool
	if err := db.QueryRow(t.Context(), `SELECT MAX(lasts) <= interval '10s' FROM turn WHERE lasts > interval '0s'`).Scan(&short); err != nil || !short {
		t.Errorf("a lease lasts at most 10 s: %v, %v", short, err)
	}
}
