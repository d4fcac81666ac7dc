package contact_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestRefusalNamesTheFirstReason(t *testing.T) {
	t.Parallel()
	byType := contact.Consent{TypeKey: "offers"}
	byCategory := contact.Consent{TypeKey: "newsletter", Category: news}
	ok := contact.Contact{Email: "ann@example.org", Status: contact.Active}
	with := func(f func(c *contact.Contact)) contact.Contact {
		c := ok
		f(&c)
		return c
	}
	for _, tt := range []struct {
		name   string
		c      contact.Contact
		k      contact.Consent
		listed bool
		want   string
	}{
		{"nothing said is consent", ok, byType, false, ""},
		{"nothing said of the category is consent", ok, byCategory, false, ""},
		{"pending", with(func(c *contact.Contact) { c.Status = contact.Pending; c.DoNotContact = true }), byType, true, "pending"},
		{"bounced", with(func(c *contact.Contact) { c.Status = contact.Bounced }), byType, true, "not_active"},
		{"deleted", with(func(c *contact.Contact) { c.Status = contact.Suppressed }), byType, false, "not_active"},
		{"do not contact", with(func(c *contact.Contact) { c.DoNotContact = true }), byType, true, "do_not_contact"},
		{"listed", ok, byType, true, "suppressed_address"},
		{"left the type", with(func(c *contact.Contact) { c.Subscriptions = map[string]bool{"offers": false} }), byType, false, "unsubscribed_type"},
		{"left another type", with(func(c *contact.Contact) { c.Subscriptions = map[string]bool{"digest": false} }), byType, false, ""},
		{"left the category", with(func(c *contact.Contact) { c.CategorySubscriptions = map[id.Category]bool{news: false} }), byCategory, false, "unsubscribed_category"},
		{"the category decides, not the type", with(func(c *contact.Contact) { c.Subscriptions = map[string]bool{"newsletter": false} }), byCategory, false, ""},
		{"no address", with(func(c *contact.Contact) { c.Email = "broken" }), byType, false, "invalid_email"},
	} {
		if got := tt.c.Refusal(tt.k, tt.listed); got != tt.want {
			t.Errorf("%s: Refusal = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// follow appends entries about a contact and runs the follower.
func follow(t *testing.T, db *sqldb.DB, c id.Contact, entries ...journal.Entry) contact.Contact {
	t.Helper()
	for i := range entries {
		entries[i].Tenant, entries[i].Contact = acme, c
		entries[i].ID = idtest.Named[id.Entry](fmt.Sprintf("%s-%03d", id.New[id.Entry](), i))
	}
	if err := journal.Append(t.Context(), db, entries...); err != nil {
		t.Fatal(err)
	}
	e := journal.Engine{DB: db, Followers: []journal.Follower{contact.Follower()}, Log: slog.New(slog.DiscardHandler)}
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := contact.ByID(t.Context(), db, acme, c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func bounce(class string, at time.Time) journal.Entry {
	return journal.Entry{Type: journal.EmailBounced, At: at, Data: map[string]any{"class": class}}
}

func days(n int) time.Time { return noon.AddDate(0, 0, n) }

func TestMailEventsAreCounted(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "ann@example.org", contact.Change{})
		hit := func(typ journal.Type, class string, first bool, at time.Time) journal.Entry {
			return journal.Entry{Type: typ, At: at, Data: map[string]any{"classification": class, "first": first}}
		}
		got := follow(t, db, c.ID,
			journal.Entry{Type: journal.EmailSent, At: days(1)},
			journal.Entry{Type: journal.EmailDelivered, At: days(1), Data: map[string]any{"after_sent": true}},
			journal.Entry{Type: journal.EmailDelivered, At: days(2)},
			hit(journal.EmailOpened, "bot", false, days(2)),
			hit(journal.EmailOpened, "privacy", true, days(3)),
			hit(journal.EmailOpened, "human", false, days(4)),
			hit(journal.EmailClicked, "human", true, days(5)),
		)
		if got.TotalEmailsSent != 2 || got.TotalEmailsOpened != 1 || got.TotalEmailsClicked != 1 {
			t.Errorf("counted %d, %d, %d; want 2 sent, 1 opened, 1 clicked", got.TotalEmailsSent, got.TotalEmailsOpened, got.TotalEmailsClicked)
		}
		for name, at := range map[string][2]*time.Time{
			"sent":     {got.LastEmailSentAt, new(days(2))},
			"opened":   {got.LastEmailOpenedAt, new(days(4))},
			"clicked":  {got.LastEmailClickedAt, new(days(5))},
			"activity": {got.LastActivityAt, new(days(5))},
		} {
			if at[0] == nil || !at[0].Equal(*at[1]) {
				t.Errorf("last %s at %v, want %v", name, at[0], *at[1])
			}
		}
		got = follow(t, db, c.ID, journal.Entry{Type: journal.EmailClicked, At: days(6)})
		if !got.LastActivityPending || !got.LastActivityAt.Equal(days(6)) {
			t.Errorf("an unclassified click: activity %v, pending %v", got.LastActivityAt, got.LastActivityPending)
		}
		got = follow(t, db, c.ID, hit(journal.EmailClicked, "bot", false, days(6)))
		if got.LastActivityPending || !got.LastActivityAt.Equal(days(5)) {
			t.Errorf("after the verdict bot: activity %v, pending %v; want the previous activity", got.LastActivityAt, got.LastActivityPending)
		}
		got = follow(t, db, c.ID, journal.Entry{Type: journal.EmailClicked, At: days(7), Data: map[string]any{"classification": "bot", "withdrawn": true}})
		if got.TotalEmailsClicked != 0 || got.TotalEmailsOpened != 1 {
			t.Errorf("after a withdrawn click: %d opened, %d clicked; want 1 and 0", got.TotalEmailsOpened, got.TotalEmailsClicked)
		}
	})
}

func TestAWithdrawnOpenOrClickDoesNotCount(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "ann@example.org", contact.Change{})
		hit := func(typ journal.Type, data map[string]any) journal.Entry {
			return journal.Entry{Type: typ, At: days(1), Data: data}
		}
		counts, gone := map[string]any{"classification": "human", "first": true}, map[string]any{"classification": "bot", "withdrawn": true}
		got := follow(t, db, c.ID, hit(journal.EmailOpened, counts), hit(journal.EmailClicked, counts), hit(journal.EmailOpened, counts),
			hit(journal.EmailOpened, gone), hit(journal.EmailClicked, gone))
		if got.TotalEmailsOpened != 1 || got.TotalEmailsClicked != 0 {
			t.Errorf("counted %d opened, %d clicked; want 1 and 0", got.TotalEmailsOpened, got.TotalEmailsClicked)
		}
		got = follow(t, db, c.ID, hit(journal.EmailClicked, gone), hit(journal.EmailClicked, counts))
		if got.TotalEmailsClicked != 1 {
			t.Errorf("counted %d clicked after another click, want 1", got.TotalEmailsClicked)
		}
	})
}

