package inbound_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// mailbox gives the tenant a lane with the mailbox at a port.
func (f *fixture) mailbox(port int, mode smtpclient.TLSMode) lane.Config {
	f.t.Helper()
	c, err := lane.Create(f.t.Context(), f.DB, broadcasttest.Box(f.t), f.Tenant, lane.Fields{
		Name: new("Relay"), Type: new(lane.SMTP), Host: new("127.0.0.1"),
		BounceMailbox: &lane.BounceMailboxFields{Host: new("localhost"), Port: &port, TLS: &mode, Username: new(dovecottest.User), Password: new(dovecottest.Password)},
	}, lane.Rules{AllowPrivate: true}, f.now())
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fixture) reader(s *dovecottest.Server) *inbound.Mailboxes {
	m := &inbound.Mailboxes{
		DB: f.DB, Box: broadcasttest.Box(f.t), Receiver: f.receiver, Log: slog.New(slog.DiscardHandler), Now: f.now, AllowPrivate: true,
	}
	if s != nil {
		m.RootCAs = s.Roots
	}
	return m
}

func (f *fixture) read(m *inbound.Mailboxes) {
	f.t.Helper()
	if err := m.Tick(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) mailboxState(c lane.Config) lane.MailboxState {
	f.t.Helper()
	states, err := lane.MailboxStates(f.t.Context(), f.DB, f.Tenant, []id.MTAConfig{c.ID})
	if err != nil {
		f.t.Fatal(err)
	}
	return states[c.ID]
}

// delivered is a mail as it stands in a mailbox, with the address that it was delivered to.
func delivered(to, mail string) string {
	return strings.ReplaceAll("Return-Path: <>\nDelivered-To: "+to+"\n"+mail, "\n", "\r\n")
}

// setUpNow is setUp with messages that were sent an hour ago, since Dovecot dates mail by the clock.
func setUpNow(t *testing.T, db *sqldb.DB, people int) *fixture {
	t.Helper()
	f := setUp(t, db, people)
	f.setNow(time.Now().UTC())
	sent := f.now().Add(-time.Hour).UnixMicro()
	f.exec(`UPDATE outbox SET sent_at = $2 WHERE tenant_id = $1`, f.Tenant, sent)
	f.exec(`UPDATE send SET last_send_at = $2 WHERE tenant_id = $1`, f.Tenant, sent)
	return f
}

func TestMailboxesAreReadOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := dovecottest.Start(t)
		f := setUpNow(t, db, 7)
		other := setUpSecond(t, f)
		c := f.mailbox(s.TLSPort, smtpclient.Implicit)
		hard, full, policy, complained, left, rewritten := 0, 1, 2, 3, 4, 5
		path := func(k *fixture, i int) string {
			return "b." + string(k.keys.ReturnPath(k.messages[i].ID, f.now().Add(-time.Hour))) + "@" + k.host()
		}
		for i, diagnostic := range map[int]string{hard: "550 5.1.1 no such user", full: "552 5.2.2 mailbox full", policy: "550 5.7.1 blocked by policy"} {
			s.Deliver(delivered(path(f, i), failure(f.people[i].Email, diagnostic)))
		}
		messageID := func(k *fixture, i int) string { return "<" + k.keys.MessageID(k.messages[i].ID) + "@" + k.host() + ">" }
		s.Deliver(delivered("bounces@relay.test", complaint("abuse", messageID(f, complained))))
		s.Deliver(delivered("u."+string(f.keys.UnsubscribeAddress(f.messages[left].ID, f.now()))+"@"+f.host(), "From: x@x.test\nSubject: unsubscribe\n\n"))
		returned := strings.Replace(failure(f.people[rewritten].Email, "550 5.1.1 no such user"), "\n\n--XX--", "\n\n--XX\nContent-Type: message/rfc822\n\nMessage-ID: "+messageID(f, rewritten)+"\n\nHi\n--XX--", 1)
		s.Deliver(delivered("bounces@relay.test", returned))
		// These have no effect.
		s.Deliver(delivered("bounces@relay.test", failure(f.people[6].Email, "550 5.1.1 no such user")))
		s.Deliver(delivered("b.0123456789@"+f.host(), failure(f.people[6].Email, "550 5.1.1 no such user")))
		s.Deliver(delivered(path(other, 0), failure(other.people[0].Email, "550 5.1.1 no such user")))
		s.Deliver(delivered(path(f, 6), "From: x@x.test\nAuto-Submitted: auto-replied\nSubject: Out of office\n\nHi\n"))
		s.Deliver("\x00\xff no message")
		for round := range 3 {
			f.read(f.reader(s))
			f.follow()
			if state := f.mailboxState(c); state.LastError != "" || state.ReadAt == nil {
				t.Fatalf("round %d: the mailbox is %+v", round, state)
			}
			f.setNow(f.now().Add(2 * time.Minute))
			if round == 1 {
				s.Renumber() // all are read again
			}
		}
		for i, want := range map[int]struct {
			state  outbox.State
			class  string
			status contact.Status
		}{
			hard:       {outbox.Bounced, "hard", contact.Bounced},
			full:       {outbox.Bounced, "soft", contact.Active},
			policy:     {outbox.Bounced, "block", contact.Active},
			complained: {outbox.Delivered, "", contact.Complained},
			left:       {outbox.Delivered, "", contact.Active},
			rewritten:  {outbox.Bounced, "hard", contact.Bounced},
			6:          {outbox.Delivered, "", contact.Active},
		} {
			m, c := f.message(i), f.contact(i)
			if m.State != want.state || m.BounceType != want.class || c.Status != want.status {
				t.Errorf("message %d is %s %s, its contact %s; want %+v", i, m.State, m.BounceType, c.Status, want)
			}
		}
		if m := other.message(0); m.State != outbox.Delivered {
			t.Errorf("the message of another tenant is %s", m.State)
		}
		var bounced, entries int64
		if err := db.QueryRow(t.Context(), `SELECT bounced FROM send WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.send).Scan(&bounced); err != nil || bounced != 4 {
			t.Errorf("%d bounced, %v", bounced, err)
		}
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type IN ('email_bounced', 'email_complained', 'email_unsubscribed')`, f.Tenant).Scan(&entries); err != nil || entries != 6 {
			t.Errorf("%d entries in the journal, %v", entries, err)
		}
	})
}

