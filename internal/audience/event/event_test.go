package event_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// account is a tenant with one contact.
type account struct {
	t   *testing.T
	db  *sqldb.DB
	id  id.Tenant
	ann id.Contact
}

func newAccount(t *testing.T, db *sqldb.DB, slug string) account {
	t.Helper()
	made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon, contact.CreateDefaultStages, sender.Newsletter)
	if err != nil {
		t.Fatal(err)
	}
	a := account{t: t, db: db, id: made.ID}
	a.ann = a.contact("ann@example.org")
	return a
}

func (a account) contact(email string) id.Contact {
	a.t.Helper()
	c, err := contact.Create(a.t.Context(), a.db, a.id, email, contact.Change{}, contact.Rules{}, noon)
	if err != nil {
		a.t.Fatal(err)
	}
	return c.ID
}

func (a account) autoCreate() {
	a.t.Helper()
	made, err := tenant.ByID(a.t.Context(), a.db, a.id)
	if err == nil {
		made.Settings.AutoCreateOnEvent = true
		err = tenant.SaveSettings(a.t.Context(), a.db, a.id, made.Name, made.Settings, noon)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a account) record(now time.Time, list ...event.Input) []event.Result {
	a.t.Helper()
	out, err := event.Record(a.t.Context(), a.db, a.id, list, now)
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

// timeline returns the events of a contact, oldest first.
func (a account) timeline(c id.Contact) []journal.Entry {
	a.t.Helper()
	var list []journal.Entry
	for e, err := range journal.Timeline(a.t.Context(), a.db, a.id, c) {
		if err != nil {
			a.t.Fatal(err)
		}
		if e.Type == journal.CustomEvent {
			list = append(list, e)
		}
	}
	return list
}

func TestAnEventIsAnEntryOfItsContact(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db, "acme"), newAccount(t, db, "other")
		ben := a.contact("ben@example.org")
		got := a.record(noon,
			event.Input{Name: " Order placed ", Type: "order_placed", Contact: a.ann, Email: "ben@example.org", Properties: map[string]any{"orderId": "A1", "value": "9.50"}},
			event.Input{Name: "login", Email: " BEN@example.org", OccurredAt: noon.AddDate(-3, 0, 0)},
			event.Input{Name: "login", Email: "ben@example.org", OccurredAt: noon.Add(11 * time.Minute), Source: event.Website},
			event.Input{Name: "login", Contact: other.ann},
			event.Input{Name: "login", Email: "nobody@example.org"},
			event.Input{Name: ""},
		)
		if got[0].Contact != a.ann || got[1].Contact != ben || got[2].Contact != ben {
			t.Fatalf("results = %+v", got)
		}
		if want := []string{`missing recommended property "currency" for type "order_placed"`, `missing recommended property "items" for type "order_placed"`}; !slices.Equal(got[0].Warnings, want) {
			t.Errorf("warnings = %q, want %q", got[0].Warnings, want)
		}
		if want := []string{"occurred_at is in the future; stored as now"}; !slices.Equal(got[2].Warnings, want) {
			t.Errorf("warnings = %q, want %q", got[2].Warnings, want)
		}
		for _, r := range got[3:5] {
			if !errors.Is(r.Err, contact.ErrNotFound) {
				t.Errorf("result = %+v, want CONTACT_NOT_FOUND", r)
			}
		}
		if f, ok := fault.As(got[5].Err); !ok || f.Message != "event_name: required; contact_id: required, or contact_email" {
			t.Errorf("error = %v", got[5].Err)
		}
		order := a.timeline(a.ann)
		if len(order) != 1 || order[0].ID != got[0].ID || order[0].Name != "Order placed" || !order[0].At.Equal(noon) {
			t.Fatalf("timeline = %+v", order)
		}
		ev, err := order[0].Event()
		if err != nil || ev.Type != "order_placed" || ev.Properties["order_id"] != "A1" || ev.Properties["orderId"] != "A1" || ev.Properties["value"] != 9.5 {
			t.Errorf("event = %+v, %v", ev, err)
		}
		logins := a.timeline(ben)
		if len(logins) != 2 || !logins[0].At.Equal(noon.AddDate(-3, 0, 0)) || !logins[1].At.Equal(noon) {
			t.Fatalf("timeline = %+v", logins)
		}
		for i, want := range []bool{false, true} {
			if may, err := event.Triggers(logins[i]); err != nil || may != want {
				t.Errorf("Triggers(%v) = %v, %v; want %v", logins[i].At, may, err, want)
			}
		}
		if ev, err := logins[1].Event(); err != nil || ev.Source != event.Website || ev.Properties != nil {
			t.Errorf("event = %+v, %v", ev, err)
		}
		if list := other.timeline(other.ann); len(list) != 0 {
			t.Errorf("another tenant has %+v", list)
		}
	})
}

