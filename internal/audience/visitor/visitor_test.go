package visitor_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// website is a tenant with a website, and the parts that serve it.
type website struct {
	t         *testing.T
	db        *sqldb.DB
	tenant    tenant.Tenant
	box       *secret.Box
	keys      *track.Keys
	collector *visitor.Collector
	engine    *visitor.Engine
	now       time.Time
}

func newWebsite(t *testing.T, db *sqldb.DB, slug string) *website {
	t.Helper()
	made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon, contact.CreateDefaultStages, sender.Newsletter)
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	w := &website{t: t, db: db, tenant: made, box: box, keys: track.NewKeys(box), now: noon}
	w.collector = visitor.NewCollector(db, w.keys)
	w.engine = &visitor.Engine{DB: db, Box: box, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.collector.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return w
}

type fields = map[string]any

// send accepts a request of a visitor.
func (w *website) send(kind visitor.Kind, who string, body fields) {
	w.t.Helper()
	all := fields{"site_key": w.tenant.SiteKey, "visitor_id": who}
	maps.Copy(all, body)
	text, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	r, key, binding, ok := visitor.Parse(kind, text, w.now)
	if !ok || key != w.tenant.SiteKey {
		w.t.Fatalf("Parse(%s) = %+v, %q, %v", text, r, key, ok)
	}
	if err := w.collector.Accept(w.t.Context(), w.tenant.ID, r, binding); err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(time.Second)
}

func (w *website) page(who, url string, more ...string) {
	w.t.Helper()
	body := fields{"url": url}
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	w.send(visitor.Page, who, body)
}

func (w *website) event(who, name string) {
	w.t.Helper()
	w.send(visitor.Event, who, fields{"event_name": name})
}

// identify sends an identify call with an address and, as pairs, other fields.
func (w *website) identify(who, email string, more ...any) {
	w.t.Helper()
	body := fields{"email": email}
	for i := 0; i < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	w.send(visitor.Identify, who, body)
}

