package deliver_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// refuse sets the fail patterns of the account's sink, as pairs of a pattern and a response.
func (h *house) refuse(pairs ...[2]string) {
	h.t.Helper()
	list := make([]lane.FailPatternFields, len(pairs))
	for i, p := range pairs {
		list[i] = lane.FailPatternFields{Pattern: p[0], Response: p[1]}
	}
	_, err := lane.Update(h.t.Context(), h.DB, broadcasttest.Box(h.t), h.Tenant, h.Lane.ID, lane.Fields{FailPatterns: &list}, lane.Rules{}, h.now())
	h.must(err)
	h.pass(10 * time.Second) // cached lanes have expired
}

// inMailbox returns the number of mails in the built-in mailbox by address.
func (h *house) inMailbox() map[string]int {
	h.t.Helper()
	list, _, err := mailbox.List(context.WithoutCancel(h.t.Context()), h.DB, h.Tenant, mailbox.Query{Lane: h.Lane.ID, Limit: 100})
	h.must(err)
	got := map[string]int{}
	for _, m := range list {
		got[m.To]++
	}
	return got
}

// ends returns how the messages of the send ended, with the status of their contacts, by address.
func (h *house) ends() map[string]string {
	h.t.Helper()
	e := journal.Engine{DB: h.DB, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{contact.Follower(), suppression.Follower()}}
	h.must(e.Drain(h.t.Context()))
	got := map[string]string{}
	for _, r := range h.messages() {
		c, err := contact.ByID(h.t.Context(), h.DB, h.Tenant, r.Contact)
		h.must(err)
		listed, err := suppression.Listed(h.t.Context(), h.DB, h.Tenant, []string{c.Email})
		h.must(err)
		got[r.Email] = string(r.State) + " " + r.BounceType + ", " + string(c.Status)
		if listed[c.Email] {
			got[r.Email] += ", listed"
		}
	}
	return got
}

// A sink answers mail that matches a pattern as a server would, with the same effects.
func TestASinkRefusesMailThatMatchesAPattern(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		other := &house{Account: broadcasttest.New(t, db, "other"), t: t, began: h.began}
		final := [][2]string{
			{"C0@example.com", "550 5.1.1 no such user"}, {"c2@example.com", "552 5.2.2 mailbox full"}, {"c3@*", "550 5.7.1 refused by policy"},
		}
		h.refuse(append(final, [2]string{"c1@example.com", "451 4.3.0 try again later"}, [2]string{"c4@example.com", "421 4.3.2 closing"})...)
		h.send(8)
		other.send(8)
		h.run(h.engine())
		h.await("the rest is deferred", func(p outbox.Progress) bool { return p.Deferred == 2 && p.Sent == 6 })
		if diff := cmp.Diff(map[string]int{"c5@example.com": 1, "c6@example.com": 1, "c7@example.com": 1}, h.inMailbox()); diff != "" {
			t.Errorf("the mailbox (-want +got):\n%s", diff)
		}
		h.refuse(final...)
		h.pass(75 * time.Second)
		h.over()
		h.sums(outbox.Sums{Total: 8, Sent: 8, Delivered: 5, Bounced: 3})
		if diff := cmp.Diff(map[string]string{
			"c0@example.com": "bounced hard, bounced, listed", "c1@example.com": "delivered , active", "c2@example.com": "bounced soft, active", "c3@example.com": "bounced block, active",
			"c4@example.com": "delivered , active", "c5@example.com": "delivered , active", "c6@example.com": "delivered , active", "c7@example.com": "delivered , active",
		}, h.ends()); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		for _, r := range h.messages() {
			deferred := r.Email == "c1@example.com" || r.Email == "c4@example.com"
			if r.Attempts != 1 && !deferred || deferred && r.Attempts != 2 {
				t.Errorf("%s: %d attempts", r.Email, r.Attempts)
			}
			if r.Email == "c0@example.com" && r.Error != "no such user" {
				t.Errorf("the error is %q", r.Error)
			}
		}
		if n := len(h.inMailbox()); n != 5 {
			t.Errorf("mails to %d addresses are in the mailbox, want 5", n)
		}
		other.over()
		for to, end := range other.ends() {
			if end != "delivered , active" {
				t.Errorf("the other tenant's mail to %s: %s", to, end)
			}
		}
	})
}

