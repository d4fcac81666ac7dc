package contact_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// indexer makes segments of a few contacts, and merges them.
func indexer(db *sqldb.DB) *contactsearch.Indexer {
	return &contactsearch.Indexer{DB: db, Log: slog.New(slog.DiscardHandler), Now: time.Now, MinSegment: 5, MaxSegment: 20}
}

// indexAll ticks until an indexer finds no more work in a round.
func indexAll(t *testing.T, index *contactsearch.Indexer) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = index.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// segmentSizes returns the numbers of entries of a tenant's segments, in the order of their numbers.
func segmentSizes(t *testing.T, db *sqldb.DB, tenant id.Tenant) []int {
	t.Helper()
	rows, err := db.Query(t.Context(), `
		SELECT SUM(LENGTH(b.contacts)) / 16, MAX(s.entries) FROM contact_search_block b
		JOIN contact_search_segment s ON s.tenant_id = $1 AND s.segment = b.segment
		WHERE b.tenant_id = $1 GROUP BY b.segment ORDER BY b.segment`, tenant)
	sizes, err := sqldb.Collect(rows, err, func(row func(...any) error) (n int, err error) {
		stored := 0
		if err := row(&n, &stored); err != nil {
			return n, err
		}
		if n != stored {
			t.Errorf("a segment of %d contacts is stored as one of %d", n, stored)
		}
		return n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// inIndex reports whether a letter occurs in texts of the index.
func inIndex(t *testing.T, db *sqldb.DB, tenant id.Tenant, letter rune) (found bool) {
	t.Helper()
	mark := binary.AppendUvarint(nil, uint64(letter)) // the first bytes of the postings of a letter of two bytes or more
	rows, err := db.Query(t.Context(), `SELECT postings FROM contact_search_postings WHERE tenant_id = $1`, tenant)
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var b []byte
		err := row(&b)
		found = found || bytes.Contains(b, mark)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// plainly is a text as a search sees it.
func plainly(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s)))
}

// scanned returns those of the tenant's contacts that a search means, by looking
// at each.
func scanned(t *rapid.T, db *sqldb.DB, tenant id.Tenant, search string) []id.Contact {
	page, err := contact.List(t.Context(), db, tenant, contact.Query{Selector: contact.Selector{Statuses: contact.Statuses()}, Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	found := []id.Contact{}
	for _, c := range page.Contacts {
		parts := []string{plainly(c.Email)}
		for _, p := range []*string{c.FirstName, c.LastName, c.FullName, c.Company} {
			if p != nil {
				parts = append(parts, plainly(*p))
			}
		}
		if !slices.ContainsFunc(strings.Fields(plainly(search)), func(word string) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(p, word) })
		}) {
			found = append(found, c.ID)
		}
	}
	slices.SortFunc(found, id.Compare)
	return found
}

