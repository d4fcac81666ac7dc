package deliver_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestServersAnswersDecideTheState(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{
			{Stage: sink.Rcpt, To: `^c[0-4]@`, Reply: "550 5.1.1 no such user"},
			{Stage: sink.Rcpt, To: `^c1\d@`, Reply: "451 4.7.1 greylisted, try again later", Times: 1, Each: true},
			{Stage: sink.Dot, To: `^c20@`, Drop: true, Keep: true, Times: 1},
			{Stage: sink.Mail, Drop: true, Skip: 30, Times: 1},
		}})
		h.relay(s.Port())
		h.send(50)
		h.run(h.engine())
		h.await("the rest is deferred", func(p outbox.Progress) bool { return p.Deferred >= 11 && p.Sent >= 38 })
		h.pass(75 * time.Second)
		h.over()
		h.sums(outbox.Sums{Total: 50, Sent: 50, Delivered: 45, Bounced: 5})
		for to, n := range arrived(s) {
			if n != 1 && to != "c20@example.com" {
				t.Errorf("%s got the mail %d times", to, n)
			}
		}
		var twice []sink.Message
		for _, m := range s.Messages() {
			if m.Rcpt[0] == "c20@example.com" {
				twice = append(twice, m)
			}
		}
		if ids := messageIDs(twice); len(ids) != 2 || ids[0] != ids[1] || header(t, twice[0].Raw, "Date") != header(t, twice[1].Raw, "Date") {
			t.Errorf("the mail whose answer was lost came with the Message-IDs %v", ids)
		}
		for _, r := range h.messages() {
			if r.State == outbox.Bounced && r.BounceType != "hard" {
				t.Errorf("%s: bounced %s, want hard", r.Email, r.BounceType)
			}
		}
	})
}

func TestALaneThatComesBackDeliversEverything(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		away, err := sink.Listen(sink.Options{})
		h.must(err)
		addr, port := away.Addr(), away.Port()
		h.must(away.Close())
		// A message for which there was no connection uses no permit of the lane's day.
		h.relay(port, func(f *lane.Fields) { f.MaxPerDay = &lane.Bound{To: new(50)} })
		h.send(50)
		h.run(h.engine())
		h.await("one was refused a connection", func(p outbox.Progress) bool { return p.Deferred > 0 })
		h.pass(5 * time.Second) // the next attempt to connect fails as well
		s := sink.Start(t, sink.Options{Addr: addr})
		h.pass(time.Minute)
		h.over()
		h.sums(outbox.Sums{Total: 50, Sent: 50, Delivered: 50})
		for _, r := range h.messages() {
			if r.Attempts != 1 {
				t.Errorf("%s: %d attempts, want none without a connection", r.Email, r.Attempts)
			}
		}
		if n := len(s.Messages()); n != 50 {
			t.Errorf("%d messages arrived", n)
		}
	})
}

func TestALaneThatStaysAwayFailsItsMessages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		away, err := sink.Listen(sink.Options{})
		h.must(err)
		h.must(away.Close())
		h.relay(away.Port(), func(f *lane.Fields) { f.RetryMaxAgeHours = new(1) })
		h.send(20)
		h.run(h.engine())
		h.await("one was refused a connection", func(p outbox.Progress) bool { return p.Deferred > 0 })
		h.pass(61 * time.Minute)
		h.over()
		h.sums(outbox.Sums{Total: 20, Failed: 20})
	})
}

