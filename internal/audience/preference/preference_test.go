package preference_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/preference"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// account is a tenant with a category that two types are in, two types in none, and an inactive one. The mail is of
// the type tips.
type account struct {
	*testing.T
	db      *sqldb.DB
	product sender.Category
	tips    sender.EmailType
	old     sender.EmailType
	mail    outbox.Record
}

func newAccount(t *testing.T, db *sqldb.DB, slug string) *account {
	t.Helper()
	made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon)
	a := &account{T: t, db: db}
	a.must(err)
	a.mail.Tenant = made.ID
	a.product, err = sender.CreateCategory(t.Context(), db, made.ID, sender.CategoryFields{Name: new("Product"), Description: new("What changes")}, noon)
	a.must(err)
	_, err = sender.CreateCategory(t.Context(), db, made.ID, sender.CategoryFields{Name: new("Empty")}, noon)
	a.must(err)
	types, err := sender.EmailTypes(t.Context(), db, made.ID)
	a.must(err)
	for _, typ := range types { // those of a new tenant
		a.must(sender.DeleteEmailType(t.Context(), db, made.ID, typ.ID, nil))
	}
	a.typ("Updates", sender.EmailTypeFields{Category: &a.product.ID})
	a.typ("Releases", sender.EmailTypeFields{Category: &a.product.ID})
	a.tips = a.typ("Tips", sender.EmailTypeFields{})
	a.typ("Offers", sender.EmailTypeFields{})
	a.old = a.typ("Old", sender.EmailTypeFields{Active: new(false)})
	c, err := contact.Create(t.Context(), db, made.ID, "ann@example.org", contact.Change{}, contact.Rules{}, noon)
	a.must(err)
	a.mail.Contact, a.mail.ID, a.mail.Send = c.ID, id.New[id.Message](), id.New[id.Send]()
	return a
}

func (a *account) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func (a *account) typ(name string, f sender.EmailTypeFields) sender.EmailType {
	a.Helper()
	f.DisplayName = &name
	typ, err := sender.CreateEmailType(a.Context(), a.db, a.mail.Tenant, f, noon)
	a.must(err)
	return typ
}

func (a *account) set(column string, value any) {
	a.Helper()
	_, err := a.db.Exec(a.Context(), `UPDATE contact SET `+column+` = $3 WHERE tenant_id = $1 AND id = $2`, a.mail.Tenant, a.mail.Contact, value)
	a.must(err)
}

func (a *account) load(typ sender.EmailType) preference.Choices {
	a.Helper()
	got, err := preference.Load(a.Context(), a.db, a.mail, typ)
	a.must(err)
	return got
}

func (a *account) apply(answer preference.Answer) string {
	a.Helper()
	answer.Proof.Source = consent.PreferencesPage
	got, err := preference.Apply(a.Context(), a.db, a.mail, a.tips, answer, noon)
	a.must(err)
	return items(got)
}

// save submits the page with these items selected.
func (a *account) save(shown []string, selected ...string) string {
	a.Helper()
	answer := preference.Answer{Action: preference.Save, Selected: map[string]bool{}, Question: "I want:"}
	for _, name := range selected {
		answer.Selected[a.field(name)] = true
	}
	for _, name := range shown {
		answer.Shown = append(answer.Shown, a.field(name))
	}
	return a.apply(answer)
}

func (a *account) field(name string) string {
	a.Helper()
	for _, i := range a.load(a.tips).Items {
		if i.Name == name {
			return i.Field()
		}
	}
	a.Fatalf("there is no item %s", name)
	return ""
}

// proofs returns what the contact's consents say.
func (a *account) proofs() (list []string) {
	a.Helper()
	records, err := consent.List(a.Context(), a.db, a.mail.Tenant, a.mail.Contact)
	a.must(err)
	for _, r := range records {
		what := r.TypeKey
		switch {
		case r.Category == a.product.ID:
			what = "product"
		case what == "":
			what = "all"
		}
		list = append(list, fmt.Sprintf("%s %v: %s", what, r.Granted, r.Wording))
	}
	slices.Sort(list)
	return list
}

// items returns the names of the items with a sign of whether the recipient gets them, and a star at the mail's.
func items(c preference.Choices) string {
	var list []string
	for _, i := range c.Items {
		sign, star := "-", ""
		if i.Subscribed {
			sign = "+"
		}
		if i.OfMail {
			star = "*"
		}
		list = append(list, sign+i.Name+star)
	}
	return strings.Join(list, " ")
}