// setUpSecond adds a second tenant with one message.
func setUpSecond(t *testing.T, f *fixture) *fixture {
	t.Helper()
	return setUpTenant(t, f.DB, "globex", 1)
}

// A mailbox that cannot be read is read less and less often, its owner sees why, and it delays no other.
func TestABrokenMailboxDelaysNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUpNow(t, db, 1)
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() })
		hangs := f.mailbox(silent.Addr().(*net.TCPAddr).Port, smtpclient.Implicit) // accepts, and says nothing
		s := dovecottest.Start(t)
		other := setUpSecond(t, f)
		other.setNow(f.now())
		fine := other.mailbox(s.TLSPort, smtpclient.Implicit)
		refused := f.mailbox(s.TLSPort, smtpclient.Implicit)
		correct := func(password string) {
			t.Helper()
			if _, err := lane.Update(t.Context(), db, broadcasttest.Box(t), f.Tenant, refused.ID, lane.Fields{BounceMailbox: &lane.BounceMailboxFields{Password: &password}}, lane.Rules{AllowPrivate: true}); err != nil {
				t.Fatal(err)
			}
		}
		correct("wrong")
		run, stop := context.WithCancel(t.Context())
		m := f.reader(s)
		done := make(chan error, 1)
		go func() { done <- m.Run(run) }()
		for other.mailboxState(fine).ReadAt == nil {
			if t.Context().Err() != nil {
				t.Fatal("the mailbox was not read")
			}
			time.Sleep(10 * time.Millisecond)
		}
		if state := f.mailboxState(hangs); state.ReadAt != nil || state.LastError != "" {
			t.Errorf("the silent mailbox is %+v", state)
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		// The process ended in good order, so that another one need not wait for the end of its lease.
		f.exec(`DELETE FROM mta_config WHERE tenant_id = $1 AND id = $2`, f.Tenant, hangs.ID)
		var last time.Time
		f.exec(`UPDATE bounce_mailbox SET next_read_at = 0, failures = 0 WHERE tenant_id = $1`, f.Tenant)
		for i := range 8 {
			f.read(m)
			var next int64
			if err := db.QueryRow(t.Context(), `SELECT next_read_at FROM bounce_mailbox WHERE tenant_id = $1 AND mta_config_id = $2`, f.Tenant, refused.ID).Scan(&next); err != nil {
				t.Fatal(err)
			}
			wait := sqldb.Time(next).Sub(f.now())
			if want := min(time.Minute<<i, 30*time.Minute); wait < want-time.Second || wait > want {
				t.Errorf("after failure %d the mailbox is read again after %s, want %s", i+1, wait, want)
			}
			last = f.now()
			f.setNow(sqldb.Time(next))
		}
		if state := f.mailboxState(refused); state.LastError == "" || state.ReadAt != nil {
			t.Errorf("after %s: %+v", last, state)
		}
		// New settings make it due at once.
		correct(dovecottest.Password)
		f.setNow(last)
		f.read(m)
		if state := f.mailboxState(refused); state.LastError != "" || state.ReadAt == nil {
			t.Errorf("after the correction: %+v", state)
		}
	})
}

