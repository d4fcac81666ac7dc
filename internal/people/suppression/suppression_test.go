package suppression_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	acme  = id.Tenant(101)
	other = id.Tenant(102)
)

// each runs f on both databases; another tenant's list must not change.
func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := suppression.Add(t.Context(), db, other, "ann@example.org", "theirs", noon); err != nil {
			t.Fatal(err)
		}
		f(t, db)
		want := []suppression.Entry{{Email: "ann@example.org", Reason: "theirs", AddedAt: noon}}
		if diff := cmp.Diff(want, all(t, db, other, suppression.Filter{})); diff != "" {
			t.Errorf("the other tenant's list changed:\n%s", diff)
		}
	})
}

func all(t *testing.T, db *sqldb.DB, tenant id.Tenant, f suppression.Filter) []suppression.Entry {
	t.Helper()
	var list []suppression.Entry
	for e, err := range suppression.All(t.Context(), db, tenant, f) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func mustAdd(t *testing.T, db *sqldb.DB, email, reason string, now time.Time) suppression.Entry {
	t.Helper()
	e, err := suppression.Add(t.Context(), db, acme, email, reason, now)
	if err != nil {
		t.Fatalf("Add(%q): %v", email, err)
	}
	return e
}

func person(t *testing.T, db *sqldb.DB, email string) contact.Contact {
	t.Helper()
	c, err := contact.Create(t.Context(), db, acme, email, contact.Change{}, contact.Rules{Listed: suppression.QueueListed}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reload(t *testing.T, db *sqldb.DB, c contact.Contact) contact.Contact {
	t.Helper()
	got, err := contact.ByID(t.Context(), db, acme, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAddAgainReplacesTheReason(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		mustAdd(t, db, " Ann@Example.org", "asked by phone", noon)
		got := mustAdd(t, db, "ann@example.org", "", noon.Add(time.Hour))
		if want := (suppression.Entry{Email: "ann@example.org", AddedAt: noon}); got != want {
			t.Errorf("second Add = %+v, want %+v", got, want)
		}
		for email, reason := range map[string]string{"nope": "", "ann@example.org": strings.Repeat("x", 201)} {
			if _, err := suppression.Add(t.Context(), db, acme, email, reason, noon); err == nil {
				t.Errorf("Add(%q, %.10q) is taken", email, reason)
			}
		}
		for range 2 {
			if err := suppression.Remove(t.Context(), db, acme, "ANN@example.org", noon); err != nil {
				t.Errorf("Remove: %v", err)
			}
		}
		if list := all(t, db, acme, suppression.Filter{}); len(list) != 0 {
			t.Errorf("%v remains", list)
		}
	})
}

func TestAListedAddressShowsInTheContact(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		before := person(t, db, "ann@example.org")
		mustAdd(t, db, "ann@example.org", "", noon)
		mustAdd(t, db, "bob@example.org", "", noon)
		got := reload(t, db, before)
		if got.DeliverabilityStatus != contact.Blocked || got.DeliverabilityReason != "suppression_list" || got.Status != contact.Active || len(got.Subscriptions) != 0 {
			t.Errorf("a listed contact is %s (%s), %s", got.DeliverabilityStatus, got.DeliverabilityReason, got.Status)
		}
		if bob := person(t, db, "bob@example.org"); bob.DeliverabilityStatus != contact.Blocked {
			t.Errorf("a contact with a listed address is made %s", bob.DeliverabilityStatus)
		}
		if err := suppression.Remove(t.Context(), db, acme, "ann@example.org", noon); err != nil {
			t.Fatal(err)
		}
		if got = reload(t, db, before); got.DeliverabilityStatus != contact.Healthy {
			t.Errorf("a released contact is %s", got.DeliverabilityStatus)
		}
	})
}

func TestSuppressContactsUnsubscribesThem(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ann, bob := person(t, db, "ann@example.org"), person(t, db, "bob@example.org")
		if _, err := db.Exec(t.Context(), `UPDATE contact SET global_status = 'bounced' WHERE tenant_id = $1 AND id = $2`, acme, bob.ID); err != nil {
			t.Fatal(err)
		}
		mustAdd(t, db, "bob@example.org", "hard_bounce", noon)
		n, err := suppression.SuppressContacts(t.Context(), db, acme, []id.Contact{ann.ID, bob.ID, id.New[id.Contact]()}, "", noon)
		if err != nil || n != 2 {
			t.Fatalf("SuppressContacts = %d, %v; want 2", n, err)
		}
		if got := reload(t, db, ann); got.Status != contact.Unsubscribed || got.UnsubscribedAt == nil || got.DeliverabilityStatus != contact.Blocked {
			t.Errorf("ann is %s, %s", got.Status, got.DeliverabilityStatus)
		}
		if got := reload(t, db, bob); got.Status != contact.Bounced {
			t.Errorf("bob is %s, want bounced as before", got.Status)
		}
		reasons := map[string]string{}
		for _, e := range all(t, db, acme, suppression.Filter{}) {
			reasons[e.Email] = e.Reason
		}
		if diff := cmp.Diff(map[string]string{"ann@example.org": "sunset", "bob@example.org": "hard_bounce"}, reasons); diff != "" {
			t.Errorf("reasons:\n%s", diff)
		}
		for want, ids := range map[string][]id.Contact{"TOO_MANY": make([]id.Contact, 501), "INVALID_INPUT": nil} {
			_, err := suppression.SuppressContacts(t.Context(), db, acme, ids, "", noon)
			if f, ok := fault.As(err); !ok || f.Code != want {
				t.Errorf("%d contacts: %v, want %s", len(ids), err, want)
			}
		}
	})
}