// A server that accepts fewer connections than the lane allows is not down.
func TestAConnectionTooManyDoesNotStopTheLane(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{MaxConns: 1})
		h.relay(s.Port())
		h.send(60)
		h.run(h.engine())
		h.await("all has ended", func(p outbox.Progress) bool {
			h.pass(100 * time.Millisecond)
			return p.Waiting == 0
		})
		h.sums(outbox.Sums{Total: 60, Sent: 60, Delivered: 60})
	})
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 20 * time.Millisecond}}})
		h.relay(s.Port())
		h.send(50)
		h.run(h.engine())
		h.awaitSink(s, 5)
		h.must(broadcast.Pause(t.Context(), db, h.Tenant, h.id, broadcast.ByUser, h.now()))
		begun := begun(t, h) // attempts in flight may end, no other begins
		h.await("no message is claimed", func(outbox.Progress) bool { return claimed(h) == 0 })
		if n := len(s.Messages()); n > begun || n == 50 {
			t.Errorf("%d messages arrived, want at most the %d that had begun when the send was paused", n, begun)
		}
		h.must(broadcast.Resume(t.Context(), db, h.Tenant, h.id, h.now()))
		h.over()
		h.sums(outbox.Sums{Total: 50, Sent: 50, Delivered: 50})
		if n := len(arrived(s)); n != 50 || len(s.Messages()) != 50 {
			t.Errorf("%d messages to %d people", len(s.Messages()), n)
		}
	})
}

// begun returns how many messages are in flight or were attempted.
func begun(t *testing.T, h *house) int {
	t.Helper()
	under, err := outbox.InFlight(t.Context(), h.DB, h.Tenant, h.SendOf(h.id))
	h.must(err)
	tried := map[id.Message]bool{}
	for _, m := range under {
		tried[m] = true
	}
	for _, r := range h.messages() {
		if r.Attempts > 0 {
			tried[r.ID] = true
		}
	}
	return len(tried)
}

// claimed returns how many stretches of the send are claimed.
func claimed(h *house) (n int) {
	h.t.Helper()
	err := h.DB.QueryRow(context.WithoutCancel(h.t.Context()), `SELECT COUNT(*) FROM outbox_claim WHERE tenant_id = $1`, h.Tenant).Scan(&n)
	h.must(err)
	return n
}

func TestCancelInMidSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 20 * time.Millisecond}}})
		h.relay(s.Port())
		h.send(50)
		h.run(h.engine())
		h.awaitSink(s, 5)
		h.must(broadcast.Cancel(t.Context(), db, h.Tenant, h.id, h.now()))
		p := h.over()
		if p.Delivered+p.Cancelled != 50 || p.Delivered != len(s.Messages()) || p.Cancelled == 0 {
			t.Errorf("sums = %+v, %d messages arrived", p.Sums, len(s.Messages()))
		}
	})
}

func TestContactsThatMayNotBeMailedAnyMoreAreSkipped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port())
		h.send(6)
		at := h.now()
		h.must(contact.Unsubscribe(t.Context(), db, h.Tenant, h.people[0].ID, contact.UnsubscribeScope{Everything: true}, at))
		h.must(contact.Unsubscribe(t.Context(), db, h.Tenant, h.people[1].ID, contact.UnsubscribeScope{TypeKey: h.Type.Key}, at))
		_, err := suppression.Add(t.Context(), db, h.Tenant, h.people[2].Email, "asked", at)
		h.must(err)
		_, err = db.Exec(t.Context(), `UPDATE contact SET email = 'new@example.com' WHERE tenant_id = $1 AND id = $2`, h.Tenant, h.people[3].ID)
		h.must(err)
		h.run(h.engine())
		h.over()
		h.sums(outbox.Sums{Total: 6, Sent: 2, Delivered: 2, Skipped: 4})
		want := []string{"not_active", "unsubscribed_type", "suppressed_address", "invalid_email", "", ""}
		for _, r := range h.messages() {
			i := slices.IndexFunc(h.people, func(c contact.Contact) bool { return c.ID == r.Contact })
			if r.SkipReason != want[i] && !(i == 2 && r.SkipReason != "") {
				t.Errorf("contact %d: skip_reason = %q, want %q", i, r.SkipReason, want[i])
			}
		}
		if got := arrived(s); len(got) != 2 || got["c4@example.com"] != 1 || got["c5@example.com"] != 1 {
			t.Errorf("arrived: %v", got)
		}
	})
}

func TestNewSettingsTakeEffectInMidSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		slow := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 50 * time.Millisecond}}})
		other := sink.Start(t, sink.Options{})
		h.relay(slow.Port(), func(f *lane.Fields) { f.MaxConnections = new(1) })
		h.send(60)
		h.run(h.engine())
		h.awaitSink(slow, 2)
		_, err := lane.Update(t.Context(), db, broadcasttest.Box(t), h.Tenant, h.Lane.ID, lane.Fields{Port: new(other.Port())}, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
		h.must(err)
		h.pass(10 * time.Second) // cached lanes and checks of contacts have expired
		h.over()
		h.sums(outbox.Sums{Total: 60, Sent: 60, Delivered: 60})
		if a, b := len(slow.Messages()), len(other.Messages()); a > 20 || a+b != 60 {
			t.Errorf("%d messages by the old port, %d by the new", a, b)
		}
	})
}

func TestMailOfInactiveRecordsWaits(t *testing.T) {
	t.Parallel()
	pauseDomain := func(paused bool) func(h *house) error {
		return func(h *house) error {
			_, err := h.DB.Exec(h.t.Context(), `UPDATE sending_domain SET paused = $2 WHERE tenant_id = $1`, h.Tenant, paused)
			return err
		}
	}
	identity := func(active bool) func(h *house) error {
		return func(h *house) error {
			_, err := sender.UpdateIdentity(h.t.Context(), h.DB, h.Tenant, h.Identity.ID, sender.IdentityFields{Active: new(active)}, broadcasttest.Now)
			return err
		}
	}
	config := func(active bool) func(h *house) error {
		return func(h *house) error {
			_, err := lane.Update(h.t.Context(), h.DB, broadcasttest.Box(h.t), h.Tenant, h.Lane.ID, lane.Fields{Active: new(active)}, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
			return err
		}
	}
	for _, test := range []struct {
		name    string
		off, on func(h *house) error
	}{
		{"tenant", func(h *house) error { return tenant.Pause(h.t.Context(), h.DB, h.Tenant, "unpaid", h.now()) },
			func(h *house) error { return tenant.Resume(h.t.Context(), h.DB, h.Tenant, h.now()) }},
		{"identity", identity(false), identity(true)},
		{"domain", pauseDomain(true), pauseDomain(false)},
		{"lane", config(false), config(true)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, dbtest.One(t))
			s := sink.Start(t, sink.Options{})
			h.relay(s.Port())
			h.send(5)
			h.must(test.off(h))
			log := newWatch("send deferred")
			e := h.engine()
			e.Log = log.logger()
			h.run(e)
			log.await(t)
			h.await("no message is claimed", func(outbox.Progress) bool { return claimed(h) == 0 })
			h.sums(outbox.Sums{Total: 5, Waiting: 5})
			h.must(test.on(h))
			h.pass(10 * time.Second)
			h.over()
			h.sums(outbox.Sums{Total: 5, Sent: 5, Delivered: 5})
		})
	}
}

func TestADeletedTenantsMailStays(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	s := sink.Start(t, sink.Options{})
	h.relay(s.Port())
	h.send(5)
	h.must(tenant.Delete(t.Context(), h.DB, h.Tenant, h.now()))
	log := newWatch("send deferred")
	e := h.engine()
	e.Log = log.logger()
	stop := h.run(e)
	log.await(t)
	stop()
	h.sums(outbox.Sums{Total: 5, Waiting: 5})
	if n := claimed(h); n > 0 || len(s.Messages()) > 0 {
		t.Errorf("%d claims are left, %d messages arrived", n, len(s.Messages()))
	}
}

func TestASinkFillsTheMailbox(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		h.send(10)
		h.run(h.engine())
		h.over()
		h.sums(outbox.Sums{Total: 10, Sent: 10, Delivered: 10})
		list, _, err := mailbox.List(t.Context(), db, h.Tenant, mailbox.Query{Lane: h.Lane.ID, Limit: 100})
		h.must(err)
		if len(list) != 10 || list[0].Subject != "Spring news" {
			t.Errorf("the mailbox has %d messages: %+v", len(list), list)
		}
	})
}