func TestIndexedSearchFindsWhatAScanFinds(t *testing.T) {
	t.Parallel()
	names := []string{"Ann", "anna", "José", "Núñez", "100%", "Öl_AG", `back\slash`, "o'Neill", `"quoted"`, "李雷", "x", "zo", "Zoë", "ﬁrm 77", "Anna Maria", "ΣΊΣΥΦΟΣ", "𝒳𝒴𝒵", ""}
	terms := append([]string{"nn", "a", "%", "_", `\`, "%%", "qxyzzy", "example.org", "n a", "jose nunez", "雷", "'", `"`, "firm", "7 7", "@", "σισυφος", "xyz", "c1", "c12 ann", strings.Repeat("ab", 90)}, names...)
	tenants := []id.Tenant{acme, other}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		n, made := 0, map[id.Tenant][]contact.Contact{}
		indexers := []*contactsearch.Indexer{indexer(db), indexer(db)}
		indexers[1].MinSegment, indexers[1].MaxSegment = 2, 50 // which merges in several steps
		drawName := func(rt *rapid.T) *string {
			if s := rapid.SampledFrom(names).Draw(rt, "name"); s != "" {
				return &s
			}
			return nil
		}
		rapid.Check(t, func(rt *rapid.T) {
			ctx := rt.Context()
			tenant := rapid.SampledFrom(tenants).Draw(rt, "tenant")
			var drafts []contact.Draft
			switch rapid.IntRange(0, 9).Draw(rt, "act") {
			case 0, 1:
				for range rapid.IntRange(1, 9).Draw(rt, "created") {
					n++
					drafts = append(drafts, contact.Draft{Email: fmt.Sprintf("c%d@example.org", n), Change: contact.Change{Texts: map[contact.Text]*string{
						"first_name": drawName(rt), "last_name": drawName(rt), "company": drawName(rt),
					}}})
				}
			case 2, 3:
				if list := made[tenant]; len(list) > 0 {
					for range rapid.IntRange(1, 9).Draw(rt, "renamed") {
						c := rapid.SampledFrom(list).Draw(rt, "who")
						drafts = append(drafts, contact.Draft{ID: c.ID, Change: contact.Change{Texts: map[contact.Text]*string{"first_name": drawName(rt)}}})
					}
				}
			case 4:
				if list := made[tenant]; len(list) > 1 {
					if _, err := contact.Anonymize(ctx, db, tenant, []id.Contact{list[len(list)-1].ID}, nil, noon); err != nil {
						rt.Fatal(err)
					}
					made[tenant] = list[:len(list)-1]
				}
			case 5:
				if _, err := db.Exec(ctx, `
					INSERT INTO contact_search_rebuild (tenant_id, through_segment, after_id)
					SELECT tenant_id, MAX(segment), `+db.Param(2, "UUID")+` FROM contact_search_block WHERE tenant_id = $1 GROUP BY tenant_id
					ON CONFLICT DO NOTHING`, tenant, id.Contact{}); err != nil {
					rt.Fatal(err)
				}
			case 6:
				if err := stretchWaiting(ctx, db, tenant); err != nil {
					rt.Fatal(err)
				}
			default:
				index := rapid.SampledFrom(indexers).Draw(rt, "indexer")
				for range rapid.IntRange(1, 5).Draw(rt, "ticks") {
					if _, err := index.Tick(ctx); err != nil {
						rt.Fatal(err)
					}
				}
			}
			outcomes, err := contact.SaveAll(ctx, db, tenant, drafts, rules, noon)
			if err != nil {
				rt.Fatal(err)
			}
			for _, o := range outcomes {
				if o.Err != nil {
					rt.Fatal(o.Err)
				}
				if o.Created {
					made[tenant] = append(made[tenant], o.Contact)
				}
			}
			for range 2 {
				search := rapid.SampledFrom(terms).Draw(rt, "search")
				want := scanned(rt, db, tenant, search)
				q := contact.Query{
					Selector: contact.Selector{Statuses: contact.Statuses(), Search: search},
					Sort:     rapid.SampledFrom([]contact.Sort{contact.ByCreated, "email", "first_name", "last_email_sent_at"}).Draw(rt, "sort"),
					Asc:      rapid.Bool().Draw(rt, "ascending"),
					Limit:    rapid.SampledFrom([]int{4, 40}).Draw(rt, "limit"),
				}
				got := []id.Contact{}
				for more := true; more; {
					page, err := contact.List(ctx, db, tenant, q)
					if err != nil {
						rt.Fatal(err)
					}
					for _, c := range page.Contacts {
						got = append(got, c.ID)
					}
					q.After, more = page.Next, page.Next != nil
				}
				slices.SortFunc(got, id.Compare)
				if !slices.Equal(got, want) {
					rt.Fatalf("List(%q) = %v, want %v", search, got, want)
				}
				if n, err := contact.Count(ctx, db, tenant, q.Selector); err != nil || n != len(want) {
					rt.Fatalf("Count(%q) = %d, %v; want %d", search, n, err, len(want))
				}
			}
		})
	})
}

