package contact_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// trigger is something that may change contacts' status.
type trigger struct {
	name  string
	lifts bool // it may lower the rank of a status
	fire  func(l life, ids []id.Contact, now time.Time) error
}

// life is a database with the followers of the journal.
type life struct {
	*testing.T
	db *sqldb.DB
}

// follow appends entries about each of the contacts and runs the followers.
func (l life) follow(ids []id.Contact, entries ...journal.Entry) error {
	var list []journal.Entry
	for _, c := range ids {
		entry := id.New[id.Entry]()
		for i, e := range entries {
			entry[len(entry)-1] = byte(i) // ids in the order of the entries
			e.Tenant, e.Contact, e.ID = acme, c, entry
			list = append(list, e)
		}
	}
	if err := journal.Append(l.Context(), l.db, list...); err != nil {
		return err
	}
	e := journal.Engine{
		DB: l.db, Log: slog.New(slog.DiscardHandler),
		Followers: []journal.Follower{contact.Follower(), suppression.Follower()},
	}
	return e.Drain(l.Context())
}

func (l life) each(ids []id.Contact, f func(c contact.Contact) error) error {
	list, err := contact.Load(l.Context(), l.db, acme, ids)
	for _, c := range list {
		err = errors.Join(err, f(c))
	}
	return err
}

func movedOnly(_ []contact.Moved, err error) error { return err }

var (
	everything = contact.UnsubscribeScope{Everything: true}
	offers     = contact.UnsubscribeScope{TypeKey: "offers"}
)

// saveEach saves a draft for each of the contacts.
func (l life) saveEach(ids []id.Contact, draft func(c contact.Contact) contact.Draft, now time.Time) error {
	return l.each(ids, func(c contact.Contact) error {
		_, err := contact.SaveAll(l.Context(), l.db, acme, []contact.Draft{draft(c)}, rules, now)
		return err
	})
}

// saveStatus saves, with a status from elsewhere, each of the contacts.
func (l life) saveStatus(ids []id.Contact, s contact.Status, now time.Time) error {
	return l.saveEach(ids, func(c contact.Contact) contact.Draft {
		return contact.Draft{Email: c.Email, Change: contact.Change{Status: s}}
	}, now)
}

var triggers = []trigger{
	{"hard bounce", false, func(l life, ids []id.Contact, now time.Time) error { return l.follow(ids, bounce("hard", now)) }},
	{"soft bounce", false, func(l life, ids []id.Contact, now time.Time) error { return l.follow(ids, bounce("soft", now)) }},
	{"block", false, func(l life, ids []id.Contact, now time.Time) error { return l.follow(ids, bounce("block", now)) }},
	{"five soft bounces in a week", false, func(l life, ids []id.Contact, now time.Time) error {
		var list []journal.Entry
		for _, d := range []int{7, 5, 3, 1, 0} {
			list = append(list, bounce("soft", now.AddDate(0, 0, -d)))
		}
		return l.follow(ids, list...)
	}},
	{"delivery", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, journal.Entry{Type: journal.EmailDelivered, At: now})
	}},
	{"open", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, journal.Entry{Type: journal.EmailOpened, At: now, Data: map[string]any{"classification": "human", "first": true}})
	}},
	{"event", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, journal.Entry{Type: journal.CustomEvent, Name: "order", At: now})
	}},
	{"complaint", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, journal.Entry{Type: journal.EmailComplained, At: now})
	}},
	{"unsubscribe from all", false, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(contact.UnsubscribeMany(l.Context(), l.db, acme, ids, everything, now))
	}},
	{"unsubscribe from a type", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.each(ids, func(c contact.Contact) error {
			return contact.Unsubscribe(l.Context(), l.db, acme, c.ID, offers, now)
		})
	}},
	{"suppression by ids", false, func(l life, ids []id.Contact, now time.Time) error {
		_, err := suppression.SuppressContacts(l.Context(), l.db, acme, ids, "", now)
		return err
	}},
	{"resubscription by the person", true, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(contact.Subscribe(l.Context(), l.db, acme, ids, offers, true, now))
	}},
	{"subscription by a program", false, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(contact.Subscribe(l.Context(), l.db, acme, ids, everything, false, now))
	}},
	{"subscription to a type by a program", false, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(contact.Subscribe(l.Context(), l.db, acme, ids, offers, false, now))
	}},
	{"reset of the status", true, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(suppression.ResetStatus(l.Context(), l.db, acme, ids, now))
	}},
	{"upsert", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveEach(ids, func(c contact.Contact) contact.Draft {
			return contact.Draft{Email: c.Email, Change: contact.Change{Texts: texts("city", now.String())}}
		}, now)
	}},
	{"update by id", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveEach(ids, func(c contact.Contact) contact.Draft {
			return contact.Draft{ID: c.ID, Mode: contact.Updating, Change: contact.Change{DoNotContact: new(!c.DoNotContact)}}
		}, now)
	}},
	{"update with active", false, func(l life, ids []id.Contact, now time.Time) error { return l.saveStatus(ids, contact.Active, now) }},
	{"update with pending", false, func(l life, ids []id.Contact, now time.Time) error { return l.saveStatus(ids, contact.Pending, now) }},
	{"update with unsubscribed", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveStatus(ids, contact.Unsubscribed, now)
	}},
	{"update with bounced", false, func(l life, ids []id.Contact, now time.Time) error { return l.saveStatus(ids, contact.Bounced, now) }},
	{"update with complained", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveStatus(ids, contact.Complained, now)
	}},
	{"update with suppressed", false, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveStatus(ids, contact.Suppressed, now)
	}},
	{"deletion", false, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(contact.Delete(l.Context(), l.db, acme, ids, now))
	}},
	{"restoration", true, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(contact.Restore(l.Context(), l.db, acme, ids, nil, now))
	}},
	{"anonymisation", false, func(l life, ids []id.Contact, now time.Time) error {
		return movedOnly(suppression.Anonymize(l.Context(), l.db, acme, ids, true, nil, now))
	}},
}