func TestImportAndList(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		mustAdd(t, db, "x5@example.org", "old", noon.Add(-time.Hour))
		emails := []string{"nope", "X1@example.org", "a_b@example.org"}
		for i := range 2500 {
			emails = append(emails, fmt.Sprintf("x%d@example.org", i))
		}
		r, err := suppression.Import(t.Context(), db, acme, emails, "", noon)
		if err != nil || r.Added != 2500 || r.Updated != 1 || len(r.Invalid) != 1 {
			t.Fatalf("Import = %d added, %d updated, %v, %v", r.Added, r.Updated, r.Invalid, err)
		}
		list := all(t, db, acme, suppression.Filter{})
		if len(list) != 2501 || list[2500].Email != "x5@example.org" || list[2500].Reason != "import" {
			t.Errorf("the list has %d entries, the oldest %+v", len(list), list[len(list)-1])
		}
		for f, want := range map[suppression.Filter]int{
			{Search: "X24"}: 111, {Search: "a_b"}: 1, {Search: "%"}: 0, {Reason: "import"}: 2501, {Reason: "impor"}: 0, {Search: "\x00"}: 0,
		} {
			if got := len(all(t, db, acme, f)); got != want {
				t.Errorf("%+v matches %d, want %d", f, got, want)
			}
		}
		found, err := suppression.Listed(t.Context(), db, acme, []string{"x1@example.org", "free@example.org"})
		if diff := cmp.Diff(map[string]bool{"x1@example.org": true}, found); err != nil || diff != "" {
			t.Errorf("Listed: %v\n%s", err, diff)
		}
	})
}

func TestHardBouncesAreListed(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ann, bob := person(t, db, "ann@example.org"), person(t, db, "bob@example.org")
		bounce := func(c contact.Contact, class string) journal.Entry {
			return journal.Entry{Tenant: acme, Type: journal.EmailBounced, Contact: c.ID, At: noon, Data: map[string]any{"class": class}}
		}
		if err := journal.Append(t.Context(), db, bounce(ann, "hard"), bounce(ann, "hard"), bounce(bob, "soft")); err != nil {
			t.Fatal(err)
		}
		e := journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{contact.Follower(), suppression.Follower()}}
		if err := e.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []suppression.Entry{{Email: "ann@example.org", Reason: suppression.HardBounce, AddedAt: noon}}
		if diff := cmp.Diff(want, all(t, db, acme, suppression.Filter{})); diff != "" {
			t.Errorf("the list:\n%s", diff)
		}
		if got := reload(t, db, ann); got.Status != contact.Bounced || got.DeliverabilityReason != "hard_bounce" {
			t.Errorf("ann is %s (%s)", got.Status, got.DeliverabilityReason)
		}
	})
}