func TestEventsOfContactsInEveryStatus(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db, "acme")
		gone, erased, pending := a.contact("gone@example.org"), a.contact("erased@example.org"), a.contact("pending@example.org")
		if _, err := contact.Delete(t.Context(), db, a.id, []id.Contact{gone}, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := contact.Anonymize(t.Context(), db, a.id, []id.Contact{erased}, nil, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `UPDATE contact SET global_status = 'pending' WHERE tenant_id = $1 AND id = $2`, a.id, pending); err != nil {
			t.Fatal(err)
		}
		a.autoCreate()
		got := a.record(noon, event.Input{Name: "x", Contact: gone}, event.Input{Name: "x", Contact: erased}, event.Input{Name: "x", Email: "pending@example.org"}, event.Input{Name: "x", Email: "gone@example.org"})
		if got[0].Err != nil || got[2].Err != nil || got[3].Contact != gone || !errors.Is(got[1].Err, contact.ErrNotFound) {
			t.Fatalf("results = %+v", got)
		}
		if c, err := contact.ByID(t.Context(), db, a.id, pending); err != nil || c.Status != contact.Pending {
			t.Errorf("the pending contact is %v, %v", c.Status, err)
		}
		for c, want := range map[id.Contact]bool{gone: false, pending: true} {
			if may, err := event.Triggers(a.timeline(c)[0]); err != nil || may != want {
				t.Errorf("Triggers = %v, %v; want %v", may, err, want)
			}
		}
	})
}

func TestUnknownAddressesBecomeContacts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db, "acme")
		a.autoCreate()
		if err := tenant.SetContactLimit(t.Context(), db, a.id, new(2), noon); err != nil {
			t.Fatal(err)
		}
		got := a.record(noon, event.Input{Name: "x", Email: "new@example.org"}, event.Input{Name: "y", Email: "NEW@example.org"}, event.Input{Name: "x", Email: "more@example.org"}, event.Input{Name: "x", Contact: id.New[id.Contact]()})
		if got[0].Err != nil || got[0].Contact != got[1].Contact || !errors.Is(got[2].Err, contact.ErrLimit) || !errors.Is(got[3].Err, contact.ErrNotFound) {
			t.Fatalf("results = %+v", got)
		}
		c, err := contact.ByID(t.Context(), db, a.id, got[0].Contact)
		if err != nil || c.Status != contact.Active || c.Source == nil || *c.Source != "event" || c.Stage.IsZero() || c.Email != "new@example.org" {
			t.Errorf("contact = %+v, %v", c, err)
		}
		if n := len(a.timeline(c.ID)); n != 2 {
			t.Errorf("the contact has %d events, want 2", n)
		}
	})
}

func TestARepeatedKeyGetsTheFirstResult(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db, "acme"), newAccount(t, db, "other")
		in := event.Input{Name: "order", Type: "signed_up", Contact: a.ann, Key: "k1"}
		first := a.record(noon, in)[0]
		if first.Err != nil || len(first.Warnings) != 1 {
			t.Fatalf("result = %+v", first)
		}
		changed := event.Input{Name: "another", Email: "nobody@example.org", Key: "k1"}
		for _, again := range []event.Result{a.record(noon.Add(time.Hour), changed)[0], a.record(noon.AddDate(0, 0, 6), in)[0]} {
			if again.ID != first.ID || again.Contact != first.Contact || !slices.Equal(again.Warnings, first.Warnings) || again.Err != nil {
				t.Errorf("a repetition has %+v, want %+v", again, first)
			}
		}
		if r := other.record(noon, event.Input{Name: "order", Contact: other.ann, Key: "k1"})[0]; r.Err != nil || r.ID == first.ID {
			t.Errorf("another tenant's result is %+v", r)
		}
		// A failure does not use up a key; within one call the first success counts.
		list := a.record(noon, event.Input{Name: "x", Email: "nobody@example.org", Key: "k2"}, event.Input{Name: "x", Contact: a.ann, Key: "k2"}, event.Input{Name: "y", Contact: a.ann, Key: "k2"})
		if list[0].Err == nil || list[1].Err != nil || list[2].ID != list[1].ID {
			t.Errorf("results = %+v", list)
		}
		if n := len(a.timeline(a.ann)); n != 2 {
			t.Errorf("%d events, want 2", n)
		}
		if r := a.record(noon.AddDate(0, 0, 8), in)[0]; r.Err != nil || r.ID == first.ID {
			t.Errorf("after eight days the key gives %+v", r)
		}
	})
}

func TestManyRequestsAreRecordedTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db, "acme"), newAccount(t, db, "other")
		r := event.NewRecorder(db, func() time.Time { return noon })
		errs := make(chan error)
		go func() { errs <- r.Run(t.Context()) }()
		const n = 40
		done := make(chan error)
		for i := range n {
			go func() {
				of := a
				if i%2 == 1 {
					of = other
				}
				in := []event.Input{{Name: "x", Contact: of.ann, Key: strings.Repeat("k", i%4+1)}}
				if i%5 == 4 {
					in = []event.Input{{Name: "x", Email: "nobody@example.org"}}
				}
				list, err := r.Record(t.Context(), of.id, in)
				if err == nil && (list[0].Err == nil) != (i%5 != 4) {
					err = errors.Join(errors.New("wrong result"), list[0].Err)
				}
				done <- err
			}()
		}
		for range n {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := len(a.timeline(a.ann)) + len(other.timeline(other.ann)); got != 4 {
			t.Errorf("%d events, want one for each tenant and key", got)
		}
	})
}