// The status after each trigger, by the status before it in the order of Statuses: active,
// pending, unsubscribed, bounced, complained, suppressed. "." means unchanged.
var statusAfter = map[string][6]contact.Status{
	"hard bounce":                         {"bounced", "bounced", "bounced", ".", ".", "."},
	"soft bounce":                         {".", ".", ".", ".", ".", "."},
	"block":                               {".", ".", ".", ".", ".", "."},
	"five soft bounces in a week":         {"bounced", "bounced", "bounced", ".", ".", "."},
	"delivery":                            {".", ".", ".", ".", ".", "."},
	"open":                                {".", ".", ".", ".", ".", "."},
	"event":                               {".", ".", ".", ".", ".", "."},
	"complaint":                           {"complained", "complained", "complained", "complained", ".", "."},
	"unsubscribe from all":                {"unsubscribed", "unsubscribed", ".", ".", ".", "."},
	"unsubscribe from a type":             {".", ".", ".", ".", ".", "."},
	"suppression by ids":                  {"unsubscribed", "unsubscribed", ".", ".", ".", "."},
	"resubscription by the person":        {".", "active", "active", ".", ".", "."},
	"subscription by a program":           {".", "active", ".", ".", ".", "."},
	"subscription to a type by a program": {".", "active", ".", ".", ".", "."},
	"reset of the status":                 {".", ".", "active", "active", "active", "."},
	"upsert":                              {".", "active", ".", ".", ".", "."},
	"update by id":                        {".", "active", ".", ".", ".", "."},
	"update with active":                  {".", "active", ".", ".", ".", "."},
	"update with pending":                 {".", ".", ".", ".", ".", "."},
	"update with unsubscribed":            {"unsubscribed", "unsubscribed", ".", ".", ".", "."},
	"update with bounced":                 {"bounced", "bounced", "bounced", ".", ".", "."},
	"update with complained":              {"complained", "complained", "complained", "complained", ".", "."},
	"update with suppressed":              {"suppressed", "suppressed", "suppressed", "suppressed", "suppressed", "."},
	"deletion":                            {"suppressed", "suppressed", "suppressed", "suppressed", "suppressed", "."},
	"restoration":                         {".", ".", ".", ".", ".", "active"},
	"anonymisation":                       {"suppressed", "suppressed", "suppressed", "suppressed", "suppressed", "."},
}