func TestStatusAndDeliverabilityAfterBounces(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		n := 0
		fresh := func() id.Contact {
			n++
			return mustCreate(t, db, fmt.Sprintf("c%d@example.org", n), contact.Change{}).ID
		}
		delivered := journal.Entry{Type: journal.EmailDelivered, At: days(3)}
		soft := func(at ...int) []journal.Entry {
			var list []journal.Entry
			for _, d := range at {
				list = append(list, bounce("soft", days(d)))
			}
			return list
		}
		for _, tt := range []struct {
			name    string
			entries []journal.Entry
			status  contact.Status
			bounce  string
			deliver contact.Deliverability
		}{
			{"hard", []journal.Entry{bounce("hard", days(1))}, contact.Bounced, "hard", contact.Blocked},
			{"one soft", soft(1), contact.Active, "soft", contact.Watch},
			{"three soft", soft(1, 2, 3), contact.Active, "soft", contact.AtRisk},
			{"five soft in a week", soft(1, 2, 3, 5, 8), contact.Bounced, "soft", contact.Blocked},
			{"five soft in less", soft(1, 2, 3, 4, 5), contact.Active, "soft", contact.AtRisk},
			{"blocks do not count", append(soft(1, 2, 3, 5), bounce("block", days(20))), contact.Active, "soft", contact.AtRisk},
			{"a delivery ends the run", append(append(soft(1, 2), delivered), soft(5, 6, 9)...), contact.Active, "soft", contact.AtRisk},
			{"a delivery clears the type", append(soft(1, 2), delivered), contact.Active, "", contact.Watch},
		} {
			got := follow(t, db, fresh(), tt.entries...)
			if got.Status != tt.status || got.BounceType != tt.bounce || got.DeliverabilityStatus != tt.deliver {
				t.Errorf("%s: %s, %q, %s; want %s, %q, %s", tt.name, got.Status, got.BounceType, got.DeliverabilityStatus, tt.status, tt.bounce, tt.deliver)
			}
		}
		c := fresh()
		mustStatus(t, db, c, contact.Complained)
		if got := follow(t, db, c, bounce("hard", days(1))); got.Status != contact.Complained {
			t.Errorf("after a bounce, the status complained became %s", got.Status)
		}
	})
}