// each runs f on both databases. The contact of a second tenant with the same address must stay as it is.
func each(t *testing.T, f func(t *testing.T, a *account)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		other := newAccount(t, db, "other")
		before, err := contact.ByID(t.Context(), db, other.mail.Tenant, other.mail.Contact)
		other.must(err)
		a := newAccount(t, db, "acme")
		f(t, a)
		after, err := contact.ByID(t.Context(), db, other.mail.Tenant, other.mail.Contact)
		other.must(err)
		if diff := cmp.Diff(before, after, cmp.AllowUnexported(contact.Activity{})); diff != "" || len(other.proofs()) > 0 {
			t.Errorf("the other tenant's contact changed: %q\n%s", other.proofs(), diff)
		}
	})
}

// TestItemsAreWhatMailMayBeOf leaves out categories without active types, and inactive types unless the mail is of
// them.
func TestItemsAreWhatMailMayBeOf(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		types, err := sender.EmailTypes(t.Context(), a.db, a.mail.Tenant)
		a.must(err)
		byName := map[string]sender.EmailType{"": {}} // the mail's type was deleted
		for _, typ := range types {
			byName[typ.DisplayName] = typ
		}
		for name, want := range map[string]string{
			"": "+Product +Offers +Tips", "Tips": "+Product +Offers +Tips*", "Updates": "+Product* +Offers +Tips", "Old": "+Product +Offers +Old* +Tips",
		} {
			got := a.load(byName[name])
			if items(got) != want || (got.OfMail() == nil) != (name == "") {
				t.Errorf("a mail of %q: %s, want %s", name, items(got), want)
			}
		}
	})
}

// TestStatusesDecideWhatIsSent shows nothing as subscribed to whom no mail is sent, and says which of these a
// choice can end.
func TestStatusesDecideWhatIsSent(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		a.save(nil, "Product", "Tips")
		for _, tt := range []struct {
			status                contact.Status
			want                  string
			unsubscribed, stopped bool
		}{
			{contact.Active, "+Product -Offers +Tips*", false, false},
			{contact.Pending, "-Product -Offers -Tips*", false, false},
			{contact.Unsubscribed, "-Product -Offers -Tips*", true, false},
			{contact.Bounced, "+Product -Offers +Tips*", false, true},
			{contact.Complained, "+Product -Offers +Tips*", false, true},
			{contact.Suppressed, "+Product -Offers +Tips*", false, true},
		} {
			a.set("global_status", string(tt.status))
			if got := a.load(a.tips); items(got) != tt.want || got.Unsubscribed != tt.unsubscribed || got.Stopped != tt.stopped {
				t.Errorf("%s: %s, unsubscribed %v, stopped %v", tt.status, items(got), got.Unsubscribed, got.Stopped)
			}
		}
		a.set("global_status", string(contact.Bounced))
		a.set("unsubscribed_at", noon.UnixMicro())
		if got := a.load(a.tips); !got.Unsubscribed || !got.Stopped || items(got) != "-Product -Offers -Tips*" {
			t.Errorf("unsubscribed before it bounced: %+v", got)
		}
		a.set("unsubscribed_at", nil)
		a.set("global_status", string(contact.Active))
		a.set("do_not_contact", true)
		if got := a.load(a.tips); !got.Stopped {
			t.Errorf("do not contact: %+v", got)
		}
	})
}

// TestSavingChangesOnlyWhatWasShown keeps items that a page of before did not have, and stores a proof of each
// change.
func TestSavingChangesOnlyWhatWasShown(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		if got := a.save(nil, "Product", "Tips", "Offers"); got != "+Product +Offers +Tips*" || len(a.proofs()) != 0 {
			t.Errorf("nothing was changed: %s, %q", got, a.proofs())
		}
		if got := a.save([]string{"Product", "Tips"}, "Product"); got != "+Product +Offers -Tips*" {
			t.Errorf("tips were not selected: %s", got)
		}
		if got := a.save([]string{"Tips"}, "Tips", "Offers"); got != "+Product +Offers +Tips*" {
			t.Errorf("tips were selected again: %s", got)
		}
		if got := a.save(nil, "Tips", "Offers"); got != "-Product +Offers +Tips*" {
			t.Errorf("a category was not selected: %s", got)
		}
		a.save(nil, "Tips", "Offers") // repeated
		want := []string{"product false: I want: Product: What changes", "tips false: I want: Tips", "tips true: I want: Tips"}
		if diff := cmp.Diff(want, a.proofs()); diff != "" {
			t.Errorf("proofs:\n%s", diff)
		}
	})
}