// inStatus creates a contact and brings it into a status by the usual calls.
func (l life) inStatus(email string, s contact.Status) id.Contact {
	l.Helper()
	c := mustCreate(l.T, l.db, email, contact.Change{})
	ids := []id.Contact{c.ID}
	var err error
	switch s {
	case contact.Pending: // no call creates one yet
		mustStatus(l.T, l.db, c.ID, s)
	case contact.Unsubscribed:
		err = contact.Unsubscribe(l.Context(), l.db, acme, c.ID, everything, noon)
	case contact.Bounced:
		err = l.follow(ids, bounce("hard", noon))
	case contact.Complained:
		err = l.follow(ids, journal.Entry{Type: journal.EmailComplained, At: noon})
	case contact.Suppressed:
		_, err = contact.Delete(l.Context(), l.db, acme, ids, noon)
	}
	if err != nil {
		l.Fatal(err)
	}
	return c.ID
}

// revisionsAfter returns how many revisions a trigger adds to a contact: one if it changes the profile. What
// happens to mail and events do not.
func revisionsAfter(trigger string, before, after contact.Contact) int64 {
	switch trigger {
	case "hard bounce", "soft bounce", "block", "five soft bounces in a week", "delivery", "open", "event", "complaint":
		return 0
	}
	if after.UpdatedAt.Equal(before.UpdatedAt) {
		return 0
	}
	return 1
}

func TestStatusAfterEachTrigger(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		for n, tr := range triggers {
			want, ok := statusAfter[tr.name]
			if !ok {
				t.Errorf("%s: not in the table", tr.name)
			}
			var ids []id.Contact
			for _, s := range contact.Statuses() {
				ids = append(ids, l.inStatus(fmt.Sprintf("%s%d@example.org", s, n), s))
			}
			before := make([]contact.Contact, len(ids))
			for i, c := range ids {
				before[i] = mustRead(t, db, c)
			}
			if err := tr.fire(l, ids, noon.Add(time.Hour)); err != nil {
				t.Errorf("%s: %v", tr.name, err)
			}
			for i, s := range contact.Statuses() {
				got, err := contact.ByID(t.Context(), db, acme, ids[i])
				if err != nil {
					t.Fatal(err)
				}
				if want := before[i].Revision + revisionsAfter(tr.name, before[i], got); got.Revision != want {
					t.Errorf("%s, of a contact that was %s: revision %d became %d, want %d", tr.name, s, before[i].Revision, got.Revision, want)
				}
				to := want[i]
				if to == "." {
					to = s
				}
				if got.Status != to {
					t.Errorf("%s of a contact that is %s: it is %s, want %s", tr.name, s, got.Status, to)
				}
				l.consistent(got)
			}
		}
	})
}

// consistent checks invariants of a contact.
func (l life) consistent(c contact.Contact) {
	l.Helper()
	listed, err := suppression.Listed(l.Context(), l.db, acme, []string{c.Email})
	if err != nil {
		l.Fatal(err)
	}
	blocked := listed[c.Email] || slices.Contains([]contact.Status{contact.Bounced, contact.Complained, contact.Suppressed}, c.Status)
	if (c.DeliverabilityStatus == contact.Blocked) != blocked {
		l.Errorf("a contact with status %s, listed %t, has deliverability %s %s", c.Status, listed[c.Email], c.DeliverabilityStatus, c.DeliverabilityReason)
	}
	if (c.SuppressedAt != nil) != (c.Status == contact.Suppressed) {
		l.Errorf("a contact with status %s has suppressed_at %v", c.Status, c.SuppressedAt)
	}
	if c.StatusBeforeSuppress != "" && c.Status != contact.Suppressed {
		l.Errorf("a contact with status %s has status_before_suppress %s", c.Status, c.StatusBeforeSuppress)
	}
	if c.Status == contact.Unsubscribed && c.UnsubscribedAt == nil {
		l.Error("an unsubscribed contact has no unsubscribed_at")
	}
}

// rank returns the rank of a contact's status; for a deleted contact, that of the status to
// restore.
func rank(c contact.Contact) int {
	s := c.Status
	if s == contact.Suppressed {
		if s = c.StatusBeforeSuppress; s == "" { // anonymised: cannot be restored
			return 5
		}
	}
	return slices.Index([]contact.Status{contact.Pending, contact.Active, contact.Unsubscribed, contact.Bounced, contact.Complained}, s)
}