func TestUnsubscribeRespectsTheRankOfStatuses(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "ann@example.org", contact.Change{})
		leave := func(l contact.UnsubscribeScope) contact.Contact {
			t.Helper()
			for range 2 { // the second call changes nothing
				if err := contact.Unsubscribe(t.Context(), db, acme, c.ID, l, noon); err != nil {
					t.Fatal(err)
				}
			}
			got, err := contact.ByID(t.Context(), db, acme, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := leave(contact.UnsubscribeScope{TypeKey: "newsletter", Category: news})
		if got.Status != contact.Active || got.EffectiveSubscriptions(types)["digest"] || got.Refusal(contact.Consent{TypeKey: "digest", Category: news}, false) == "" {
			t.Errorf("after unsubscribing from a category: %s, %v", got.Status, got.CategorySubscriptions)
		}
		got = leave(contact.UnsubscribeScope{TypeKey: "offers"})
		if v, said := got.Subscriptions["offers"]; v || !said || got.Status != contact.Active {
			t.Errorf("after unsubscribing from a type: %s, %v", got.Status, got.Subscriptions)
		}
		got = leave(contact.UnsubscribeScope{Everything: true})
		if got.Status != contact.Unsubscribed || got.UnsubscribedAt == nil {
			t.Errorf("after unsubscribing from everything: %s", got.Status)
		}
		if entries := journalTypes(t, db, c.ID); len(entries) != 5 { // created, two for the category, one for the type, one for all
			t.Errorf("journal entries %v", entries)
		}
		mustStatus(t, db, c.ID, contact.Bounced)
		if got = leave(contact.UnsubscribeScope{Everything: true}); got.Status != contact.Bounced {
			t.Errorf("a bounced contact results %s", got.Status)
		}
		if err := contact.Unsubscribe(t.Context(), db, other, c.ID, contact.UnsubscribeScope{Everything: true}, noon); err == nil {
			t.Error("another tenant unsubscribed the contact")
		}
	})
}

func TestSplitConsentKeepsChoices(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		gone := mustCreate(t, db, "ann@example.org", contact.Change{CategorySubscriptions: map[string]*bool{news.String(): new(false)}})
		stays := mustCreate(t, db, "bob@example.org", contact.Change{})
		if err := contact.SplitConsent(t.Context(), db, acme, news, []string{"newsletter", "digest"}, noon); err != nil {
			t.Fatal(err)
		}
		list, err := contact.Load(t.Context(), db, acme, []id.Contact{gone.ID, stays.ID, id.New[id.Contact]()})
		if err != nil || len(list) != 2 {
			t.Fatalf("Load = %d contacts, %v", len(list), err)
		}
		for _, c := range list {
			want := map[string]bool{}
			if c.ID == gone.ID {
				want = map[string]bool{"newsletter": false, "digest": false}
			}
			if diff := cmp.Diff(want, c.Subscriptions); diff != "" || len(c.CategorySubscriptions) != 0 {
				t.Errorf("%s: %v\n%s", c.Email, c.CategorySubscriptions, diff)
			}
		}
	})
}

func TestTimeMakesContactsInactive(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "ann@example.org", contact.Change{})
		var mails []journal.Entry
		for i := range 12 {
			mails = append(mails, journal.Entry{Type: journal.EmailDelivered, At: days(i)})
		}
		mails = append(mails, journal.Entry{Type: journal.EmailOpened, At: days(12), Data: map[string]any{"classification": "human", "first": true}})
		if got := follow(t, db, c.ID, mails...); got.DeliverabilityStatus != contact.Healthy {
			t.Errorf("just opened: %s", got.DeliverabilityStatus)
		}
		now := days(12 + 100)
		u := contact.Maintenance{DB: db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
		for more := true; more; {
			var err error
			if more, err = u.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		got, err := contact.ByID(t.Context(), db, acme, c.ID)
		if err != nil || got.DeliverabilityStatus != contact.Watch || got.DeliverabilityReason != "inactive" {
			t.Errorf("a hundred days later: %s %s, %v; want watch, inactive", got.DeliverabilityStatus, got.DeliverabilityReason, err)
		}
	})
}

