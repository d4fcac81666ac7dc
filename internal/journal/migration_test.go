package journal_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

// older turns the journal into what a program left behind that gave places later.
var older = map[sqldb.Dialect][]string{
	sqldb.SQLite: {
		`ALTER TABLE journal ADD COLUMN appended BIGINT`,
		`CREATE INDEX journal_unplaced ON journal (id) WHERE pos IS NULL`,
	},
	sqldb.Postgres: {
		`ALTER TABLE journal ALTER COLUMN pos DROP NOT NULL, ALTER COLUMN pos DROP DEFAULT, ADD COLUMN appended BIGINT`,
		`DROP SEQUENCE journal_place`,
		`CREATE SEQUENCE journal_appended`,
		`ALTER TABLE journal ALTER COLUMN appended SET DEFAULT nextval('journal_appended')`,
		`CREATE INDEX journal_unplaced ON journal (appended NULLS FIRST) WHERE pos IS NULL`,
	},
}

// Entries that wait for a place when the program is replaced get one behind all
// others: first those that have no number, by their ids, then by their numbers.
func TestEntriesThatWaitForAPlaceGetOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withSeen(t, db)
		exec := func(statements ...string) {
			t.Helper()
			for _, s := range statements {
				if _, err := db.Exec(t.Context(), s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
		}
		exec(older[db.Dialect()]...)
		exec(`INSERT INTO journal_cursor (follower, pos) VALUES ('sequencer', 2), ('f', 1)`,
			`INSERT INTO journal (tenant_id, id, pos, appended, type, occurred_at, data) VALUES
				('t', 'g', 1, 1, 'email_sent', 0, '{}'), ('t', 'f', 2, 2, 'email_sent', 0, '{}'),
				('t', 'a', NULL, 4, 'email_sent', 0, '{}'), ('t', 'b', NULL, 3, 'email_sent', 0, '{}'),
				('t', 'd', NULL, NULL, 'email_sent', 0, '{}'), ('u', 'c', NULL, NULL, 'email_sent', 0, '{}')`)
		files, err := fs.Glob(sqldb.Migrations(), "migrations/*_journal_once."+db.Dialect().String()+".sql")
		if err != nil || len(files) != 1 {
			t.Fatalf("the migration is in %q, %v", files, err)
		}
		text, err := fs.ReadFile(sqldb.Migrations(), files[0])
		if err != nil {
			t.Fatal(err)
		}
		err = db.InTx(t.Context(), func(tx *sqldb.DB) error {
			for s := range strings.SplitSeq(strings.TrimSpace(string(text)), ";\n") {
				if _, err := tx.Exec(t.Context(), strings.TrimSuffix(s, ";")); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.Append(t.Context(), db, journal.Entry{Tenant: "t", ID: "e", Type: journal.EmailSent, At: noon}); err != nil {
			t.Fatal(err)
		}
		e := &journal.Engine{DB: db, Followers: []journal.Follower{witness("f")}}
		if err := e.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := seen(t, db, "f"), []string{"f", "c", "d", "b", "a", "e"}; !slices.Equal(got, want) {
			t.Errorf("seen %v, want %v", got, want)
		}
		if lag, err := journal.Lag(t.Context(), db); err != nil || lag != 0 {
			t.Errorf("Lag = %d, %v; want 0", lag, err)
		}
	})
}