// A server that answers 421 closes the connection. A sink has none, and continues.
func TestASinkContinuesAfterTheReplyOfAServerThatCloses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		_, err := lane.Update(t.Context(), db, broadcasttest.Box(t), h.Tenant, h.Lane.ID, lane.Fields{MaxConnections: new(1)}, lane.Rules{}, h.now())
		h.must(err)
		h.refuse([2]string{"*", "421 4.7.0 too many connections"})
		h.send(20)
		h.run(h.engine())
		h.await("all are deferred", func(p outbox.Progress) bool { return p.Deferred == 20 })
		h.refuse()
		h.pass(75 * time.Second)
		h.over()
		h.sums(outbox.Sums{Total: 20, Sent: 20, Delivered: 20})
		if n := len(h.inMailbox()); n != 20 {
			t.Errorf("mails to %d addresses are in the mailbox, want 20", n)
		}
	})
}

func TestATestOfASinkReturnsTheReplyOfThePattern(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		h.refuse([2]string{"*@no.example", "550 5.1.1 no such user"}, [2]string{"later.example", "451 4.7.1 greylisted"})
		tester := h.tester()
		for to, want := range map[string]lane.Trial{
			"me@no.example":    {Code: 550, Response: "550 5.1.1 no such user"},
			"me@later.example": {Code: 451, Response: "451 4.7.1 greylisted"},
			"me@yes.example":   {Code: 250, Response: "250 2.0.0 stored in the mailbox", Accepted: true},
		} {
			got, err := tester.Try(t.Context(), h.Tenant, h.Lane.ID, id.Identity{}, to)
			got.Latency, want.Reached = 0, true
			if err != nil || got != want {
				t.Errorf("Try(%s) = %+v, %v; want %+v", to, got, err, want)
			}
		}
		b := h.Create()
		prepared, err := broadcast.PrepareTest(t.Context(), db, h.Tenant, b.ID, broadcast.TestRequest{To: []string{"you@no.example", "you@later.example", "you@yes.example"}})
		h.must(err)
		results, err := broadcast.SendTest(t.Context(), db, prepared, tester, h.now())
		h.must(err)
		got := map[string]string{}
		for _, r := range results {
			got[r.To] = string(r.Status) + " " + r.Error
		}
		if diff := cmp.Diff(map[string]string{
			"you@no.example":    string(render.TestFailed) + " 550 5.1.1 no such user",
			"you@later.example": string(render.TestFailed) + " 451 4.7.1 greylisted",
			"you@yes.example":   string(render.TestSent) + " ",
		}, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int{"me@yes.example": 1, "you@yes.example": 1}, h.inMailbox()); diff != "" {
			t.Errorf("the mailbox (-want +got):\n%s", diff)
		}
	})
}

// The replies of a sink are not those of the provider of the recipients.
func TestARefusalByASinkSaysNothingAboutTheProvider(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		_, err := db.Exec(t.Context(), `INSERT INTO mail_domain (domain, smtp_provider, next_at, tries) VALUES ('example.com', $1, 0, 0)`, mx.Gmail)
		h.must(err)
		own := h.Lane.ID
		h.refuse([2]string{"*", "550 5.1.1 no such user"})
		relay := sink.Start(t, sink.Options{})
		h.relay(relay.Port())
		h.send(40, func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: own, Weight: 1}, {Lane: h.Lane.ID, Weight: 1}}}
		})
		stop := h.run(h.engine())
		p := h.over()
		stop()
		var answered, unknown int
		h.must(db.QueryRow(context.WithoutCancel(t.Context()), `SELECT COALESCE(SUM(answered), 0), COALESCE(SUM(unknown), 0) FROM outage_traffic`).Scan(&answered, &unknown))
		if p.Bounced == 0 || p.Bounced == 40 || answered != p.Delivered || unknown != 0 {
			t.Errorf("%d mails were refused by the sink and %d delivered; %d answers are counted, %d of them about unknown recipients", p.Bounced, p.Delivered, answered, unknown)
		}
	})
}