func TestTenMailsWithoutAnOpenMeanInactive(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := mustCreate(t, db, "ann@example.org", contact.Change{})
		for i, want := range []contact.Deliverability{
			contact.Healthy, contact.Healthy, contact.Healthy, contact.Watch, contact.Watch, contact.Watch, contact.AtRisk,
		} {
			mail := journal.Entry{Type: journal.EmailDelivered, At: days(i)}
			got := follow(t, db, c.ID, mail, mail, mail)
			if got.DeliverabilityStatus != want || got.TotalEmailsSent != int64(3*i+3) || !got.LastEmailSentAt.Equal(days(i)) {
				t.Errorf("after %d mails: %s, %d, %v; want %s", 3*i+3, got.DeliverabilityStatus, got.TotalEmailsSent, got.LastEmailSentAt, want)
			}
		}
	})
}

func TestSearchFindsEveryWord(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		mustCreate(t, db, "jose@example.org", contact.Change{Texts: texts("first_name", "José", "last_name", "Núñez", "company", "100% Öl_AG")})
		mustCreate(t, db, "ann@example.org", contact.Change{Texts: texts("full_name", "Ann Example")})
		for search, want := range map[string]int{
			"": 2, "JOSE": 1, "nunez josé": 1, "jose ann": 0, "example.org": 2, "100%": 1, "1%0": 0, "l_a": 1, "öl": 1, "%": 1, `\`: 0, "ann exam": 1,
		} {
			n, err := contact.Count(t.Context(), db, acme, contact.Selector{Search: search})
			if err != nil || n != want {
				t.Errorf("Count(%q) = %d, %v; want %d", search, n, err, want)
			}
		}
	})
}

func TestPagesContainEachContactOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		n := 0
		add := func(ctx context.Context, city *string, sent int64) id.Contact {
			n++
			c, err := contact.Create(ctx, db, acme, fmt.Sprintf("c%d@example.org", n), contact.Change{Texts: map[contact.Text]*string{contact.City: city}}, rules, noon.Add(time.Duration(n%3)*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(ctx, `INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at, total_emails_sent) VALUES ($1, $2, 0, $3)
				ON CONFLICT (tenant_id, contact_id) DO UPDATE SET total_emails_sent = excluded.total_emails_sent`, acme, c.ID, sent); err != nil {
				t.Fatal(err)
			}
			return c.ID
		}
		sorts := contact.Sorts()
		slices.Sort(sorts)
		cities := []*string{nil, new("Bonn"), new("Aachen"), new("Zürich")}
		ctx := t.Context()
		rapid.Check(t, func(rt *rapid.T) {
			before := map[id.Contact]int{}
			if n < 20 {
				for range rapid.IntRange(0, 6).Draw(rt, "fresh") {
					add(ctx, rapid.SampledFrom(cities).Draw(rt, "city"), rapid.Int64Range(0, 2).Draw(rt, "sent"))
				}
			}
			all, err := contact.List(ctx, db, acme, contact.Query{Limit: 1000})
			if err != nil {
				rt.Fatal(err)
			}
			for _, c := range all.Contacts {
				before[c.ID] = 0
			}
			q := contact.Query{
				Sort: contact.ParseSort(rapid.SampledFrom(sorts).Draw(rt, "sort")), Asc: rapid.Bool().Draw(rt, "asc"),
				Limit: rapid.IntRange(2, 9).Draw(rt, "limit"),
			}
			nulls := false
			for {
				page, err := contact.List(ctx, db, acme, q)
				if err != nil {
					rt.Fatal(err)
				}
				for _, c := range page.Contacts {
					if _, known := before[c.ID]; known {
						before[c.ID]++
					}
					if q.Sort == "city" {
						if c.City != nil && nulls {
							rt.Fatal("a city after the contacts without one")
						}
						nulls = nulls || c.City == nil
					}
				}
				if page.Next == nil {
					break
				}
				q.After = page.Next
				if n < 20 && rapid.Bool().Draw(rt, "arrives") {
					add(ctx, rapid.SampledFrom(cities).Draw(rt, "city"), 1)
				}
			}
			for c, seen := range before {
				if seen != 1 {
					rt.Fatalf("contact %s is on %d pages, want 1", c, seen)
				}
			}
		})
	})
}
