package inbound_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/render"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/suppression"
	"github.com/packetboat/packetboat/internal/track"
	"github.com/packetboat/packetboat/internal/traffic"
)

// fixture is a send whose messages were accepted, and a server for the mail that comes back.
type fixture struct {
	*broadcasttest.Account
	t        *testing.T
	keys     *track.Keys
	clock    atomic.Int64 // microseconds; the server reads it
	send     id.Send
	people   []contact.Contact
	messages []outbox.Message
	receiver *inbound.Receiver
	address  string // of the server
}

func setUp(t *testing.T, db *sqldb.DB, people int) *fixture {
	t.Helper()
	return setUpTenant(t, db, "acme", people)
}

func setUpTenant(t *testing.T, db *sqldb.DB, slug string, people int) *fixture {
	t.Helper()
	f := &fixture{Account: broadcasttest.New(t, db, slug), t: t, keys: track.NewKeys(broadcasttest.Box(t))}
	f.setNow(broadcasttest.Now.Add(time.Hour))
	f.people = f.AddContacts(f.List.ID, "ann", people)
	b := f.Create()
	f.send = b.Send
	ctx := t.Context()
	frozen, err := content.Freeze(ctx, db, f.Tenant, content.Source{
		Subject: "Hi", HTML: "<p>Hi</p>", Send: b.Send, Context: content.Context{Broadcast: b.ID, EmailType: f.Type.ID},
	}, broadcasttest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Create(ctx, db, outbox.Send{Tenant: f.Tenant, ID: f.send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, broadcasttest.Now); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.people {
		f.messages = append(f.messages, outbox.Message{
			ID: id.New[id.Message](), Contact: c.ID, Email: c.Email, Content: frozen, Identity: f.Identity.ID, Lane: f.Lane.ID, DueAt: broadcasttest.Now,
		})
	}
	if _, err := outbox.AddMessages(ctx, db, f.Tenant, f.send, f.messages); err != nil {
		t.Fatal(err)
	}
	f.exec(`UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, f.Tenant, broadcasttest.Now.UnixMicro())
	f.exec(`UPDATE send SET sent = $2, delivered = $2, waiting = 0, last_send_at = $3 WHERE tenant_id = $1`, f.Tenant, people, broadcasttest.Now.UnixMicro())
	now := f.now
	recorder := inbound.NewRecorder(db)
	f.receiver = &inbound.Receiver{
		DB: db, Keys: f.keys, Contents: &content.Cache{DB: db}, Senders: &render.Senders{DB: db, Now: now}, Recorder: recorder,
		Log: slog.New(slog.DiscardHandler), Now: now, Host: "mx.y.example", Feedback: "fbl@y.example",
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.address = l.Addr().String()
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 2)
	go func() { ended <- recorder.Run(run) }()
	go func() {
		ended <- (&inbound.Server{Receiver: f.receiver, Log: slog.New(slog.DiscardHandler)}).Serve(run, l)
	}()
	t.Cleanup(func() { stop(); <-ended; <-ended })
	return f
}

// now is the time of the server and of the readers of mailboxes.
func (f *fixture) now() time.Time { return time.UnixMicro(f.clock.Load()).UTC() }

func (f *fixture) setNow(t time.Time) { f.clock.Store(t.UnixMicro()) }

func (f *fixture) exec(text string, args ...any) {
	f.t.Helper()
	if _, err := f.DB.Exec(f.t.Context(), text, args...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) host() string { return f.Domain.ReturnPathHost }

// returnPath is the envelope sender of a message, in upper case, as some servers write it.
func (f *fixture) returnPath(i int) string {
	return strings.ToUpper("b."+string(f.keys.ReturnPath(f.messages[i].ID, broadcasttest.Now))) + "@" + f.host()
}

// deliver sends a mail to the server and returns the code of its reply.
func (f *fixture) deliver(to, mail string) int {
	f.t.Helper()
	c, err := smtp.Dial(f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	code := func(err error) int {
		if e, ok := errors.AsType[*textproto.Error](err); ok {
			return e.Code
		}
		f.t.Fatal(err)
		return 0
	}
	if err := c.Mail(""); err != nil {
		return code(err)
	}
	if err := c.Rcpt(to); err != nil {
		return code(err)
	}
	w, err := c.Data()
	if err != nil {
		return code(err)
	}
	if _, err := w.Write([]byte(strings.ReplaceAll(mail, "\n", "\r\n"))); err != nil {
		f.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		return code(err)
	}
	return 250
}

// follow passes the journal to the followers.
func (f *fixture) follow() {
	f.t.Helper()
	e := &journal.Engine{DB: f.DB, Followers: []journal.Follower{contact.Follower(), suppression.Follower()}, Log: slog.New(slog.DiscardHandler)}
	if err := e.Drain(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) contact(i int) contact.Contact {
	f.t.Helper()
	c, err := contact.ByID(f.t.Context(), f.DB, f.Tenant, f.people[i].ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fixture) message(i int) outbox.Record {
	f.t.Helper()
	m, err := outbox.Find(f.t.Context(), f.DB, f.Tenant, f.messages[i].ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// failure is a report about a recipient.
func failure(to, diagnostic string) string {
	return "From: MAILER-DAEMON@relay.example\nTo: x@y.example\nSubject: Undelivered Mail Returned to Sender\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/report; report-type=delivery-status; boundary=\"XX\"\n\n--XX\nContent-Type: text/plain\n\nSorry.\n\n" +
		"--XX\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; relay.example\n\nFinal-Recipient: rfc822; " + to +
		"\nAction: failed\nStatus: " + diagnostic[4:9] + "\nDiagnostic-Code: smtp; " + diagnostic + "\n\n--XX--\n"
}

func complaint(kind, messageID string) string {
	return "From: fbl@provider.example\nSubject: complaint\nContent-Type: multipart/report; report-type=feedback-report; boundary=XX\n\n--XX\nContent-Type: text/plain\n\nA complaint.\n" +
		"--XX\nContent-Type: message/feedback-report\n\nFeedback-Type: " + kind + "\nUser-Agent: P/1\nVersion: 1\n\n--XX\nContent-Type: message/rfc822\n\nMessage-ID: " + messageID + "\nSubject: Hi\n\nHi\n--XX--\n"
}

func TestReturnedMailHasItsEffectsOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 6)
		hard, full, policy, complained, left := 0, 1, 2, 3, 4
		for range 2 { // servers repeat what they are not sure of
			for i, diagnostic := range map[int]string{hard: "550 5.1.1 no such user", full: "552 5.2.2 mailbox full", policy: "550 5.7.1 blocked by policy"} {
				if code := f.deliver(f.returnPath(i), failure(f.people[i].Email, diagnostic)); code != 250 {
					t.Fatalf("report %d: %d", i, code)
				}
			}
			if code := f.deliver("fbl@y.example", complaint("abuse", "<"+f.keys.MessageID(f.messages[complained].ID)+"@"+f.host()+">")); code != 250 {
				t.Fatalf("complaint: %d", code)
			}
			address := "u." + string(f.keys.UnsubscribeAddress(f.messages[left].ID, broadcasttest.Now)) + "@" + f.host()
			if code := f.deliver(address, "From: "+f.people[left].Email+"\nSubject: unsubscribe\n\n"); code != 250 {
				t.Fatalf("unsubscribe: %d", code)
			}
			f.follow()
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
			5:          {outbox.Delivered, "", contact.Active},
		} {
			m, c := f.message(i), f.contact(i)
			if m.State != want.state || m.BounceType != want.class || c.Status != want.status {
				t.Errorf("message %d is %s %s, its contact %s; want %+v", i, m.State, m.BounceType, c.Status, want)
			}
		}
		for i, listed := range map[int]bool{hard: true, full: false, policy: false, complained: true} {
			reasons, err := suppression.Listed(t.Context(), db, f.Tenant, []string{f.people[i].Email})
			if err != nil {
				t.Fatal(err)
			}
			if len(reasons) > 0 != listed {
				t.Errorf("contact %d on the suppression list: %v", i, reasons)
			}
		}
		var delivered, bounced int64
		if err := db.QueryRow(t.Context(), `SELECT delivered, bounced FROM send WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.send).Scan(&delivered, &bounced); err != nil || delivered != 3 || bounced != 3 {
			t.Errorf("the send has %d delivered and %d bounced, %v", delivered, bounced, err)
		}
		sums, err := track.LoadSums(t.Context(), db, f.Tenant, f.send)
		if err != nil || sums.Complained != 1 || sums.Unsubscribed != 1 {
			t.Errorf("the send has %+v, %v", sums, err)
		}
		// The domain is paused by the rates of these.
		counts, err := traffic.OfDomain(t.Context(), db, f.Tenant, f.Domain.ID, f.now().Add(-traffic.Width))
		if want := (traffic.Counts{Late: 1, Complained: 1}); err != nil || counts != want {
			t.Errorf("the domain has %+v, %v; want %+v", counts, err, want)
		}
	})
}

func TestStrangersChangeNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 1)
		report := failure(f.people[0].Email, "550 5.1.1 no such user")
		token := string(f.keys.ReturnPath(f.messages[0].ID, broadcasttest.Now))
		for name, to := range map[string]string{
			"relaying":            "ann@elsewhere.example",
			"the address":         f.people[0].Email,
			"no token":            "b.@" + f.host(),
			"a changed token":     "b." + token[:len(token)-1] + "a@" + f.host(),
			"another host":        "b." + token + "@bounce.elsewhere.example",
			"another kind":        "u." + token + "@" + f.host(),
			"an old return path":  "b." + string(f.keys.ReturnPath(f.messages[0].ID, f.now().Add(-70*24*time.Hour))) + "@" + f.host(),
			"other local part":    "x." + token + "@" + f.host(),
			"source route":        "@relay.example:b." + token + "@elsewhere.example",
			"percent":             "b." + token + "%" + f.host() + "@elsewhere.example",
			"bang":                f.host() + "!b." + token + "@elsewhere.example",
			"the provider's list": "fbl@elsewhere.example",
		} {
			if code := f.deliver(to, report); code/100 != 5 {
				t.Errorf("%s: %d", name, code)
			}
		}
		for name, mail := range map[string]string{
			"a report without proof":    report,
			"a Message-ID of no one":    complaint("abuse", "<x@"+f.host()+">"),
			"a Message-ID by id alone":  complaint("abuse", "<"+f.messages[0].ID.String()+"@"+f.host()+">"),
			"a Message-ID with a guess": complaint("abuse", "<"+f.messages[0].ID.String()+".0000000000000000@"+f.host()+">"),
			"not a complaint":           complaint("not-spam", "<"+f.keys.MessageID(f.messages[0].ID)+"@"+f.host()+">"),
		} {
			for _, to := range []string{"fbl@y.example", "postmaster@mx.y.example", "abuse@" + f.host()} {
				if code := f.deliver(to, mail); code != 250 {
					t.Errorf("%s to %s: %d", name, to, code)
				}
			}
		}
		// An absence notice and a preview do nothing, either.
		if code := f.deliver(f.returnPath(0), "From: "+f.people[0].Email+"\nSubject: Out of office\nAuto-Submitted: auto-replied\n\n550 5.1.1 no such user\n"); code != 250 {
			t.Errorf("absence: %d", code)
		}
		if code := f.deliver("b."+string(f.keys.PreviewReturnPath(f.messages[0].ID, broadcasttest.Now))+"@"+f.host(), report); code != 250 {
			t.Errorf("test mail: %d", code)
		}
		// A report about another recipient, in a list, is not about this one.
		two := strings.Replace(report, "\n\n--XX--", "\n\nFinal-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 5.1.1\n\n--XX--", 1)
		two = strings.Replace(two, f.people[0].Email, "eve@x.example", 1)
		if code := f.deliver(f.returnPath(0), two); code != 250 {
			t.Errorf("other recipients: %d", code)
		}
		f.follow()
		if m, c := f.message(0), f.contact(0); m.State != outbox.Delivered || c.Status != contact.Active {
			t.Errorf("message %s, contact %s", m.State, c.Status)
		}
	})
}