// A process that died after it had recorded messages, and before it stored that, leaves a lease. Another
// one reads the messages again when it ends.
func TestAProcessThatDiedLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := dovecottest.Start(t)
		f := setUpNow(t, db, 2)
		f.mailbox(s.TLSPort, smtpclient.Implicit)
		for i := range f.people {
			s.Deliver(delivered(f.returnPathAt(i, f.now()), failure(f.people[i].Email, "550 5.1.1 no such user")))
		}
		leased, err := lane.LeaseMailboxes(t.Context(), db, nil, 10, 10, f.now(), f.now().Add(time.Minute))
		if err != nil || len(leased) != 1 {
			t.Fatalf("%d mailboxes, %v", len(leased), err)
		}
		if err := f.receiver.ReceiveFor(t.Context(), f.Tenant, f.now(), []byte(delivered(f.returnPathAt(0, f.now()), failure(f.people[0].Email, "550 5.1.1 no such user")))); err != nil {
			t.Fatal(err)
		}
		m := f.reader(s)
		f.read(m)
		if got := f.message(1).State; got != outbox.Delivered {
			t.Errorf("the mailbox was read during the lease: %s", got)
		}
		f.setNow(f.now().Add(2 * time.Minute))
		f.read(m)
		f.follow()
		var bounced int64
		if err := db.QueryRow(t.Context(), `SELECT bounced FROM send WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.send).Scan(&bounced); err != nil || bounced != 2 {
			t.Errorf("%d bounced, %v", bounced, err)
		}
		// The dead process wakes up: what it writes is refused.
		if held, err := leased[0].Extend(t.Context(), db, leased[0].Cursor, f.now().Add(time.Minute)); held || err != nil {
			t.Errorf("Extend after the end of the lease = %v, %v", held, err)
		}
	})
}

// A report about an attempt whose result is not stored yet waits for it.
func TestAReportInAMailboxWaitsForTheResult(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := dovecottest.Start(t)
		f := setUpNow(t, db, 3)
		f.exec(`UPDATE outbox SET state = 'queued', sent_at = NULL WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.messages[1].ID)
		f.mailbox(s.TLSPort, smtpclient.Implicit)
		for i := range f.people {
			s.Deliver(delivered(f.returnPathAt(i, f.now()), failure(f.people[i].Email, "550 5.1.1 no such user")))
		}
		m := f.reader(s)
		f.read(m)
		f.exec(`UPDATE outbox SET state = 'delivered', sent_at = $3 WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.messages[1].ID, f.now().Add(-time.Minute).UnixMicro())
		f.setNow(f.now().Add(time.Minute))
		f.read(m)
		for i := range f.people {
			if got := f.message(i).State; got != outbox.Bounced {
				t.Errorf("message %d is %s", i, got)
			}
		}
	})
}

func (f *fixture) returnPathAt(i int, at time.Time) string {
	return "b." + string(f.keys.ReturnPath(f.messages[i].ID, at)) + "@" + f.host()
}