func TestConcurrentIndexersAndWriters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		const rounds, people, secret = 6, 8, 'ξ'
		var writers, indexers sync.WaitGroup
		done := make(chan struct{})
		for range 2 {
			indexers.Go(func() {
				for index := indexer(db); ; {
					if _, err := index.Tick(ctx); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		for w := range 2 {
			writers.Go(func() {
				for round := range rounds {
					var drafts []contact.Draft
					for i := range people { // each is updated in every round
						drafts = append(drafts, contact.Draft{Email: fmt.Sprintf("w%dp%d@example.org", w, i), Change: contact.Change{Texts: texts("first_name", fmt.Sprintf("Round%dth", round))}})
						drafts = append(drafts, contact.Draft{Email: fmt.Sprintf("w%dr%dp%d@example.org", w, round, i)})
					}
					if _, err := contact.SaveAll(ctx, db, acme, drafts, rules, noon); err != nil {
						t.Error(err)
						return
					}
					sel := contact.Selector{Search: fmt.Sprintf("w%dp round%dth", w, round)}
					if n, err := contact.Count(ctx, db, acme, sel); err != nil || n != people {
						t.Errorf("Count(%q) = %d, %v; want %d", sel.Search, n, err, people)
					}
				}
			})
		}
		writers.Go(func() { // anonymises contacts that may be in a segment, or in one that is being merged
			for i := range 3 * rounds {
				drafts := []contact.Draft{{Email: fmt.Sprintf("a%d@anonymous.test", i), Change: contact.Change{Texts: texts("last_name", strings.Repeat(string(secret), 3))}}}
				for j := range 5 {
					drafts = append(drafts, contact.Draft{Email: fmt.Sprintf("b%d.%d@anonymous.test", i, j)})
				}
				list, err := contact.SaveAll(ctx, db, acme, drafts, rules, noon)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(i%4) * 5 * time.Millisecond)
				if _, err := contact.Anonymize(ctx, db, acme, []id.Contact{list[0].Contact.ID}, nil, noon); err != nil {
					t.Error(err)
					return
				}
			}
		})
		writers.Wait()
		close(done)
		indexers.Wait()
		indexAll(t, indexer(db))
		if inIndex(t, db, acme, secret) {
			t.Error("the name of an anonymised contact is in the index")
		}
		for search, want := range map[string]int{"w0p": people, "w1p": people, "w1r3p": people, "round0th": 0, "round5th": 2 * people, "example": 2*people + 2*people*rounds, "w1r3p7": 1} {
			if n, err := contact.Count(ctx, db, acme, contact.Selector{Search: search}); err != nil || n != want {
				t.Errorf("Count(%q) = %d, %v; want %d", search, n, err, want)
			}
		}
	})
}

func TestSmallSegmentsAreMerged(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, index := t.Context(), indexer(db)
		index.MinSegment, index.MaxSegment = 5, 80
		create := func(from, n int) (list []contact.Outcome) {
			t.Helper()
			drafts := make([]contact.Draft, n)
			for i := range drafts {
				drafts[i].Email = fmt.Sprintf("c%d@example.org", from+i)
			}
			list, err := contact.SaveAll(ctx, db, acme, drafts, rules, noon)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		var first contact.Contact
		for i, want := range [][]int{
			{6}, {6, 6}, {6, 6, 6}, {24}, {24, 6}, {24, 6, 6}, {24, 6, 6, 6}, {24, 24}, {24, 24, 6}, {24, 24, 6, 6}, {24, 24, 6, 6, 6}, {24, 24, 24},
			{24, 24, 24, 6}, {80, 4}, {80, 4, 6},
		} {
			list := create(6*i, 6)
			if i == 0 {
				first = list[0].Contact
			}
			indexAll(t, index)
			if got := segmentSizes(t, db, acme); !slices.Equal(got, want) {
				t.Fatalf("after %d contacts: segments of %v, want %v", 6*(i+1), got, want)
			}
		}
		create(90, 4) // too few
		indexAll(t, index)
		if got, want := segmentSizes(t, db, acme), []int{80, 4, 6}; !slices.Equal(got, want) {
			t.Errorf("segments of %v, want %v", got, want)
		}
		if _, err := contact.Anonymize(ctx, db, acme, []id.Contact{first.ID}, nil, noon); err != nil {
			t.Fatal(err)
		}
		indexAll(t, index)
		for search, want := range map[string]int{"example": 93, "c0@": 0, "c93@": 1, "c4": 11} {
			if n, err := contact.Count(ctx, db, acme, contact.Selector{Search: search}); err != nil || n != want {
				t.Errorf("Count(%q) = %d, %v; want %d", search, n, err, want)
			}
		}
	})
}