func TestOnlyMarkedTriggersLowerAStatus(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	each(t, func(t *testing.T, db *sqldb.DB) {
		l, dice := life{t, db}, rand.New(rand.NewPCG(seed, 0))
		for n := range 15 {
			var ids []id.Contact // one in each status
			for _, s := range contact.Statuses() {
				ids = append(ids, l.inStatus(fmt.Sprintf("%s%d@example.org", s, n), s))
			}
			before, now := l.read(ids), noon
			var fired []string
			for range 6 {
				tr := triggers[dice.IntN(len(triggers))]
				fired, now = append(fired, tr.name), now.Add(time.Hour)
				if err := tr.fire(l, ids, now); err != nil {
					t.Fatalf("%s: %v", tr.name, err)
				}
				after := l.read(ids)
				for _, c := range ids {
					was, is := before[c], after[c]
					if !tr.lifts && (rank(is) < rank(was) || was.Status == contact.Suppressed && is.Status != contact.Suppressed) {
						t.Errorf("%q made a contact %s (%s) that was %s (%s)", fired, is.Status, is.StatusBeforeSuppress, was.Status, was.StatusBeforeSuppress)
					}
					if was.AnonymizedAt != nil && (is.Status != contact.Suppressed || !is.AnonymizedAt.Equal(*was.AnonymizedAt) || rank(is) != 5) {
						t.Errorf("%q changed an anonymised contact", fired)
					}
					l.consistent(is)
				}
				if t.Failed() {
					t.Fatalf("after %q", fired)
				}
				before = after
			}
		}
	})
}

func (l life) read(ids []id.Contact) map[id.Contact]contact.Contact {
	l.Helper()
	out := map[id.Contact]contact.Contact{}
	if err := l.each(ids, func(c contact.Contact) error { out[c.ID] = c; return nil }); err != nil {
		l.Fatal(err)
	}
	return out
}

// Concurrent deletions and bounces do not leave a deliverability that contradicts the
// status.
func TestConcurrentDeletionsAndBounces(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		var ids []id.Contact
		for i := range 5 {
			ids = append(ids, l.inStatus(fmt.Sprintf("m%d@example.org", i), contact.Active))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 20 {
				if _, err := contact.Delete(t.Context(), db, acme, ids, noon); err != nil {
					t.Error(err)
				}
				if i == 19 {
					return
				}
				if _, err := contact.Restore(t.Context(), db, acme, ids, nil, noon); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				if err := l.follow(ids, bounce("block", noon)); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		for _, c := range l.read(ids) {
			if l.consistent(c); c.Status != contact.Suppressed {
				t.Errorf("status = %s, want suppressed", c.Status)
			}
		}
	})
}

// A status that a contact has elsewhere has the journal entries of what it stands for, and nobody who comes
// deleted or unconfirmed is active after a restoration.
func TestAStatusFromElsewhereIsFollowed(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		created := string(journal.ContactCreated)
		for s, want := range map[contact.Status][]string{
			contact.Active: {created}, contact.Pending: {created}, contact.Bounced: {created}, contact.Complained: {created},
			contact.Unsubscribed: {created, string(journal.SubscriptionChanged)}, contact.Suppressed: {created, string(journal.ContactDeleted)},
		} {
			c := mustCreate(t, db, string(s)+"@example.org", contact.Change{Status: s})
			if got := journalTypes(t, db, c.ID); c.Status != s || !slices.Equal(got, want) {
				t.Errorf("a new contact is %s with %v, want %s with %v", c.Status, got, s, want)
			}
		}
		gone := l.inStatus("unconfirmed@example.org", contact.Pending)
		if err := l.saveStatus([]id.Contact{gone}, contact.Suppressed, noon); err != nil {
			t.Fatal(err)
		}
		if got := journalTypes(t, db, gone); !slices.Contains(got, string(journal.ContactDeleted)) {
			t.Errorf("a deletion has the journal entries %v", got)
		}
		for email, want := range map[string]contact.Status{"suppressed@example.org": contact.Unsubscribed, "unconfirmed@example.org": contact.Pending} {
			c, err := contact.ByEmail(t.Context(), db, acme, email)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := contact.Restore(t.Context(), db, acme, []id.Contact{c.ID}, nil, noon); err != nil {
				t.Fatal(err)
			}
			if c = l.read([]id.Contact{c.ID})[c.ID]; c.Status != want {
				t.Errorf("%s is %s when it is restored, want %s", email, c.Status, want)
			}
		}
	})
}
