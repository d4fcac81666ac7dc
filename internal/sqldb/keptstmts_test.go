package sqldb_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Statements of evaluations are kept on SQLite: also more of them than a connection keeps, long ones, one that is
// used by another query, and one that was ended.
func TestStatementsOfEvaluationsAreUsedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for range 3 {
			err := db.Evaluate(t.Context(), "a", func(ctx context.Context, db *sqldb.DB) error {
				for i := range 120 {
					text := fmt.Sprintf(`SELECT CAST($1 AS BIGINT) + %d`, i/2)
					if i%40 == 7 {
						text += strings.Repeat(" ", 100_000)
					}
					var got int
					if err := db.QueryRow(ctx, text, i).Scan(&got); err != nil || got != i+i/2 {
						t.Errorf("statement %d: %d, %v", i, got, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			ended, end := context.WithCancel(t.Context())
			err = db.Evaluate(ended, "a", func(ctx context.Context, db *sqldb.DB) error {
				end()
				var n int
				return db.QueryRow(ctx, endless(db)).Scan(&n)
			})
			if err == nil {
				t.Error("a statement went on after its context ended")
			}
		}
		if db.Dialect() != sqldb.SQLite { // where a connection has one query at a time
			return
		}
		err := db.Evaluate(t.Context(), "a", func(ctx context.Context, db *sqldb.DB) error {
			pairs := ""
			read := func(do func(n string)) {
				rows, err := db.Query(ctx, `SELECT column1 FROM (VALUES ('a'), ('b'))`)
				err = sqldb.Each(rows, err, func(scan func(...any) error) error {
					var n string
					err := scan(&n)
					do(n)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			read(func(a string) { read(func(b string) { pairs += a + b + " " }) })
			if pairs != "aa ab ba bb " {
				t.Errorf("two queries with the same text read %q", pairs)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
