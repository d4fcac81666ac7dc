package contact_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// stretchWaiting lets those who wait for the index one by one wait as a stretch.
func stretchWaiting(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO contact_search_range (tenant_id, first_id, last_id, contacts)
			SELECT `+tx.Param(1, "INTEGER")+`, (SELECT contact_id FROM contact_search_queue WHERE tenant_id = $1 ORDER BY contact_id LIMIT 1),
				(SELECT contact_id FROM contact_search_queue WHERE tenant_id = $1 ORDER BY contact_id DESC LIMIT 1), n
			FROM (SELECT COUNT(*) AS n FROM contact_search_queue WHERE tenant_id = $1) AS f WHERE n > 0
			ON CONFLICT (tenant_id, first_id) DO UPDATE SET last_id = excluded.last_id WHERE contact_search_range.last_id < excluded.last_id`, tenant)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM contact_search_queue WHERE tenant_id = $1 /* reads the tenant: all of it */`, tenant)
		return err
	})
}

func TestImportedContactsAreFoundBeforeAndAfterIndexing(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		waiting := func(table string) (n int) {
			t.Helper()
			if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, acme).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		save := func(tenant id.Tenant, from, n int, now time.Time) []contact.Outcome {
			t.Helper()
			drafts := make([]contact.Draft, n)
			for i := range drafts {
				drafts[i] = contact.Draft{Email: fmt.Sprintf("c%d@example.org", from+i), Change: contact.Change{Texts: texts("first_name", fmt.Sprintf("number%d", (from+i)%10))}}
			}
			list, err := contact.SaveAll(ctx, db, tenant, drafts, rules, now)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		counts := func(when string, want map[string]int) {
			t.Helper()
			for search, want := range want {
				if n, err := contact.Count(ctx, db, acme, contact.Selector{Search: search}); err != nil || n != want {
					t.Errorf("%s: Count(%q) = %d, %v; want %d", when, search, n, err, want)
				}
			}
		}
		now := time.Now()
		save(other, 0, 300, now)
		first := save(acme, 0, 300, now)
		save(acme, 300, 300, now.Add(time.Millisecond))
		save(acme, 600, 30, now.Add(2*time.Millisecond)) // too few for a stretch
		if s, f := waiting("contact_search_range"), waiting("contact_search_queue"); s != 2 || f != 30 {
			t.Fatalf("%d stretches and %d contacts wait, want 2 and 30", s, f)
		}
		counts("while they wait", map[string]int{"number7": 63, "number7 c5": 11, "example": 630})

		// One is renamed and one is anonymised while they are queued.
		if _, err := contact.Update(ctx, db, acme, first[7].Contact.ID, contact.Change{Texts: texts("first_name", "renamed")}, rules, now); err != nil {
			t.Fatal(err)
		}
		if _, err := contact.Anonymize(ctx, db, acme, []id.Contact{first[17].Contact.ID}, nil, now); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"number7": 61, "number7 c5": 11, "renamed": 1, "example": 629}
		counts("after changes", want)

		young := &contactsearch.Indexer{DB: db, Log: indexer(db).Log, Now: func() time.Time { return now }}
		indexAll(t, young)
		if s := waiting("contact_search_range"); s != 2 {
			t.Errorf("%d stretches wait for more, want 2", s)
		}
		if n := waiting("contact_search_removed"); n != 1 {
			t.Errorf("%d contacts are to be forgotten when their stretch is gone, want 1", n)
		}
		eager := indexer(db)
		eager.MinSegment, eager.MaxSegment = 500, 600
		indexAll(t, eager)
		if s, b := waiting("contact_search_range"), waiting("contact_search_block"); s != 0 || b == 0 {
			t.Errorf("%d stretches wait and %d blocks are in the index", s, b)
		}
		if n := waiting("contact_search_removed"); n != 0 {
			t.Errorf("%d contacts are not forgotten", n)
		}
		counts("in the index", want)

		save(acme, 1000, 300, now.Add(time.Second))
		old := &contactsearch.Indexer{DB: db, Log: indexer(db).Log, Now: func() time.Time { return now.Add(time.Minute) }}
		indexAll(t, old)
		if s, f := waiting("contact_search_range"), waiting("contact_search_queue"); s != 0 || f < 300 {
			t.Errorf("%d stretches and %d contacts wait, want none and 300", s, f)
		}
		counts("after settling", map[string]int{"number7": 91, "renamed": 1, "example": 929})
		indexAll(t, indexer(db))
		if f := waiting("contact_search_queue"); f > 4 {
			t.Errorf("%d contacts still wait", f)
		}
		counts("in the end", map[string]int{"number7": 91, "renamed": 1, "example": 929})
	})
}
