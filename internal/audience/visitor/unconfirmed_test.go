package visitor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func (w *website) expire() {
	w.t.Helper()
	if err := w.engine.Expire(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func TestUnconfirmedContactsAreErasedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWebsite(t, db, "acme")
		key := w.signed()
		w.engine.PersonalData = []contact.PersonalData{visitor.PersonalData()}
		other := newWebsite(t, w.db, "unconfirmed")
		start := w.now

		many := 120 // more than are erased at once
		for n := range many {
			w.identify(fmt.Sprintf("v%d", n), fmt.Sprintf("p%d@example.org", n), "traits", fields{"first_name": "Buy here"})
		}
		w.page("v0", "https://shop.example/")
		w.identify("proven", "proven@example.org", "email_hash", hash(key, "proven@example.org"))
		w.identify("confirmed", "confirmed@example.org")
		w.identify("asked", "asked@example.org")
		w.identify("deleted", "deleted@example.org")
		w.create("known@example.org", contact.Change{})
		w.drain()
		if _, _, err := contact.Upsert(t.Context(), w.db, w.tenant.ID, "confirmed@example.org", contact.Change{}, contact.Rules{}, w.now); err != nil {
			t.Fatal(err)
		}
		if _, err := contact.Delete(t.Context(), w.db, w.tenant.ID, []id.Contact{w.contact("deleted@example.org").ID}, w.now); err != nil {
			t.Fatal(err)
		}
		gone := w.contact("p0@example.org").ID
		w.now = start.Add(30*24*time.Hour - time.Second)
		submitted := func(at time.Time) {
			_, err := w.db.Exec(t.Context(), `DELETE FROM form_submission WHERE tenant_id = $1`, w.tenant.ID)
			if err == nil {
				_, err = w.db.Exec(t.Context(), `
					INSERT INTO form_submission (tenant_id, id, form_id, contact_id, outcome, submitted_at, ip, agent, page_url, answers, consents)
					VALUES ($1, $2, $3, $4, 'awaiting_confirmation', $5, '', '', '', '{}', '[]')`,
					w.tenant.ID, id.New[id.FormSubmission](), id.New[id.Form](), w.contact("asked@example.org").ID, at.UnixMicro())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		submitted(w.now)
		w.expire()
		if !w.has("p0@example.org") || w.contact("p0@example.org").Status != contact.Pending {
			t.Fatal("contacts were erased before their time")
		}
		w.page("v0", "https://shop.example/again")
		w.now = start.Add(30*24*time.Hour + 10*time.Minute)
		other.now = w.now.Add(-time.Hour)
		other.identify("v0", "p0@example.org")
		w.drain()
		w.expire()
		for n := range many {
			if w.has(fmt.Sprintf("p%d@example.org", n)) {
				t.Errorf("p%d was not erased", n)
			}
		}
		if c, err := contact.ByID(t.Context(), w.db, w.tenant.ID, gone); err != nil || c.AnonymizedAt == nil || c.FirstName != nil {
			t.Errorf("what is left of a contact: %+v, %v", c, err)
		}
		for _, email := range []string{"proven@example.org", "confirmed@example.org", "asked@example.org", "deleted@example.org", "known@example.org"} {
			if !w.has(email) {
				t.Errorf("%s was erased", email)
			}
		}
		if !other.has("p0@example.org") || other.contact("p0@example.org").Status != contact.Pending {
			t.Error("a new contact of the other tenant was erased")
		}
		w.wantTotals()

		w.page("v0", "https://shop.example/back")
		w.identify("v0", "p0@example.org")
		w.drain()
		if c := w.contact("p0@example.org"); c.ID == gone || c.Status != contact.Pending {
			t.Errorf("the visitor that came back is %+v", c)
		}
		w.wantHistory("p0@example.org", "https://shop.example/back")
		submitted(w.now.Add(-7*24*time.Hour - time.Second))
		w.expire()
		if w.has("asked@example.org") || !w.has("p0@example.org") {
			t.Error("a contact whose link to confirm has expired stays, or a new one does not")
		}
	})
}

// TestConfirmedContactsAreNotErased confirms contacts between the search for unconfirmed ones and their erasure.
func TestConfirmedContactsAreNotErased(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		w.identify("v1", "ann@example.org")
		w.identify("v2", "bob@example.org")
		w.drain()
		late := w.now.Add(31 * 24 * time.Hour)
		found, err := contact.Unconfirmed(t.Context(), w.db, w.tenant.ID, late, id.Contact{}, 10)
		if err != nil || len(found) != 2 {
			t.Fatalf("unconfirmed: %v, %v", found, err)
		}
		if one, err := contact.Unconfirmed(t.Context(), w.db, w.tenant.ID, late, found[0], 10); err != nil || !slices.Equal(one, found[1:]) {
			t.Errorf("after the first: %v, %v", one, err)
		}
		if _, _, err := contact.Upsert(t.Context(), w.db, w.tenant.ID, "ann@example.org", contact.Change{}, contact.Rules{}, w.now); err != nil {
			t.Fatal(err)
		}
		n, err := contact.EraseUnconfirmed(t.Context(), w.db, w.tenant.ID, found, nil, late)
		if err != nil || n != 1 || !w.has("ann@example.org") || w.has("bob@example.org") {
			t.Errorf("%d erased, %v", n, err)
		}
		failed := errors.New("the store failed")
		w.identify("v3", "eve@example.org")
		w.drain()
		store := contact.PersonalData{Name: "store", Erase: func(context.Context, *sqldb.DB, id.Tenant, []contact.Person) error { return failed }}
		if _, err := contact.EraseUnconfirmed(t.Context(), w.db, w.tenant.ID, []id.Contact{w.contact("eve@example.org").ID}, []contact.PersonalData{store}, late); !errors.Is(err, failed) || !w.has("eve@example.org") {
			t.Errorf("a store that fails: %v", err)
		}
	})
}

func TestUnverifiedVisitorsCreateALimitedNumberOfContactsADay(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		key := w.signed()
		w.engine.LimitPending(100, 3)
		other := newWebsite(t, w.db, "day")
		other.engine.LimitPending(100, 3)
		create := func(from, to int) (made int) {
			for n := from; n < to; n++ {
				w.identify(fmt.Sprintf("v%d", n), fmt.Sprintf("p%d@example.org", n))
				if n%2 == 0 { // within one transaction, and in one of its own
					w.drain()
				}
			}
			w.drain()
			for n := from; n < to; n++ {
				if w.has(fmt.Sprintf("p%d@example.org", n)) {
					made++
				}
			}
			return made
		}
		if n := create(0, 5); n != 3 {
			t.Errorf("%d contacts were created on a day, want 3", n)
		}
		w.identify("v0", "p0@example.org", "traits", fields{"first_name": "Pat"})
		w.identify("signed", "signed@example.org", "email_hash", hash(key, "signed@example.org"))
		w.drain()
		if text(w.contact("p0@example.org").FirstName) != "Pat" || !w.has("signed@example.org") {
			t.Error("the limit holds for contacts that exist, or for signed identities")
		}
		other.identify("v1", "theirs@example.org")
		other.drain()
		if !other.has("theirs@example.org") {
			t.Error("the limit of one tenant holds for another")
		}
		w.now = noon.Truncate(24 * time.Hour).Add(24*time.Hour - time.Minute)
		if n := create(5, 7); n != 0 {
			t.Errorf("%d contacts were created before midnight", n)
		}
		w.now = noon.Truncate(24 * time.Hour).Add(24 * time.Hour)
		if n := create(7, 12); n != 3 {
			t.Errorf("%d contacts were created on the next day, want 3", n)
		}
	})
}
