package report_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/report"
)

var now = broadcasttest.Now

// send puts n messages with each of the contents into the outbox for b.
func send(t *testing.T, a *broadcasttest.Account, b broadcast.Broadcast, n int, html ...string) []outbox.Message {
	t.Helper()
	var messages []outbox.Message
	err := a.DB.InTx(t.Context(), func(tx *sqldb.DB) error {
		messages = nil
		if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: a.Tenant, ID: b.Send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, now); err != nil {
			return err
		}
		for _, text := range html {
			c, err := content.Freeze(t.Context(), tx, a.Tenant, content.Source{
				Subject: "Hi", HTML: text, Tracking: true, Send: b.Send, Context: content.Context{Broadcast: b.ID, EmailType: a.Type.ID},
			}, now)
			if err != nil {
				return err
			}
			for range n {
				messages = append(messages, outbox.Message{ID: id.New[id.Message](), Contact: id.New[id.Contact](), Email: "a@example.org", Content: c, Identity: a.Identity.ID, Lane: a.Lane.ID, DueAt: now})
			}
		}
		_, err := outbox.AddMessages(t.Context(), tx, a.Tenant, b.Send, messages)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func hits(t *testing.T, a *broadcasttest.Account, b broadcast.Broadcast, m outbox.Message, class track.Class, list ...track.Hit) {
	t.Helper()
	err := a.DB.InTx(t.Context(), func(tx *sqldb.DB) error {
		for i := range list {
			h := &list[i]
			h.Tenant, h.Send, h.Message, h.Contact, h.Method = a.Tenant, b.Send, m.ID, m.Contact, "GET"
			h.Click = h.URL != ""
		}
		if err := track.Record(t.Context(), tx, list); err != nil {
			return err
		}
		found, err := track.LoadEvidence(t.Context(), tx, a.Tenant, []id.Message{m.ID})
		if err != nil {
			return err
		}
		var judged []track.Hit
		for _, h := range found.Hits {
			if h.Class == track.Pending && class != track.Pending {
				h.Class = class
				judged = append(judged, h)
			}
		}
		return found.ApplyVerdicts(t.Context(), judged)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func at(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }

func pause(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, _ time.Time) error {
	return outbox.Pause(ctx, db, tenant, send)
}

func TestHeadline(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := broadcasttest.New(t, db, "acme"), broadcasttest.New(t, db, "other")
		draft := a.Create()
		r, err := report.Of(t.Context(), db, draft.Tenant, draft.Send)
		if err != nil || r.Live || r.Messages.Total != 0 || r.People != (track.Sums{}) || r.Messages.LastSendAt != nil {
			t.Errorf("the report of a draft is %+v, %v; want zeros", r, err)
		}
		if links, err := report.Links(t.Context(), db, draft.Tenant, draft.Send); err != nil || links == nil || len(links) != 0 {
			t.Errorf("the links of a draft are %v, %v; want none", links, err)
		}
		if r.Rate(0) != 0 || r.Rate(5) != 0 {
			t.Error("a rate of nothing is not 0")
		}

		b := a.Create()
		messages := send(t, a, b, 3, "<p>x</p>")
		stranger := other.Create()
		foreign := send(t, other, stranger, 1, "<p>x</p>")
		hits(t, other, stranger, foreign[0], track.Human, track.Hit{At: at(60)})
		hits(t, a, b, messages[0], track.Human, track.Hit{At: at(60)})
		hits(t, a, b, messages[1], track.Bot, track.Hit{At: at(60)})
		hits(t, a, b, messages[2], track.Pending, track.Hit{At: at(60)}, track.Hit{At: at(61), URL: "https://example.org/"})
		for _, move := range []struct {
			to   string
			take func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error
			live bool
		}{{"open", outbox.Start, true}, {"paused", pause, true}, {"cancelled", outbox.Cancel, false}} {
			if err := move.take(t.Context(), db, b.Tenant, b.Send, now); err != nil {
				t.Fatal(err)
			}
			r, err := report.Of(t.Context(), db, b.Tenant, b.Send)
			if err != nil {
				t.Fatal(err)
			}
			want := track.Sums{ApparentOpened: 3, VerifiedOpened: 1, HumanOpened: 1, BotOpened: 1}
			if move.live {
				want.PendingOpened, want.PendingClicked = 1, 1
			}
			if r.Live != move.live || r.People != want || r.Messages.Total != 3 {
				t.Errorf("%s: %+v, want %+v", move.to, r, want)
			}
			if got := fmt.Sprint(r.Rate(1), r.Rate(2), r.Rate(3)); got != "0.3333 0.6667 1" {
				t.Errorf("rates are %s", got)
			}
		}
	})
}

func TestLinks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		b := a.Create()
		const one, two, three, four = "https://example.org/1", "https://example.org/2?a=1&b=2", "https://example.org/3", "https://example.org/{{ plan }}"
		link := func(url, label string) string { return `<a href="` + url + `">` + label + `</a> ` }
		messages := send(t, a, b, 3,
			link(one, "One")+link("https://example.org/2?a=1&amp;b=2", "Two")+link(three, "Three"),
			link(three, "Three")+link(four, "Four"))
		click := func(m int, class track.Class, url string, seconds ...int) {
			for _, s := range seconds {
				hits(t, a, b, messages[m], class, track.Hit{At: at(s), URL: url})
			}
		}
		click(0, track.Human, two, 100, 200, 300)
		click(1, track.Human, three, 150)
		click(3, track.Human, three, 120)
		click(0, track.Bot, one, 90)
		click(4, track.Pending, four, 400)
		got, err := report.Links(t.Context(), db, b.Tenant, b.Send)
		if err != nil {
			t.Fatal(err)
		}
		want := []report.Link{
			{Index: 2, URL: three, Label: "Three", UniqueClicks: 2, TotalClicks: 2, ClickRate: 0.3333, FirstClickAt: new(at(120)), LastClickAt: new(at(150))},
			{Index: 1, URL: two, Label: "Two", UniqueClicks: 1, TotalClicks: 3, ClickRate: 0.1667, FirstClickAt: new(at(100)), LastClickAt: new(at(300))},
			{Index: 0, URL: one, Label: "One"},
			{Index: 3, URL: four, Label: "Four"},
		}
		var indexes []int
		for i := range got { // numbers are unique; their order across variants is not specified
			indexes = append(indexes, got[i].Index)
			got[i].Index, want[i].Index = 0, 0
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("links (-want +got):\n%s", d)
		}
		seen := map[int]bool{}
		for _, i := range indexes {
			if seen[i] {
				t.Errorf("two links have the number %d", i)
			}
			seen[i] = true
		}
	})
}
