package contact_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// DeleteField erases a limited number of values itself, and Maintenance the others.
func TestAFieldOfManyContactsIsErasedInTheBackground(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		const people = 2600
		plan, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Plan", Type: field.String}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Other", Type: field.Number}, noon); err != nil {
			t.Fatal(err)
		}
		drafts := make([]contact.Draft, people)
		for i := range drafts {
			drafts[i] = contact.Draft{Email: fmt.Sprintf("c%d@example.org", i), Change: contact.Change{CustomFields: map[string]any{"plan": "pro", "other": float64(i)}}}
		}
		outcomes, err := contact.SaveAll(t.Context(), db, acme, drafts, rules, noon)
		if err != nil {
			t.Fatal(err)
		}
		count := func(key string) int {
			t.Helper()
			n, err := contact.CountField(t.Context(), db, acme, key)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if err := contact.DeleteField(t.Context(), db, acme, plan.ID, usage.Finders{}, noon); err != nil {
			t.Fatal(err)
		}
		if n := count("plan"); n != people-2000 {
			t.Errorf("%d contacts still have a value, want 600", n)
		}
		if pending, err := field.PendingErasures(t.Context(), db, 2); err != nil || len(pending) != 1 {
			t.Errorf("PendingErasures = %v, %v", pending, err)
		}
		clock := func() time.Time { return noon }
		for _, ticks := range []int{1, 5} { // the first process ends after one tick
			u := &contact.Maintenance{DB: db, Log: slog.New(slog.DiscardHandler), Now: clock}
			for range ticks {
				if _, err := u.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n, others := count("plan"), count("other"); n != 0 || others != people {
			t.Errorf("%d values remain, and %d of another field", n, others)
		}
		if c, err := contact.ByID(t.Context(), db, acme, outcomes[people-1].Contact.ID); err != nil || !c.UpdatedAt.Equal(noon) || len(c.CustomFields) != 1 {
			t.Errorf("last contact = %+v, %v", c, err)
		}
		if _, err := field.Create(t.Context(), db, acme, field.Draft{Name: "Plan", Type: field.Number}, noon); err != nil {
			t.Errorf("the key cannot be used again: %v", err)
		}
	})
}