// drain applies the requests that were sent, and runs the follower of contacts.
func (w *website) drain() {
	w.t.Helper()
	if err := w.engine.Drain(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	followed := &journal.Engine{DB: w.db, Followers: []journal.Follower{contact.Follower()}, Log: slog.New(slog.DiscardHandler)}
	if err := followed.Drain(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *website) create(email string, ch contact.Change) contact.Contact {
	w.t.Helper()
	c, err := contact.Create(w.t.Context(), w.db, w.tenant.ID, email, ch, contact.Rules{}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *website) contact(email string) contact.Contact {
	w.t.Helper()
	c, err := contact.ByEmail(w.t.Context(), w.db, w.tenant.ID, email)
	if err != nil {
		w.t.Fatalf("contact %s: %v", email, err)
	}
	return c
}

func (w *website) has(email string) bool {
	w.t.Helper()
	found, err := contact.IDsByEmail(w.t.Context(), w.db, w.tenant.ID, []string{email})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(found) > 0
}

// history returns the page views and events of a contact, in order.
func (w *website) history(email string) []string {
	w.t.Helper()
	list := []string{}
	for e, err := range journal.Timeline(w.t.Context(), w.db, w.tenant.ID, w.contact(email).ID) {
		if err != nil {
			w.t.Fatal(err)
		}
		if e.Type == journal.PageViewed || e.Type == journal.CustomEvent {
			list = append(list, e.Name)
		}
	}
	return list
}

func (w *website) wantHistory(email string, want ...string) {
	w.t.Helper()
	if got := w.history(email); !slices.Equal(got, want) {
		w.t.Errorf("history of %s = %q, want %q", email, got, want)
	}
}

// count returns the rows of a table.
func (w *website) count(table string) int {
	w.t.Helper()
	var n int
	if err := w.db.QueryRow(w.t.Context(), `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, w.tenant.ID).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// wantTotals compares the stored numbers of rows with the rows.
func (w *website) wantTotals() {
	w.t.Helper()
	var visitors, kept int
	err := w.db.QueryRow(w.t.Context(), `SELECT visitors, kept FROM visitor_total WHERE tenant_id = $1`, w.tenant.ID).Scan(&visitors, &kept)
	if err != nil {
		w.t.Fatal(err)
	}
	if visitors != w.count("visitor") || kept != w.count("visitor_kept") {
		w.t.Errorf("totals %d visitors, %d kept; the tables have %d and %d", visitors, kept, w.count("visitor"), w.count("visitor_kept"))
	}
	var sum int
	if err := w.db.QueryRow(w.t.Context(), `SELECT COALESCE(SUM(kept), 0) FROM visitor WHERE tenant_id = $1`, w.tenant.ID).Scan(&sum); err != nil {
		w.t.Fatal(err)
	}
	if bad := w.count(`(SELECT t.tenant_id FROM visitor_total AS t
		WHERE t.kept_bytes <> (SELECT COALESCE(SUM(LENGTH(k.data)), 0) FROM visitor_kept AS k WHERE k.tenant_id = t.tenant_id)) AS t`); bad != 0 {
		w.t.Error("the bytes of kept requests are not those that are counted")
	}
	if sum != kept {
		w.t.Errorf("visitors have %d kept requests, of %d", sum, kept)
	}
}

func (w *website) signed() string {
	w.t.Helper()
	s, err := auth.NewIdentitySecret(w.t.Context(), w.db, w.box, w.tenant.ID, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Secret
}

func hash(key, email string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(email))
	return hex.EncodeToString(h.Sum(nil))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func each(t *testing.T, f func(t *testing.T, w *website)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		other := newWebsite(t, db, "other")
		other.page("v1", "https://other.example/")
		other.create("ann@example.org", contact.Change{})
		w := newWebsite(t, db, "acme")
		f(t, w)
		other.drain()
		other.wantHistory("ann@example.org")
		if n := other.count("visitor_kept"); n != 1 {
			t.Errorf("the other tenant keeps %d page views, want 1", n)
		}
	})
}

func TestAnUnknownVisitorBecomesAPendingContactWithItsPast(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		w.page("v1", "https://shop.example/Cart?a=1&utm_source=news&utm_medium=email&utm_campaign=spring#x",
			"referrer", "https://search.example.com/q?term=secret", "title", "Cart", "timezone", "Europe/Amsterdam")
		w.event("v1", "viewed")
		w.page("v2", "https://shop.example/")
		w.drain()
		if n := w.count("visitor_kept"); n != 3 {
			t.Errorf("%d requests are kept, want 3", n)
		}
		w.wantTotals()
		w.identify("v1", " Ann@Example.org ", "traits", fields{"first_name": "Ann", "external_id": "x", "tags": []string{"vip"}, "country": "Nowhere"})
		w.page("v1", "https://shop.example/thanks")
		w.drain()
		c := w.contact("ann@example.org")
		if c.Status != contact.Pending || text(c.FirstName) != "Ann" || text(c.Source) != "identify" || c.ExternalID != nil || len(c.Tags) > 0 || c.Country != nil || !c.Stage.IsZero() {
			t.Errorf("contact = %+v", c)
		}
		w.wantHistory("ann@example.org", "https://shop.example/Cart?a=1&utm_source=news&utm_medium=email&utm_campaign=spring", "viewed", "https://shop.example/thanks")
		w.wantTotals()
		touches, err := c.Touches()
		if err != nil {
			t.Fatal(err)
		}
		want := contact.Touches{
			FirstAt: &noon, FirstSource: new("news"), FirstMedium: new("email"), FirstCampaign: new("spring"), FirstTimezone: new("Europe/Amsterdam"),
			FirstLandingURL: new("https://shop.example/Cart?a=1&utm_source=news&utm_medium=email&utm_campaign=spring"), FirstReferrer: new("search.example.com/q"),
			LastAt: &noon, LastSource: new("news"), LastMedium: new("email"), LastCampaign: new("spring"),
		}
		if diff := cmp.Diff(want, touches); diff != "" {
			t.Errorf("touches differ:\n%s", diff)
		}
		last := noon.Add(4 * time.Second)
		if c.LastPageViewedAt == nil || !c.LastPageViewedAt.Equal(last) || c.LastActivityAt == nil || !c.LastActivityAt.Equal(last) {
			t.Errorf("last page view %v, last activity %v, want %v", c.LastPageViewedAt, c.LastActivityAt, last)
		}
		if n := w.count("visitor_inbox"); n != 0 {
			t.Errorf("%d requests are left in the inbox", n)
		}
	})
}

func TestEventsHaveTheirPropertiesAsTheyWereSent(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		w.send(visitor.Event, "v1", fields{"event_name": "bought", "type": "order_placed", "properties": fields{"orderId": json.Number("12345678901234567890"), "value": "9.5"}})
		w.send(visitor.Event, "v1", fields{"event_name": "bad", "properties": fields{"a": "\x00"}})
		w.identify("v1", "ann@example.org")
		w.drain()
		var got []journal.Event
		for e, err := range journal.Timeline(t.Context(), w.db, w.tenant.ID, w.contact("ann@example.org").ID) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == journal.CustomEvent {
				ev, err := e.Event()
				if err != nil || !e.At.Equal(noon) {
					t.Errorf("event at %v, %v; want the time of its request", e.At, err)
				}
				got = append(got, ev)
				if !strings.Contains(fmt.Sprintf("%s", e.Data), `"order_id": 12345678901234567890`) && !strings.Contains(fmt.Sprintf("%s", e.Data), `"order_id":12345678901234567890`) {
					t.Errorf("the entry is %s", e.Data)
				}
			}
		}
		if len(got) != 1 || got[0].Source != "website" || got[0].Type != "order_placed" || got[0].Properties["value"] != 9.5 {
			t.Errorf("events = %+v, want the valid one", got)
		}
	})
}

func TestAnUnverifiedVisitorOnlyFillsWhatIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		if _, err := field.Create(t.Context(), w.db, w.tenant.ID, field.Draft{Key: "plan", Name: "Plan", Type: field.String}, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := field.Create(t.Context(), w.db, w.tenant.ID, field.Draft{Key: "size", Name: "Size", Type: field.Number}, noon); err != nil {
			t.Fatal(err)
		}
		before := w.create("ann@example.org", contact.Change{
			Texts: map[contact.Text]*string{contact.FirstName: new("Ann")}, CustomFields: map[string]any{"plan": "gold"},
		})
		traits := fields{"first_name": "Eve", "last_name": "Lee", "custom_fields": fields{"plan": "free", "size": 3, "unknown": 1}}
		w.identify("v1", "ann@example.org", "traits", traits, "email_hash", "00", "identity_token", "v1.x.1.y")
		w.page("v1", "https://shop.example/")
		w.drain()
		c := w.contact("ann@example.org")
		if text(c.FirstName) != "Ann" || text(c.LastName) != "Lee" || !cmp.Equal(c.CustomFields, map[string]any{"plan": "gold", "size": 3.0}) || c.Status != contact.Active || c.Stage != before.Stage {
			t.Errorf("contact = %+v", c)
		}
		w.wantHistory("ann@example.org", "https://shop.example/")
	})
}

func TestAVerifiedVisitorIsAnActiveContactAndOverwrites(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		old := w.signed()
		w.identify("v1", "ann@example.org", "traits", fields{"first_name": "Eve"})
		w.identify("v1", "Ann@example.org", "email_hash", hash(old, "ann@example.org"), "traits", fields{"first_name": "Ann"})
		w.drain()
		c := w.contact("ann@example.org")
		if text(c.FirstName) != "Ann" || c.Status != contact.Active || c.Stage.IsZero() {
			t.Errorf("contact = %+v, want it active", c)
		}
		w.identify("v2", "new@example.org", "email_hash", hash(old, "new@example.org"))
		w.identify("v3", "false@example.org", "email_hash", hash(old, "ann@example.org"))
		w.drain()
		if a, b := w.contact("new@example.org").Status, w.contact("false@example.org").Status; a != contact.Active || b != contact.Pending {
			t.Errorf("statuses %s, %s; want active, pending", a, b)
		}
		signer, err := auth.LoadIdentitySigner(t.Context(), w.db, w.box, w.tenant.ID, w.now)
		if err != nil {
			t.Fatal(err)
		}
		token := signer.Token(c.ID, w.now)
		w.signed() // the previous secret verifies for a day
		w.now = w.now.Add(23 * time.Hour)
		w.identify("v4", "typed@example.org", "identity_token", token, "traits", fields{"first_name": "Anna"})
		w.page("v4", "https://shop.example/token")
		w.drain()
		w.now = w.now.Add(2 * time.Hour)
		w.identify("v5", "late@example.org", "identity_token", token, "email_hash", hash(old, "late@example.org"))
		w.drain()
		if c = w.contact("ann@example.org"); text(c.FirstName) != "Anna" || w.has("typed@example.org") {
			t.Errorf("first name %q; the token names the contact, whatever the address", text(c.FirstName))
		}
		w.wantHistory("ann@example.org", "https://shop.example/token")
		if s := w.contact("late@example.org").Status; s != contact.Pending {
			t.Errorf("with a secret that was replaced a day before: %s, want pending", s)
		}
	})
}

func TestContactsThatMayNotChangeDoNot(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		key := w.signed()
		gone := w.create("gone@example.org", contact.Change{})
		if _, err := contact.Delete(t.Context(), w.db, w.tenant.ID, []id.Contact{gone.ID}, w.now); err != nil {
			t.Fatal(err)
		}
		anonymous := w.create("anon@example.org", contact.Change{})
		signer, err := auth.LoadIdentitySigner(t.Context(), w.db, w.box, w.tenant.ID, w.now)
		if err != nil {
			t.Fatal(err)
		}
		token := signer.Token(anonymous.ID, w.now)
		w.identify("v1", "anon@example.org", "identity_token", token)
		w.page("v1", "https://shop.example/before")
		w.drain()
		if _, err := contact.Anonymize(t.Context(), w.db, w.tenant.ID, []id.Contact{anonymous.ID}, []contact.PersonalData{visitor.PersonalData()}, w.now); err != nil {
			t.Fatal(err)
		}
		w.wantTotals()
		w.page("v1", "https://shop.example/after")
		w.identify("v2", "x@example.org", "identity_token", token)
		w.identify("v3", "gone@example.org", "email_hash", hash(key, "gone@example.org"))
		w.page("v3", "https://shop.example/")
		if err := tenant.SetContactLimit(t.Context(), w.db, w.tenant.ID, new(0), w.now); err != nil {
			t.Fatal(err)
		}
		w.identify("v4", "over@example.org", "email_hash", hash(key, "over@example.org"))
		w.identify("v5", "pending@example.org")
		w.identify("v6", "not an address")
		w.drain()
		list, err := contact.Load(t.Context(), w.db, w.tenant.ID, []id.Contact{anonymous.ID, gone.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if c.Status != contact.Suppressed {
				t.Errorf("contact %s is %s", c.Email, c.Status)
			}
		}
		for e, err := range journal.Timeline(t.Context(), w.db, w.tenant.ID, anonymous.ID) {
			if err != nil || strings.Contains(e.Name, "shop.example") {
				t.Errorf("the anonymised contact's journal has %s %q, %v", e.Type, e.Name, err)
			}
		}
		w.wantHistory("gone@example.org", "https://shop.example/")
		if w.has("over@example.org") || !w.has("pending@example.org") {
			t.Error("the limit of contacts bounds those that are verified, and not pending ones")
		}
		w.wantTotals()
	})
}

func TestUnverifiedVisitorsCreateALimitedNumberOfContacts(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		w.engine.LimitPending(3, 100)
		known := w.create("known@example.org", contact.Change{})
		identify := func(n int) {
			w.identify(fmt.Sprintf("v%d", n), fmt.Sprintf("p%d@example.org", n))
			w.drain()
		}
		for n := range 5 {
			identify(n)
		}
		w.identify("v9", known.Email, "traits", fields{"first_name": "Kim"})
		w.identify("v0", "p0@example.org", "traits", fields{"first_name": "Pat"})
		w.drain()
		if !w.has("p2@example.org") || w.has("p3@example.org") || w.has("p4@example.org") {
			t.Error("other than three contacts were created")
		}
		if text(w.contact(known.Email).FirstName) != "Kim" || text(w.contact("p0@example.org").FirstName) != "Pat" {
			t.Error("contacts that exist are not changed any more")
		}
		if _, _, err := contact.Upsert(t.Context(), w.db, w.tenant.ID, "p0@example.org", contact.Change{}, contact.Rules{}, w.now); err != nil { // confirms it
			t.Fatal(err)
		}
		identify(5)
		identify(6)
		if !w.has("p5@example.org") || w.has("p6@example.org") {
			t.Error("the number of pending contacts is not counted again")
		}
	})
}

func TestAVisitorThatBecomesAnotherContactLeavesItsPast(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		key := w.signed()
		w.page("v1", "https://shop.example/?utm_source=ads")
		w.identify("v1", "ann@example.org", "email_hash", hash(key, "ann@example.org"))
		w.page("v1", "https://shop.example/ann")
		w.identify("v1", "ben@example.org") // in the same session: entered by another person
		w.page("v1", "https://shop.example/still-ann")
		w.now = w.now.Add(time.Hour)
		w.page("v1", "https://shop.example/late-ann")
		w.identify("v1", "ben@example.org")
		w.page("v1", "https://shop.example/ben")
		w.identify("v1", "eve@example.org", "email_hash", hash(key, "eve@example.org"))
		w.event("v1", "eve")
		w.page("v1", "https://shop.example/eve?utm_source=eve")
		w.drain()
		w.wantHistory("ann@example.org", "https://shop.example/?utm_source=ads", "https://shop.example/ann", "https://shop.example/still-ann", "https://shop.example/late-ann")
		w.wantHistory("ben@example.org", "https://shop.example/ben")
		w.wantHistory("eve@example.org", "eve", "https://shop.example/eve?utm_source=eve")
		for email, want := range map[string][2]string{"ann@example.org": {"ads", "ads"}, "ben@example.org": {"direct", ""}, "eve@example.org": {"eve", "eve"}} {
			c := w.contact(email)
			touches, err := c.Touches()
			if err != nil || text(touches.FirstSource) != want[0] || text(touches.LastSource) != want[1] {
				t.Errorf("%s came first from %q, last from %q, %v; want %q", email, text(touches.FirstSource), text(touches.LastSource), err, want)
			}
		}
		w.wantTotals()
	})
}

func TestRequestsAreAppliedOnce(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		for i := range 30 {
			w.identify("v1", "ann@example.org")
			w.page(fmt.Sprintf("v%d", i%3), fmt.Sprintf("https://shop.example/%d", i))
		}
		w.identify("v2", "ann@example.org")
		w.identify("v0", "ann@example.org")
		second := *w.engine
		failed := make(chan error, 2)
		for _, e := range []*visitor.Engine{w.engine, &second} {
			go func() { failed <- e.Drain(context.WithoutCancel(t.Context())) }()
		}
		for range 2 {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		w.drain()
		got := w.history("ann@example.org")
		slices.Sort(got)
		if n := len(slices.Compact(slices.Clone(got))); n != 30 || len(got) != 30 {
			t.Errorf("%d page views, %d different, want 30", len(got), n)
		}
		w.wantTotals()
	})
}

func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		busy, calm := newWebsite(t, db, "acme"), newWebsite(t, db, "other")
		rows := db.Table("id UUID", "data BYTEA")
		for range 510 {
			rows.Add(id.New[id.VisitorRequest](), []byte(`not a request`))
		}
		if _, err := rows.Insert(t.Context(), db, "visitor_inbox", busy.tenant.ID); err != nil {
			t.Fatal(err)
		}
		busy.identify("v1", "ann@example.org")
		calm.identify("v1", "ann@example.org")
		if n, err := busy.engine.Round(t.Context()); err != nil || n != 501 || !calm.has("ann@example.org") {
			t.Errorf("the first round tried %d requests, %v; want 500 and the other tenant's one", n, err)
		}
		busy.drain()
		if n, err := visitor.Waiting(t.Context(), db); err != nil || n != 0 || !busy.has("ann@example.org") {
			t.Errorf("%d requests wait, %v; want those that are not valid dropped, and the others applied", n, err)
		}
	})
}

func TestVisitorsExpireAndAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWebsite(t, db, "acme")
		w.page("old", "https://shop.example/old")
		w.identify("ann", "ann@example.org")
		w.now = w.now.Add(20 * 24 * time.Hour)
		for i := range 6 {
			w.page(fmt.Sprintf("v%d", i), "https://shop.example/")
			w.page(fmt.Sprintf("v%d", i), "https://shop.example/2")
		}
		w.drain()
		w.now = w.now.Add(11 * 24 * time.Hour)
		if err := w.engine.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v, k := w.count("visitor"), w.count("visitor_kept"); v != 7 || k != 12 {
			t.Errorf("%d visitors and %d kept, want 7 and 12", v, k)
		}
		w.wantTotals()
		if err := w.engine.ExpireTo(t.Context(), 5, 7); err != nil {
			t.Fatal(err)
		}
		if v, k := w.count("visitor"), w.count("visitor_kept"); v != 5 || k != 7 {
			t.Errorf("%d visitors and %d kept, want 5 and 7", v, k)
		}
		w.wantTotals()
		w.identify("v5", "ben@example.org")
		w.drain()
		w.wantHistory("ben@example.org", "https://shop.example/", "https://shop.example/2")
		w.now = w.now.Add(400 * 24 * time.Hour)
		if err := w.engine.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v, k := w.count("visitor"), w.count("visitor_kept"); v != 0 || k != 0 {
			t.Errorf("%d visitors and %d kept, want none", v, k)
		}
		w.wantTotals()
	})
}

func TestTheExportOfAPersonHasTheirVisitors(t *testing.T) {
	each(t, func(t *testing.T, w *website) {
		w.page("v1", "https://shop.example/?utm_source=ads")
		w.identify("v1", "ann@example.org")
		w.page("v2", "https://shop.example/")
		w.drain()
		c := w.contact("ann@example.org")
		var records []string
		for r, err := range visitor.PersonalData().Export(t.Context(), w.db, w.tenant.ID, contact.Person{ID: c.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, string(b))
		}
		if len(records) != 1 || !strings.Contains(records[0], `"linked_by":"entered_address"`) || !strings.Contains(records[0], `"source":"ads"`) {
			t.Errorf("export = %s", records)
		}
	})
}
