package inbound_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/inbound/inboundtest"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// setUpNow is setUp with messages that were sent an hour ago, since Dovecot dates mail by the clock.
func setUpNow(t *testing.T, db *sqldb.DB, people int) *fixture {
	t.Helper()
	f := setUp(t, db, people)
	f.SetNow(time.Now().UTC())
	sent := f.Now().Add(-time.Hour).UnixMicro()
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
		c := f.Mailbox(s.TLSPort, smtpclient.Implicit)
		hard, full, policy, complained, left, rewritten := 0, 1, 2, 3, 4, 5
		path := func(k *fixture, i int) string {
			return "b." + string(k.Keys.ReturnPath(k.Messages[i].ID, f.Now().Add(-time.Hour))) + "@" + k.Host()
		}
		for i, diagnostic := range map[int]string{hard: "550 5.1.1 no such user", full: "552 5.2.2 mailbox full", policy: "550 5.7.1 blocked by policy"} {
			s.Deliver(inboundtest.Delivered(path(f, i), inboundtest.Failure(f.People[i].Email, diagnostic)))
		}
		messageID := func(k *fixture, i int) string { return "<" + k.Keys.MessageID(k.Messages[i].ID) + "@" + k.Host() + ">" }
		s.Deliver(inboundtest.Delivered("bounces@relay.test", inboundtest.Complaint("abuse", messageID(f, complained))))
		s.Deliver(inboundtest.Delivered("u."+string(f.Keys.UnsubscribeAddress(f.Messages[left].ID, f.Now()))+"@"+f.Host(), "From: x@x.test\nSubject: unsubscribe\n\n"))
		returned := strings.Replace(inboundtest.Failure(f.People[rewritten].Email, "550 5.1.1 no such user"), "\n\n--XX--", "\n\n--XX\nContent-Type: message/rfc822\n\nMessage-ID: "+messageID(f, rewritten)+"\n\nHi\n--XX--", 1)
		s.Deliver(inboundtest.Delivered("bounces@relay.test", returned))
		// These have no effect.
		s.Deliver(inboundtest.Delivered("bounces@relay.test", inboundtest.Failure(f.People[6].Email, "550 5.1.1 no such user")))
		s.Deliver(inboundtest.Delivered("b.0123456789@"+f.Host(), inboundtest.Failure(f.People[6].Email, "550 5.1.1 no such user")))
		s.Deliver(inboundtest.Delivered(path(other, 0), inboundtest.Failure(other.People[0].Email, "550 5.1.1 no such user")))
		s.Deliver(inboundtest.Delivered(path(f, 6), "From: x@x.test\nAuto-Submitted: auto-replied\nSubject: Out of office\n\nHi\n"))
		s.Deliver("\x00\xff no message")
		for round := range 3 {
			f.Read(f.Reader(s))
			f.Follow()
			if state := f.MailboxState(c); state.LastError != "" || state.ReadAt == nil {
				t.Fatalf("round %d: the mailbox is %+v", round, state)
			}
			f.SetNow(f.Now().Add(2 * time.Minute))
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
			m, c := f.Message(i), f.Contact(i)
			if m.State != want.state || m.BounceType != want.class || c.Status != want.status {
				t.Errorf("message %d is %s %s, its contact %s; want %+v", i, m.State, m.BounceType, c.Status, want)
			}
		}
		if m := other.Message(0); m.State != outbox.Delivered {
			t.Errorf("the message of another tenant is %s", m.State)
		}
		var bounced, entries int64
		if err := db.QueryRow(t.Context(), `SELECT bounced FROM send WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.Send).Scan(&bounced); err != nil || bounced != 4 {
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
		connected := make(chan struct{})
		go func() { // accepts, and says nothing
			if c, err := silent.Accept(); err == nil {
				close(connected)
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}
		}()
		hangs := f.Mailbox(silent.Addr().(*net.TCPAddr).Port, smtpclient.Implicit)
		s := dovecottest.Start(t)
		m := f.Reader(s)
		run, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Tick(run) }()
		<-connected
		other := setUpSecond(t, f)
		other.SetNow(f.Now())
		fine := other.Mailbox(s.TLSPort, smtpclient.Implicit)
		refused := f.Mailbox(s.TLSPort, smtpclient.Implicit)
		correct := func(password string) {
			t.Helper()
			if _, err := lane.Update(t.Context(), db, broadcasttest.Box(t), f.Tenant, refused.ID, lane.Fields{BounceMailbox: &lane.BounceMailboxFields{Password: &password}}, lane.Rules{AllowPrivate: true}, broadcasttest.Now); err != nil {
				t.Fatal(err)
			}
		}
		correct("wrong")
		f.Read(m)
		if state := other.MailboxState(fine); state.ReadAt == nil || state.LastError != "" {
			t.Errorf("the mailbox of another tenant is %+v", state)
		}
		if state := f.MailboxState(refused); state.LastError == "" {
			t.Errorf("the mailbox with a wrong password is %+v", state)
		}
		if state := f.MailboxState(hangs); state.ReadAt != nil || state.LastError != "" {
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
			f.Read(m)
			var next int64
			if err := db.QueryRow(t.Context(), `SELECT next_read_at FROM bounce_mailbox WHERE tenant_id = $1 AND mta_config_id = $2`, f.Tenant, refused.ID).Scan(&next); err != nil {
				t.Fatal(err)
			}
			wait := sqldb.Time(next).Sub(f.Now())
			if want := min(time.Minute<<i, 30*time.Minute); wait < want-time.Second || wait > want {
				t.Errorf("after failure %d the mailbox is read again after %s, want %s", i+1, wait, want)
			}
			last = f.Now()
			f.SetNow(sqldb.Time(next))
		}
		if state := f.MailboxState(refused); state.LastError == "" || state.ReadAt != nil {
			t.Errorf("after %s: %+v", last, state)
		}
		// New settings make it due at once.
		correct(dovecottest.Password)
		f.SetNow(last)
		f.Read(m)
		if state := f.MailboxState(refused); state.LastError != "" || state.ReadAt == nil {
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
		f.Mailbox(s.TLSPort, smtpclient.Implicit)
		for i := range f.People {
			s.Deliver(inboundtest.Delivered(f.returnPathAt(i, f.Now()), inboundtest.Failure(f.People[i].Email, "550 5.1.1 no such user")))
		}
		leased, err := lane.LeaseMailboxes(t.Context(), db, nil, 10, 10, f.Now(), f.Now().Add(time.Minute))
		if err != nil || len(leased) != 1 {
			t.Fatalf("%d mailboxes, %v", len(leased), err)
		}
		if err := f.Receiver.ReceiveFor(t.Context(), f.Tenant, f.Now(), []byte(inboundtest.Delivered(f.returnPathAt(0, f.Now()), inboundtest.Failure(f.People[0].Email, "550 5.1.1 no such user")))); err != nil {
			t.Fatal(err)
		}
		m := f.Reader(s)
		f.Read(m)
		if got := f.Message(1).State; got != outbox.Delivered {
			t.Errorf("the mailbox was read during the lease: %s", got)
		}
		f.SetNow(f.Now().Add(2 * time.Minute))
		f.Read(m)
		f.Follow()
		var bounced int64
		if err := db.QueryRow(t.Context(), `SELECT bounced FROM send WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.Send).Scan(&bounced); err != nil || bounced != 2 {
			t.Errorf("%d bounced, %v", bounced, err)
		}
		// The dead process wakes up: what it writes is refused.
		if held, err := leased[0].Extend(t.Context(), db, leased[0].Cursor, f.Now().Add(time.Minute)); held || err != nil {
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
		f.exec(`UPDATE outbox SET state = 'queued', sent_at = NULL WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.Messages[1].ID)
		f.Mailbox(s.TLSPort, smtpclient.Implicit)
		for i := range f.People {
			s.Deliver(inboundtest.Delivered(f.returnPathAt(i, f.Now()), inboundtest.Failure(f.People[i].Email, "550 5.1.1 no such user")))
		}
		m := f.Reader(s)
		f.Read(m)
		f.exec(`UPDATE outbox SET state = 'delivered', sent_at = $3 WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.Messages[1].ID, f.Now().Add(-time.Minute).UnixMicro())
		f.SetNow(f.Now().Add(time.Minute))
		f.Read(m)
		for i := range f.People {
			if got := f.Message(i).State; got != outbox.Bounced {
				t.Errorf("message %d is %s", i, got)
			}
		}
	})
}

func (f *fixture) returnPathAt(i int, at time.Time) string {
	return "b." + string(f.Keys.ReturnPath(f.Messages[i].ID, at)) + "@" + f.Host()
}
