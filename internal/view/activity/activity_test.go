package activity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/activity"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestActivityMergesItsSources merges four sources in one order, page by page, with the
// contact's own items only.
func TestActivityMergesItsSources(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, acme := t.Context(), idtest.Tenant()
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		create := func(email string) contact.Contact {
			c, err := contact.Create(ctx, db, acme, email, contact.Change{Texts: map[contact.Text]*string{contact.Source: new("import")}}, contact.Rules{}, noon)
			ok(err)
			return c
		}
		ann, bob := create("ann@example.org"), create("bob@example.org")
		send, course := id.New[id.Send](), id.New[id.Sequence]()
		exec := func(text string, args ...any) {
			_, err := db.Exec(ctx, text, args...)
			ok(err)
		}
		news := id.New[id.EmailType]()
		exec(`INSERT INTO email_type (tenant_id, id, type_key, display_name, utm_campaign_prefix, sort_order, active, list_id_enabled, created_at)
			VALUES ($1, $2, 'news', 'News', '', 0, TRUE, TRUE, 0)`, acme, news)
		exec(`INSERT INTO send (tenant_id, id, source_kind, source_id, email_type_id, phase, opened_at) VALUES ($1, $2, 'sequence_step', $3, $4, 'open', 0)`, acme, send, course, news)
		exec(`INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, variant_id, identity_id) VALUES ($1, $2, 1, $2, 1, 'b', $2)`, acme, send)
		for i, c := range []contact.Contact{ann, bob} {
			m := id.New[id.Message]()
			exec(`INSERT INTO outbox (tenant_id, id, send_id, contact_id, email, mix, lane_id, state, due_at, sent_at)
				VALUES ($1, $2, $3, $4, 'x', 1, $2, 'delivered', 0, $5)`, acme, m, send, c.ID, sqldb.Micros(noon.Add(time.Hour)))
			exec(`INSERT INTO hit (tenant_id, id, send_id, message_id, contact_id, kind, url, at, method, agent, ip, prefetch, class, rule)
				VALUES ($1, $2, $3, $4, $5, 'click', 'https://example.com/', $6, 'GET', '', '', FALSE, 'human', 'G1 L1')`,
				acme, id.New[id.Hit](), send, m, c.ID, sqldb.Micros(noon.Add(time.Duration(2+i)*time.Hour)))
		}
		ok(journal.Append(ctx, db,
			journal.Entry{Tenant: acme, Type: journal.CustomEvent, Name: "order", Contact: ann.ID, At: noon.Add(3 * time.Hour), Data: map[string]any{"type": "order_placed", "properties": map[string]any{"value": 5}}},
			journal.Entry{Tenant: acme, Type: journal.EmailOpened, Contact: ann.ID, At: noon.Add(3 * time.Hour)}, // not listed: the hit is
			journal.Entry{Tenant: acme, Type: journal.StageChanged, Contact: ann.ID, At: noon.Add(3 * time.Hour)},
			journal.Entry{Tenant: acme, Type: journal.PageViewed, Name: "https://example.com/a", Contact: ann.ID, At: noon.Add(time.Minute), Data: map[string]any{"title": "A"}},
			journal.Entry{Tenant: acme, Type: journal.OptInConfirmed, Name: "join", Contact: ann.ID, At: noon.Add(30 * time.Second)},
			journal.Entry{Tenant: acme, Type: journal.TagAdded, Name: "vip", Contact: ann.ID, At: noon.Add(20 * time.Second)}))

		var got []string
		for q := (activity.Query{Limit: 2}); ; {
			items, next, err := activity.List(ctx, db, ann, q, broadcast.Names)
			ok(err)
			for _, i := range items {
				got = append(got, fmt.Sprintf("%s %s%s%s %s", i.Type, i.Title, i.EventType, i.Classification, i.Properties))
			}
			if next == nil {
				break
			}
			if q.After = next; len(items) != 2 {
				t.Errorf("a page of %d that is not the last", len(items))
			}
		}
		slices.SortStableFunc(got[:2], strings.Compare) // these two have the same time
		want := []string{
			`event orderorder_placed {"value": 5}`,
			`stage_changed Stage changed {}`,
			`email_clicked Email clickedhuman {"email_type_key":"news","link_url":"https://example.com/","variant_id":"b"}`,
			`email_delivered Email delivered {"email_type_key":"news","variant_id":"b"}`,
			`page_viewed Viewed https://example.com/a {"title":"A","url":"https://example.com/a"}`,
			`opt_in_confirmed Opt in confirmed by the form join {"form_slug":"join"}`,
			`tag_added Tag added: vip {"tag":"vip"}`,
			`contact_created Contact created {"source":"import"}`,
		}
		if db.Dialect() == sqldb.SQLite {
			want[0] = `event orderorder_placed {"value":5}`
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		some, _, err := activity.List(ctx, db, ann, activity.Query{Types: []journal.Type{journal.EmailClicked, journal.StageChanged}, Limit: 10}, broadcast.Names)
		ok(err)
		if len(some) != 2 || some[1].Classification != track.Human || some[1].Sequence != course || !some[1].Broadcast.IsZero() ||
			!slices.Equal(some[1].Rules, []string{"G1", "L1"}) {
			t.Errorf("with two types: %+v", some)
		}
		stranger := ann
		stranger.Tenant = idtest.Tenant()
		if none, _, err := activity.List(ctx, db, stranger, activity.Query{Limit: 10}, broadcast.Names); err != nil || len(none) != 1 {
			t.Errorf("another tenant gets %+v, %v", none, err)
		}
	})
}

// TestActivityNamesBroadcasts shows the broadcast of a mail.
func TestActivityNamesBroadcasts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		c := a.AddContacts(a.AddList("Readers").ID, "p", 1)[0]
		b := a.Create()
		if err := outbox.Create(t.Context(), db, outbox.Send{Tenant: a.Tenant, ID: b.Send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, noon); err != nil {
			t.Fatal(err)
		}
		entry := journal.Entry{Tenant: a.Tenant, Type: journal.EmailUnsubscribed, Contact: c.ID, Send: b.Send, At: c.CreatedAt.Add(time.Hour)}
		if err := journal.Append(t.Context(), db, entry); err != nil {
			t.Fatal(err)
		}
		items, _, err := activity.List(t.Context(), db, c, activity.Query{Limit: 1}, broadcast.Names)
		if err != nil || len(items) != 1 || items[0].Broadcast != b.ID || items[0].Title != "Email unsubscribed: "+b.Name {
			t.Errorf("got %+v, %v", items, err)
		}
	})
}