// TestSubscribingToOneThingDoesNotBringBackTheRest selects one item after all mail was ended, and as a contact that
// never confirmed its subscription.
func TestSubscribingToOneThingDoesNotBringBackTheRest(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		if got := a.apply(preference.Answer{Action: preference.UnsubscribeAll, Proof: consent.Proof{Wording: "No mail"}}); got != "-Product -Offers -Tips*" {
			t.Errorf("all mail was ended: %s", got)
		}
		if got := a.save(nil); got != "-Product -Offers -Tips*" || len(a.proofs()) != 1 {
			t.Errorf("nothing was selected: %s, %q", got, a.proofs())
		}
		if got := a.save(nil, "Offers"); got != "-Product +Offers -Tips*" {
			t.Errorf("offers were selected: %s", got)
		}
		if c, err := contact.ByID(t.Context(), a.db, a.mail.Tenant, a.mail.Contact); err != nil || c.Status != contact.Active || c.UnsubscribedAt != nil {
			t.Errorf("the contact is %s, %v", c.Status, err)
		}
		if p := a.proofs(); !slices.Contains(p, "all false: No mail") || !slices.Contains(p, "tips false: I want: Tips") {
			t.Errorf("proofs %q", p)
		}
		a.save(nil, "Product", "Tips", "Offers")
		a.set("global_status", string(contact.Pending))
		if got := a.save(nil, "Product"); got != "+Product -Offers -Tips*" {
			t.Errorf("a pending contact selected a category: %s", got)
		}
	})
}

// TestResubscribingIsToWhatTheMailIsOf brings back the mail's item, or all mail if its type was deleted.
func TestResubscribingIsToWhatTheMailIsOf(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		a.save(nil, "Product")
		if got := a.apply(preference.Answer{Action: preference.Resubscribe}); got != "+Product -Offers +Tips*" {
			t.Errorf("to the mail's item: %s", got)
		}
		a.apply(preference.Answer{Action: preference.UnsubscribeAll})
		got, err := preference.Apply(t.Context(), a.db, a.mail, sender.EmailType{}, preference.Answer{Action: preference.Resubscribe, Proof: consent.Proof{Source: consent.PreferencesPage}}, noon)
		if err != nil || got.Unsubscribed || items(got) != "+Product -Offers +Tips" {
			t.Errorf("to all mail: %s, %v", items(got), err)
		}
	})
}

// TestAChoiceNeverEndsABounce stores the choice of a contact to which no mail is sent for another reason.
func TestAChoiceNeverEndsABounce(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		for _, status := range []contact.Status{contact.Bounced, contact.Complained, contact.Suppressed} {
			a.set("global_status", string(status))
			for _, answer := range []preference.Answer{{Action: preference.UnsubscribeAll}, {Action: preference.Resubscribe}, {Action: preference.Save, Selected: map[string]bool{"type.tips": true}}} {
				a.apply(answer)
				if c, err := contact.ByID(t.Context(), a.db, a.mail.Tenant, a.mail.Contact); err != nil || c.Status != status || !a.load(a.tips).Stopped {
					t.Errorf("%s after %s: %s, %v", status, answer.Action, c.Status, err)
				}
			}
		}
	})
}

// TestContactsThatAreGoneHaveNoChoices returns ErrGone, and stores nothing.
func TestContactsThatAreGoneHaveNoChoices(t *testing.T) {
	each(t, func(t *testing.T, a *account) {
		gone := func(what string) {
			t.Helper()
			_, loaded := preference.Load(t.Context(), a.db, a.mail, a.tips)
			_, applied := preference.Apply(t.Context(), a.db, a.mail, a.tips, preference.Answer{Action: preference.UnsubscribeAll}, noon)
			if !errors.Is(loaded, preference.ErrGone) || !errors.Is(applied, preference.ErrGone) || len(a.proofs()) > 0 {
				t.Errorf("%s: %v, %v, %q", what, loaded, applied, a.proofs())
			}
		}
		a.set("anonymized_at", noon.UnixMicro())
		gone("anonymised")
		a.set("anonymized_at", nil)
		a.mail.Contact = id.New[id.Contact]()
		gone("never there")
	})
}