func TestAReportBeforeTheResultIsStoredIsDeferred(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 1)
		f.exec(`UPDATE outbox SET state = 'queued', sent_at = NULL WHERE tenant_id = $1`, f.Tenant)
		if code := f.deliver(f.returnPath(0), failure(f.people[0].Email, "550 5.1.1 no such user")); code != 451 {
			t.Errorf("code %d, want 451", code)
		}
	})
}

func TestTheServerIsBounded(t *testing.T) {
	f := setUp(t, dbtest.SQLite(t), 1)
	if code := f.deliver(f.returnPath(0), "Subject: x\n\n"+strings.Repeat(strings.Repeat("x", 70)+"\n", dsn.MaxSize/70)); code != 552 {
		t.Errorf("a long message: %d", code)
	}
	if code := f.deliver(f.returnPath(0), strings.Repeat("Received: from a by b\n", 150)+"\nx\n"); code != 554 {
		t.Errorf("a loop: %d", code)
	}
	c, err := smtp.Dial(f.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Mail(""); err != nil {
		t.Fatal(err)
	}
	var last error
	for i := range 12 {
		last = c.Rcpt(fmt.Sprintf("guess%d@%s", i, f.host()))
	}
	if e, ok := errors.AsType[*textproto.Error](last); !ok || e.Code != 421 {
		t.Errorf("after many guesses: %v", last)
	}
	var open []net.Conn
	refused := false
	for range 60 {
		conn, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
		line, _ := textproto.NewConn(conn).ReadLine()
		refused = refused || strings.HasPrefix(line, "421 ")
	}
	for _, conn := range open {
		_ = conn.Close()
	}
	if !refused {
		t.Error("60 connections of one address were accepted")
	}
}
