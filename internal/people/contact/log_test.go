package contact_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// stored returns the columns of each contact, and whether its address is on the suppression list.
func stored(t *testing.T, db *sqldb.DB) map[id.Contact]string {
	t.Helper()
	all := map[id.Contact]string{}
	rows, err := db.Query(t.Context(), `
		SELECT c.id, x.email, c.* FROM contact c LEFT JOIN suppression x ON x.tenant_id = c.tenant_id AND x.email = c.email
		WHERE c.tenant_id = $1 /* reads the tenant: to compare it */`, acme)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rows.Columns()
	values := make([]any, len(columns)-1)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		dest := []any{&c}
		for i := range values {
			dest = append(dest, &values[i])
		}
		err := scan(dest...)
		all[c] = fmt.Sprint(values...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each function that changes a contact, or puts its address on the suppression list or removes it from there, says so in
// the log of changed contacts.
func TestChangesOfContactsAreLogged(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		plan, err := field.Create(ctx, db, acme, field.Draft{Name: "Plan", Type: field.String}, noon)
		if err != nil {
			t.Fatal(err)
		}
		stage := func(name string) id.Stage {
			made, err := contact.CreateStage(ctx, db, acme, contact.StageChange{Name: &name, Category: new(contact.Prospect)}, noon)
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		leads, buyers := stage("Leads"), stage("Buyers")
		ann := mustCreate(t, db, "ann@example.org", contact.Change{CustomFields: map[string]any{"plan": "pro"}})
		bob := mustCreate(t, db, "bob@example.org", contact.Change{})
		ids := []id.Contact{ann.ID, bob.ID}
		move := func(_ []contact.Moved, err error) error { return err }
		engine := journal.Engine{DB: db, Followers: []journal.Follower{contact.Follower(), suppression.Follower()}, Log: slog.New(slog.DiscardHandler)}
		var mark contactlog.Mark
		read := func(f func(ctx context.Context, db *sqldb.DB) error) {
			t.Helper()
			if err := db.Evaluate(ctx, "acme", f); err != nil {
				t.Fatal(err)
			}
		}
		read(func(ctx context.Context, db *sqldb.DB) (err error) {
			mark, _, err = contactlog.Read(ctx, db, acme)
			return err
		})
		for _, tt := range []struct {
			name  string
			write func() error
		}{
			{"created", func() error {
				_, err := contact.Create(ctx, db, acme, "eve@example.org", contact.Change{}, rules, noon)
				return err
			}},
			{"changed", func() error {
				_, err := contact.Update(ctx, db, acme, ann.ID, contact.Change{Texts: texts("city", "Bonn"), Stage: new(buyers.String())}, rules, noon)
				return err
			}},
			{"scored", func() error {
				return contact.SaveScores(ctx, db, acme, []contact.Scored{{Contact: bob.ID, Prospect: 7}}, noon)
			}},
			{"stage deleted", func() error { return contact.DeleteStage(ctx, db, acme, buyers, leads, usage.Finders{}, noon) }},
			{"field deleted", func() error { return contact.DeleteField(ctx, db, acme, plan.ID, usage.Finders{}, noon) }},
			{"suppressed address", func() error {
				_, err := suppression.Add(ctx, db, acme, "bob@example.org", "", noon)
				return err
			}},
			{"released address", func() error { return suppression.Remove(ctx, db, acme, "bob@example.org", noon) }},
			{"bounced", func() error {
				entry := journal.Entry{Tenant: acme, Type: journal.EmailBounced, Contact: bob.ID, At: noon, Data: map[string]any{"class": "hard"}}
				if err := journal.Append(ctx, db, entry); err != nil {
					return err
				}
				for {
					if more, err := engine.Tick(ctx); err != nil || !more {
						return err
					}
				}
			}},
			{"status reset", func() error { return move(suppression.ResetStatus(ctx, db, acme, ids[1:], noon)) }},
			{"unsubscribed", func() error {
				return move(contact.UnsubscribeMany(ctx, db, acme, ids, contact.UnsubscribeScope{Everything: true}, noon))
			}},
			{"deleted", func() error { return move(contact.Delete(ctx, db, acme, ids, noon)) }},
			{"restored", func() error { return move(contact.Restore(ctx, db, acme, ids, nil, noon)) }},
			{"anonymized", func() error { return move(suppression.Anonymize(ctx, db, acme, ids[:1], true, nil, noon)) }},
		} {
			before := stored(t, db)
			if err := tt.write(); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			after := stored(t, db)
			logged, lost := map[id.Contact]bool{}, false // everything is read again
			read(func(ctx context.Context, db *sqldb.DB) error {
				c, m, standing, err := mark.Advance(ctx, db, acme)
				mark, lost = m, standing == contactlog.Lost
				for _, one := range c.Contacts {
					logged[one] = true
				}
				for _, address := range c.Addresses {
					found, err := contact.IDsByEmail(ctx, db, acme, []string{address})
					if err != nil {
						return err
					}
					logged[found[address]] = true
				}
				return err
			})
			changed := 0
			for c, row := range after {
				if row == before[c] {
					continue
				}
				if changed++; !logged[c] && !lost {
					t.Errorf("%s: the change of %s is not logged", tt.name, row)
				}
			}
			if changed == 0 {
				t.Errorf("%s: no contact changed", tt.name)
			}
		}
	})
}

// Another file that writes contacts must append them to the log, and the test above must cover it.
func TestFilesThatWriteContactsAreKnown(t *testing.T) {
	t.Parallel()
	known := []string{"anonymize.go", "consent.go", "fields.go", "follow.go", "lifecycle.go", "merge.go", "score.go", "stage_move.go"}
	found := map[string]bool{}
	writes := regexp.MustCompile(`UPDATE contact\s|INSERT INTO contact\s|DELETE FROM contact\s|"contact", p\.b\.tenant`)
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if writes.Match(text) {
			found[path] = true
			if !strings.Contains(string(text), "contactlog.") {
				t.Errorf("%s writes contacts, and does not log that", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files := slices.Sorted(maps.Keys(found)); !slices.Equal(files, known) {
		t.Errorf("these files write contacts: %q; known are %q", files, known)
	}
}
