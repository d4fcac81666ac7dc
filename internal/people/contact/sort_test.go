package contact_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Pages by each sort, in both directions, are the parts of the whole list: with null, with equal values, and also
// after a contact of the last page has changed.
func TestEachSortIsWalkedInPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const people = 9
		ids := make([]id.Contact, people)
		stages := []any{nil, id.New[id.Stage](), id.New[id.Stage]()}
		words := []any{nil, "Aachen", "äaCHEN", "Zürich", "10", "9"}
		set := func(i, by int) { // gives contact i values that are those of others, too
			t.Helper()
			word, at := words[(i+by)%len(words)], any(nil)
			if i%4 > 0 {
				at = sqldb.Micros(noon.Add(time.Duration((i+by)%3) * time.Hour))
			}
			_, err := db.Exec(t.Context(), `
				UPDATE contact SET first_name = $3, last_name = $3, company = $3, title = $3, phone = $3, city = $3, state = $3, country = $3, postal_code = $3,
					source = $3, do_not_contact = $4, prospect_score = $5, customer_score = $5, stage_id = $6, updated_at = $7
				WHERE tenant_id = $1 AND id = $2`,
				acme, ids[i], word, i%2 == 0, float64((i+by)%4)/3-0.5, stages[(i+by)%len(stages)], sqldb.Micros(noon.Add(time.Duration((i+by)%3)*time.Second)))
			if err == nil && i > 0 { // the first has no activity
				_, err = db.Exec(t.Context(), `
					INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at, total_emails_sent, total_emails_opened, total_emails_clicked,
						last_activity_at, last_email_sent_at, last_email_opened_at, last_email_clicked_at, last_page_viewed_at)
					VALUES ($1, $2, 0, $3, $3, $3, $4, $4, $4, $4, $4)
					ON CONFLICT (tenant_id, contact_id) DO UPDATE SET total_emails_sent = excluded.total_emails_sent, last_activity_at = excluded.last_activity_at`,
					acme, ids[i], 9+(i+by)%3, at)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range people {
			ids[i] = mustCreate(t, db, fmt.Sprintf("c%d@example.org", i), contact.Change{}).ID
			set(i, 0)
		}
		walk := func(q contact.Query, between func(page int, last id.Contact)) []id.Contact {
			t.Helper()
			var seen []id.Contact
			for page := range people {
				p, err := contact.List(t.Context(), db, acme, q)
				if err != nil {
					t.Fatalf("%s: %v", q.Sort, err)
				}
				for _, c := range p.Contacts {
					seen = append(seen, c.ID)
				}
				if p.Next == nil {
					return seen
				}
				q.After = p.Next
				between(page, seen[len(seen)-1])
			}
			t.Errorf("sorted by %s, ascending %v: the pages do not end", q.Sort, q.Asc)
			return seen
		}
		for _, name := range contact.Sorts() {
			for _, asc := range []bool{false, true} {
				q := contact.Query{Sort: contact.ParseSort(name), Asc: asc, Limit: 1000}
				whole := walk(q, nil)
				q.Limit = 2
				if diff := cmp.Diff(whole, walk(q, func(int, id.Contact) {})); diff != "" || len(whole) != people {
					t.Errorf("sorted by %s, ascending %v: %d contacts; in pages (-whole +pages):\n%s", name, asc, len(whole), diff)
				}
				changed := map[id.Contact]bool{}
				seen := walk(q, func(page int, last id.Contact) {
					changed[last] = true
					set(slices.Index(ids, last), page+1)
				})
				for _, c := range ids {
					n := 0
					for _, s := range seen {
						if s == c {
							n++
						}
					}
					if n != 1 && !changed[c] {
						t.Errorf("sorted by %s, ascending %v: contact %d is on %d pages while others change", name, asc, slices.Index(ids, c), n)
					}
				}
				for i := range people {
					set(i, 0)
				}
			}
		}
	})
}

// Names are sorted without regard to case and accents, on both databases alike.
func TestNamesAreSortedAsPeopleSort(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		want := []string{"10 Downing", "Ahlberg", "Åkesson", "åkesson", "álvarez", "Zebra", "Zürich", "zusammen", ""}
		for i, name := range []string{"zusammen", "Zürich", "Zebra", "álvarez", "Åkesson", "åkesson", "Ahlberg", "10 Downing", ""} {
			ch := contact.Change{}
			if name != "" {
				ch.Texts = map[contact.Text]*string{contact.LastName: &name}
			}
			mustCreate(t, db, fmt.Sprintf("n%d@example.org", i), ch)
		}
		var got []string
		q := contact.Query{Sort: contact.ParseSort("last_name"), Asc: true, Limit: 2}
		for {
			p, err := contact.List(t.Context(), db, acme, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range p.Contacts {
				got = append(got, optional.Value(c.LastName))
			}
			if q.After = p.Next; q.After == nil {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by last name (-want +got):\n%s", diff)
		}
	})
}
