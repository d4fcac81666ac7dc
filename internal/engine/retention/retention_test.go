package retention

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// account is a tenant with a sent broadcast.
type account struct {
	*broadcasttest.Account
	t        *testing.T
	send     id.Send
	messages []outbox.Message
}

func newAccount(t *testing.T, db *sqldb.DB, slug string, recipients int) *account {
	t.Helper()
	ctx := t.Context()
	a := &account{Account: broadcasttest.New(t, db, slug), t: t}
	b := a.Create()
	a.send = b.Send
	frozen, err := content.Freeze(ctx, db, a.Tenant, content.Source{
		Subject: "Hi", Tracking: true, HTML: `<a href="https://example.org/a">A</a> <a href="https://example.org/b">B</a>`, Send: b.Send,
		Context: content.Context{Broadcast: b.ID, EmailType: a.Type.ID},
	}, broadcasttest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Create(ctx, db, outbox.Send{Tenant: a.Tenant, ID: b.Send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, broadcasttest.Now); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.AddContacts(a.List.ID, slug, recipients) {
		a.messages = append(a.messages, outbox.Message{
			ID: id.New[id.Message](), Contact: c.ID, Email: c.Email, Content: frozen, Identity: a.Identity.ID, Lane: a.Lane.ID, DueAt: broadcasttest.Now,
		})
	}
	if _, err := outbox.AddMessages(ctx, db, a.Tenant, b.Send, a.messages); err != nil {
		t.Fatal(err)
	}
	a.exec(`UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, a.Tenant, broadcasttest.Now.UnixMicro())
	return a
}

func (a *account) exec(text string, args ...any) {
	a.t.Helper()
	if _, err := a.DB.Exec(a.t.Context(), text, args...); err != nil {
		a.t.Fatal(err)
	}
}

// hit records an open or a click and classifies it as a person's.
func (a *account) hit(n int, click bool, at time.Time) {
	a.t.Helper()
	h := track.Hit{
		Tenant: a.Tenant, Message: a.messages[n].ID, At: at, Method: "GET", IP: fmt.Sprintf("192.0.2.%d", n+1),
		Agent: "Mozilla/5.0 (Windows NT 10.0) Firefox/145.0",
	}
	if click {
		h.Click, h.Link, h.URL = true, 0, "https://example.org/a"
	}
	if err := a.DB.InTx(a.t.Context(), func(tx *sqldb.DB) error { return track.Record(a.t.Context(), tx, []track.Hit{h}) }); err != nil {
		a.t.Fatal(err)
	}
	err := a.DB.InTx(a.t.Context(), func(tx *sqldb.DB) error {
		found, err := track.LoadEvidence(a.t.Context(), tx, a.Tenant, []id.Message{h.Message})
		if err != nil {
			return err
		}
		var verdicts []track.Hit
		for _, h := range found.Hits {
			if h.Class == track.Pending {
				h.Class, h.Rule = track.Human, "G2"
				verdicts = append(verdicts, h)
			}
		}
		return found.ApplyVerdicts(a.t.Context(), verdicts)
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// hits returns the number of stored hits, and of those with an address.
func (a *account) hits() (all, withAddress int) {
	a.t.Helper()
	row := a.DB.QueryRow(a.t.Context(), `SELECT COUNT(*), COALESCE(SUM(CASE WHEN ip <> '' AND net <> '' AND agent <> '' THEN 1 ELSE 0 END), 0) FROM hit WHERE tenant_id = $1 AND class = 'human' AND rule = 'G2'`, a.Tenant)
	if err := row.Scan(&all, &withAddress); err != nil {
		a.t.Fatal(err)
	}
	return all, withAddress
}

// sums returns all stored sums of opens and clicks.
func (a *account) sums() string {
	a.t.Helper()
	sums, err := track.LoadSums(a.t.Context(), a.DB, a.Tenant, a.send)
	if err != nil {
		a.t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(fmt.Sprintf("%+v", sums))
	for _, query := range []string{
		`SELECT url || ' ' || unique_clicks || ' ' || total_clicks || ' ' || first_at || ' ' || last_at FROM link_sum WHERE tenant_id = $1 ORDER BY url`,
		`SELECT attribute || ' ' || value || ' ' || opened || ' ' || clicked FROM engagement_attribute_sum WHERE tenant_id = $1 ORDER BY attribute, value`,
		`SELECT at || ' ' || verified_opened || ' ' || human_opened || ' ' || human_clicked FROM engagement_time_sum WHERE tenant_id = $1 ORDER BY at`,
	} {
		rows, err := a.DB.Query(a.t.Context(), query, a.Tenant)
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
			err = scan(&s)
			return s, err
		})
		if err != nil {
			a.t.Fatal(err)
		}
		text.WriteString(fmt.Sprint("\n", list))
	}
	return text.String()
}

func newEngine(db *sqldb.DB, now *time.Time) *Engine {
	return &Engine{
		DB: db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return *now },
		Tables: []Table{
			{"addresses", func(r tenant.Retention) int { return r.RawRequests }, track.ClearRequests},
			{"hits", func(r tenant.Retention) int { return r.Engagement }, track.Prune},
		},
		pause: func(context.Context, time.Duration) {},
	}
}

func (a *account) keep(r tenant.Retention, now time.Time) {
	a.t.Helper()
	t, err := tenant.ByID(a.t.Context(), a.DB, a.Tenant)
	if err != nil {
		a.t.Fatal(err)
	}
	t.Settings.Retention = r
	if err := tenant.SaveSettings(a.t.Context(), a.DB, a.Tenant, t.Name, t.Settings, now); err != nil {
		a.t.Fatal(err)
	}
}

func TestSumsStayWhenHitsAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := newAccount(t, db, "acme", 3), newAccount(t, db, "other", 3)
		other.keep(tenant.Retention{Events: 3650, Engagement: 3650, Deliveries: 400, RawRequests: 400}, broadcasttest.Now)
		const day = 24 * time.Hour
		at := func(d time.Duration) time.Time { return broadcasttest.Now.Add(d) }
		for _, a := range []*account{acme, other} {
			a.hit(0, false, at(time.Hour))
			a.hit(0, true, at(2*time.Hour))
			a.hit(1, true, at(3*day))
			a.hit(0, false, at(50*day))
		}
		before, others := acme.sums(), other.sums()
		now := at(40 * day)
		e := newEngine(db, &now)
		round := func() {
			t.Helper()
			if err := e.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(a *account, all, withAddress int, sums string) {
			t.Helper()
			if n, m := a.hits(); n != all || m != withAddress {
				t.Errorf("%d hits, %d with an address; want %d and %d", n, m, all, withAddress)
			}
			if got := a.sums(); got != sums {
				t.Errorf("sums are\n%s\nwant\n%s", got, sums)
			}
		}
		round()
		expect(acme, 4, 1, before)
		expect(other, 4, 4, others)
		now = at(740 * day) // all but the last one are older than 730 days
		round()
		expect(acme, 1, 0, before)
		expect(other, 4, 0, others) // after 400 days
		// Later hits are stored, and change no sum.
		acme.hit(0, true, now)
		acme.hit(1, false, now)
		expect(acme, 3, 2, before)
		now = at(800 * day)
		round()
		expect(acme, 2, 0, before)
		acme.keep(tenant.Retention{Events: 30, Engagement: 90, Deliveries: 3, RawRequests: 1}, now)
		now = at(840 * day)
		round()
		expect(acme, 0, 0, before)
		expect(other, 4, 0, others)
	})
}

// A process that ends between two steps leaves rows that the next one deletes; each step deletes a
// limited number.
func TestAnInterruptedRoundIsContinued(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const total = 2*stepRows + 50
		a := newAccount(t, db, "acme", 2)
		a.hit(0, false, broadcasttest.Now.Add(time.Hour))
		before := a.sums()
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			m := a.messages[0]
			rows := tx.Table("id UUID", "at BIGINT")
			for i := range total {
				rows.Add(id.New[id.Hit](), broadcasttest.Now.Add(time.Duration(i)*time.Second).UnixMicro())
			}
			_, err := tx.Exec(t.Context(), `
				INSERT INTO hit (tenant_id, message_id, id, send_id, contact_id, kind, at, method, agent, ip, net, prefetch, class, rule)
				SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.id, `+tx.Param(3, "UUID")+`, `+tx.Param(4, "UUID")+`, 'open', v.at, 'GET', 'x', '192.0.2.1', '192.0.2.0/24', FALSE, 'human', 'G2'
				FROM `+tx.Home(1)+` CROSS JOIN `+rows.As("v", 5), rows.Args(a.Tenant, m.ID, a.send, m.Contact)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				return journal.AppendUnnoticed(t.Context(), tx, slices.Repeat([]journal.Entry{{Tenant: a.Tenant, Type: journal.CustomEvent, Name: "x", At: broadcasttest.Now.Add(time.Duration(i))}}, 100)...)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		now := broadcasttest.Now.Add(1000 * day)
		e := newEngine(db, &now)
		e.Followers = []journal.Follower{{Name: "all", Follow: func(context.Context, *sqldb.DB, []journal.Entry) error { return nil }}}
		if err := (&journal.Engine{DB: db, Followers: e.Followers}).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		entries := func() (n int) {
			t.Helper()
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = 'event'`, a.Tenant).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		last, _ := a.hits()
		lastEntries := entries()
		for steps := 0; ; steps++ {
			ctx, stop := context.WithCancel(t.Context())
			e.pause = func(context.Context, time.Duration) { stop() } // the process ends after a step
			err := e.Round(ctx)
			stop()
			n, _ := a.hits()
			left := entries()
			if last-n > stepRows || lastEntries-left > stepEntries {
				t.Errorf("a step deleted %d hits and %d entries", last-n, lastEntries-left)
			}
			last, lastEntries = n, left
			if err == nil {
				break
			}
			if steps > 30 {
				t.Fatalf("still not finished: %v", err)
			}
		}
		if last != 0 || lastEntries > 1 {
			t.Errorf("%d hits and %d entries are left", last, lastEntries)
		}
		if got := a.sums(); got != before {
			t.Errorf("sums are %s, want %s", got, before)
		}
	})
}