func TestTwoEnginesShareASend(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.Postgres(t))
	s := sink.Start(t, sink.Options{})
	h.relay(s.Port())
	h.send(300) // more than one claim
	h.run(h.engine())
	h.run(h.engine())
	h.over()
	h.sums(outbox.Sums{Total: 300, Sent: 300, Delivered: 300})
	if n := len(arrived(s)); n != 300 || len(s.Messages()) != 300 {
		t.Errorf("%d messages to %d people", len(s.Messages()), n)
	}
}

// A server that never answers does not prevent a shutdown, and only the message that it may have
// accepted is sent again.
func TestAShutdownIsBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: time.Hour}}})
		h.relay(s.Port(), func(f *lane.Fields) { f.MaxConnections = new(1) })
		h.send(10)
		e := h.engine()
		e.Grace = 50 * time.Millisecond
		stop := h.run(e)
		h.await("one is on the wire", func(outbox.Progress) bool { return begun(t, h) == 1 })
		stop()
		if n := claimed(h); n > 0 {
			t.Errorf("%d claims are left", n)
		}
		h.must(s.SetRules(nil))
		h.run(h.engine())
		h.pass(75 * time.Second)
		h.over()
		h.sums(outbox.Sums{Total: 10, Sent: 10, Delivered: 10})
		attempts := map[int]int{}
		for _, r := range h.messages() {
			attempts[r.Attempts]++
		}
		if got, want := fmt.Sprint(attempts), "map[1:9 2:1]"; got != want {
			t.Errorf("messages by attempts: %s, want %s", got, want)
		}
	})
}

// An engine whose first statements fail repeats them, and then sends.
func TestAnEngineWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port())
		h.send(5)
		_, err := db.Exec(t.Context(), `ALTER TABLE outbox_node RENAME TO outbox_node_away`)
		h.must(err)
		e, failed := h.engine(), newWatch("begin to send failed, will retry")
		e.Log = failed.logger()
		h.run(e)
		failed.await(t)
		_, err = db.Exec(t.Context(), `ALTER TABLE outbox_node_away RENAME TO outbox_node`)
		h.must(err)
		h.over()
		h.sums(outbox.Sums{Total: 5, Sent: 5, Delivered: 5})
	})
}

// When the lease is lost no attempt begins, and when it is renewed sending continues.
func TestSendingContinuesAfterAClockJump(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 10 * time.Millisecond}}})
	h.relay(s.Port())
	h.send(50)
	h.run(h.engine())
	h.awaitSink(s, 5)
	h.pass(10 * time.Minute)
	h.over()
	h.sums(outbox.Sums{Total: 50, Sent: 50, Delivered: 50})
	if n := len(s.Messages()); n != 50 {
		t.Errorf("%d messages arrived", n)
	}
}

func TestASilentRelayDelaysNoOtherTenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		stuck := newHouse(t, db)
		silent := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: time.Hour}}})
		stuck.relay(silent.Port(), func(f *lane.Fields) { f.MaxConnections = new(2) })
		stuck.send(50)
		h := &house{Account: broadcasttest.New(t, db, "other"), t: t, began: stuck.began}
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port())
		h.send(50)
		e := h.engine()
		e.Grace = 50 * time.Millisecond
		h.run(e)
		h.over()
		h.sums(outbox.Sums{Total: 50, Sent: 50, Delivered: 50})
		if len(silent.Messages()) != 0 {
			t.Error("the silent relay accepted mail")
		}
	})
}

// A server that closes a connection after some messages does not cost the next message an attempt.
func TestAConnectionThatEndedIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{PerConn: 3})
		h.relay(s.Port(), func(f *lane.Fields) { f.MaxConnections = new(1) })
		h.send(10)
		h.run(h.engine())
		h.over()
		h.sums(outbox.Sums{Total: 10, Sent: 10, Delivered: 10})
		for _, r := range h.messages() {
			if r.Attempts != 1 {
				t.Errorf("%s: %d attempts", r.Email, r.Attempts)
			}
		}
		if n := s.Stats().Connections; n != 4 {
			t.Errorf("%d connections, want 4", n)
		}
	})
}
