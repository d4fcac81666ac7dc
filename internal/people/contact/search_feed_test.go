package contact_test

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Each function that writes search_text queues the contact, with the same text, for the
// search index. Other functions do not.
func TestWritersOfSearchTextQueueTheContact(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		ann := mustCreate(t, db, "ann@example.org", contact.Change{})
		bob := mustCreate(t, db, "bob@example.org", contact.Change{Texts: texts("first_name", "Bob")})
		ids := []id.Contact{ann.ID, bob.ID}
		update := func(c id.Contact, ch contact.Change) func() error {
			return func() error {
				_, err := contact.Update(ctx, db, acme, c, ch, rules, noon)
				return err
			}
		}
		move := func(_ []contact.Moved, err error) error { return err }
		for _, tt := range []struct {
			name  string
			write func() error
			wait  []string
			gone  int
		}{
			{name: "created", write: func() error { return nil }, wait: []string{"ann@example.org", "bob@example.org\nbob"}},
			{name: "created again", write: func() error {
				_, _, err := contact.Upsert(ctx, db, acme, "ann@example.org", contact.Change{}, rules, noon)
				return err
			}},
			{name: "renamed", write: update(bob.ID, contact.Change{Texts: texts("last_name", "Öl")}), wait: []string{"bob@example.org\nbob\nol"}},
			{name: "of a company", write: update(ann.ID, contact.Change{Texts: texts("company", "ACME")}), wait: []string{"ann@example.org\nacme"}},
			{name: "moved to another address", write: update(ann.ID, contact.Change{Email: new("eve@example.org")}), wait: []string{"eve@example.org\nacme"}},
			{name: "of a city", write: update(ann.ID, contact.Change{Texts: texts("city", "Bonn")})},
			{name: "unsubscribed", write: func() error {
				return move(contact.UnsubscribeMany(ctx, db, acme, ids, contact.UnsubscribeScope{Everything: true}, noon))
			}},
			{name: "deleted", write: func() error { return move(contact.Delete(ctx, db, acme, ids, noon)) }},
			{name: "restored", write: func() error { return move(contact.Restore(ctx, db, acme, ids, nil, noon)) }},
			{name: "anonymised", write: func() error { return move(contact.Anonymize(ctx, db, acme, ids[:1], nil, noon)) }, wait: []string{ann.ID.String() + "@anonymized.invalid"}, gone: 1},
			{name: "anonymised again", write: func() error { return move(contact.Anonymize(ctx, db, acme, ids[:1], nil, noon)) }},
		} {
			if err := tt.write(); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			rows, err := db.Query(ctx, `
				DELETE FROM contact_search_queue WHERE tenant_id = $1 AND search_text = (
					SELECT c.search_text FROM contact c WHERE c.tenant_id = $1 AND c.id = contact_id)
				RETURNING search_text`, acme)
			got, err := sqldb.Collect(rows, err, func(row func(...any) error) (text string, err error) { return text, row(&text) })
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.wait) {
				t.Errorf("%s: %q are queued, want %q", tt.name, got, tt.wait)
			}
			left, err := db.Exec(ctx, `DELETE FROM contact_search_queue WHERE tenant_id = $1`, acme)
			if err != nil || left > 0 {
				t.Errorf("%s: %d are queued with another text, %v", tt.name, left, err)
			}
			gone, err := db.Exec(ctx, `DELETE FROM contact_search_removed WHERE tenant_id = $1`, acme)
			if err != nil || int(gone) != tt.gone {
				t.Errorf("%s: %d are to be removed, want %d; %v", tt.name, gone, tt.gone, err)
			}
		}
	})
}

// Another file that names the column may write it: then it must call contactsearch.Await,
// and the test above must cover it.
func TestFilesThatNameSearchTextAreKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{
		"people/contact/anonymize.go": true, "people/contact/merge.go": true, "people/contact/store.go": true, // write it
		"people/contact/list.go": true, "people/contact/doc.go": true,
		"people/contactsearch/doc.go": true, "people/contactsearch/search.go": true, "people/contactsearch/queue.go": true, "people/contactsearch/index.go": true,
		"people/contactsearch/rebuild.go": true, "people/contactsearch/ranges.go": true, "people/contactsearch/segments.go": true,
	}
	found := map[string]bool{}
	word := regexp.MustCompile(`\bsearch_text\b`)
	tree := os.DirFS("../..")
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if word.Match(text) {
			found[path] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if !known[path] {
			t.Errorf("%s names search_text", path)
		}
	}
}