func TestIndexerRunsUntilItsContextEnds(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 7 {
			mustCreate(t, db, fmt.Sprintf("c%d@example.org", i), contact.Change{})
		}
		index := indexer(db)
		index.Every = time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- index.Run(ctx) }()
		for waiting := 7; waiting > 0; {
			if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM contact_search_queue WHERE tenant_id = $1`, acme).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestRenewalRemovesOutdatedEntries(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, index := t.Context(), indexer(db)
		sizes := func() map[string]int {
			list := map[string]int{}
			for name, query := range map[string]string{
				"fresh":    `SELECT COUNT(*) FROM contact_search_queue WHERE tenant_id = $1`,
				"blocks":   `SELECT COUNT(*) FROM contact_search_block WHERE tenant_id = $1`,
				"segments": `SELECT COUNT(DISTINCT segment) FROM contact_search_postings WHERE tenant_id = $1`,
				"renewals": `SELECT COUNT(*) FROM contact_search_rebuild WHERE tenant_id = $1`,
			} {
				var n int
				if err := db.QueryRow(ctx, query, acme).Scan(&n); err != nil {
					t.Fatal(err)
				}
				list[name] = n
			}
			return list
		}
		var drafts []contact.Draft
		for i := range 20 {
			drafts = append(drafts, contact.Draft{Email: fmt.Sprintf("c%d@example.org", i)})
		}
		for i := range 3 {
			for j := range drafts {
				drafts[j].Change.Texts = texts("first_name", fmt.Sprintf("Number%d", i))
			}
			if _, err := contact.SaveAll(ctx, db, acme, drafts, rules, noon); err != nil {
				t.Fatal(err)
			}
			indexAll(t, index)
		}
		if got, want := sizes(), map[string]int{"fresh": 0, "blocks": 6, "segments": 3, "renewals": 0}; !maps.Equal(got, want) {
			t.Fatalf("before: %v, want %v", got, want)
		}
		if _, err := db.Exec(ctx, `INSERT INTO contact_search_rebuild (tenant_id, through_segment, after_id) VALUES ($1, 3, $2)`, acme, id.Contact{}); err != nil {
			t.Fatal(err)
		}
		indexAll(t, index)
		if got, want := sizes(), map[string]int{"fresh": 0, "blocks": 2, "segments": 1, "renewals": 0}; !maps.Equal(got, want) {
			t.Errorf("after: %v, want %v", got, want)
		}
		for search, want := range map[string]int{"number2": 20, "number1": 0, "c1 number": 11} {
			if n, err := contact.Count(ctx, db, acme, contact.Selector{Search: search}); err != nil || n != want {
				t.Errorf("Count(%q) = %d, %v; want %d", search, n, err, want)
			}
		}
	})
}

func TestSegmentsCreatedDuringARenewalStay(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, index, patient := t.Context(), indexer(db), indexer(db)
		patient.MinSegment, patient.MaxSegment = 1000, 1000
		tick := func(x *contactsearch.Indexer) bool {
			more, err := x.Tick(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return more
		}
		for i := range 7 {
			mustCreate(t, db, fmt.Sprintf("c%d@example.org", i), contact.Change{})
		}
		tick(index)
		if _, err := db.Exec(ctx, `INSERT INTO contact_search_rebuild (tenant_id, through_segment, after_id) VALUES ($1, 1, $2)`, acme, id.Contact{}); err != nil {
			t.Fatal(err)
		}
		tick(patient) // queue all contacts
		tick(patient) // drop the segments
		for tick(index) {
		}
		if n, err := contact.Count(ctx, db, acme, contact.Selector{Search: "example"}); err != nil || n != 7 {
			t.Errorf("Count = %d, %v; want 7", n, err)
		}
	})
}

func TestAnonymisedContactsAreRemovedFromTheIndex(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, index := t.Context(), indexer(db)
		ann := mustCreate(t, db, "ann@example.org", contact.Change{Texts: texts("last_name", "Ξ")})
		for i := range 6 {
			mustCreate(t, db, fmt.Sprintf("c%d@example.org", i), contact.Change{})
		}
		indexAll(t, index)
		if !inIndex(t, db, acme, 'ξ') {
			t.Fatal("the name is not in the index")
		}
		if _, err := contact.Anonymize(ctx, db, acme, []id.Contact{ann.ID}, nil, noon); err != nil {
			t.Fatal(err)
		}
		indexAll(t, index)
		if inIndex(t, db, acme, 'ξ') {
			t.Error("the name is still in the index")
		}
		for search, want := range map[string]int{"ann": 0, "ξ": 0, "c": 6, "example": 6} {
			if n, err := contact.Count(ctx, db, acme, contact.Selector{Search: search}); err != nil || n != want {
				t.Errorf("Count(%q) = %d, %v; want %d", search, n, err, want)
			}
		}
	})
}
