package contact_test

import (
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// A withdrawn contact is new when it comes again: it keeps its id and has nothing of what it was. What only updates
// contacts does not find it.
func TestAWithdrawnContactIsNewWhenItComesAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		draft  contact.Draft
		status contact.Status
		err    error
	}{
		{"an upsert", contact.Draft{}, contact.Active, nil},
		{"a creation", contact.Draft{Mode: contact.Creating}, contact.Active, nil},
		{"a creation that expects no contact", contact.Draft{New: true}, contact.Active, nil},
		{"a form", contact.Draft{Mode: contact.CreatingMissing, Change: contact.Change{Unverified: true}}, contact.Pending, nil},
		{"a file that says it unsubscribed", contact.Draft{Change: contact.Change{Status: contact.Unsubscribed}}, contact.Unsubscribed, nil},
		{"an update", contact.Draft{Mode: contact.Updating}, contact.Suppressed, contact.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqldb.DB) {
				first := mustCreate(t, db, "ann@example.org", contact.Change{
					Texts: texts("city", "Bonn", "external_id", "a1"), Tags: new([]string{"old"}), Subscriptions: map[string]*bool{"offers": new(true)}, DoNotContact: new(true),
				})
				err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
					return contact.Withdraw(t.Context(), tx, acme, []id.Contact{first.ID}, noon)
				})
				if err != nil {
					t.Fatal(err)
				}
				tt.draft.Email = "ann@example.org"
				if tt.draft.Change.Texts == nil {
					tt.draft.Change.Texts = texts("first_name", "Ann", "external_id", "a1")
				}
				out, err := contact.SaveAll(t.Context(), db, acme, []contact.Draft{tt.draft}, rules, noon.Add(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				if o := out[0]; !errors.Is(o.Err, tt.err) || o.Created != (tt.err == nil) {
					t.Errorf("created %v, %v", o.Created, o.Err)
				}
				c, err := contact.ByID(t.Context(), db, acme, first.ID)
				if err != nil {
					t.Fatal(err)
				}
				if c.Status != tt.status || c.Withdrawn != (tt.err != nil) {
					t.Errorf("the contact is %s, withdrawn %v; want %s", c.Status, c.Withdrawn, tt.status)
				}
				if tt.err == nil && (c.City != nil || len(c.Tags)+len(c.Subscriptions) > 0 || c.DoNotContact || c.FirstName == nil || *c.ExternalID != "a1") {
					t.Errorf("the contact has something of the former one: %+v", c)
				}
			})
		})
	}
}

func TestAWithdrawnContactIsRestored(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		first := mustCreate(t, db, "ann@example.org", contact.Change{Texts: texts("city", "Bonn")})
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return contact.Withdraw(t.Context(), tx, acme, []id.Contact{first.ID}, noon)
		})
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := contact.Restore(t.Context(), db, acme, []id.Contact{first.ID}, nil, noon); err != nil || !moved[0].Changed {
			t.Fatalf("Restore = %+v, %v", moved, err)
		}
		c, err := contact.ByID(t.Context(), db, acme, first.ID)
		if err != nil || c.Status != contact.Active || c.Withdrawn || *c.City != "Bonn" {
			t.Errorf("the contact is %+v, %v", c, err)
		}
	})
}
