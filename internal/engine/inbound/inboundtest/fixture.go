// Package inboundtest gives tests of mail that comes back a send to report about, and the reports.
package inboundtest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Fixture is a send whose messages a relay has accepted, and a server for the mail that comes back.
type Fixture struct {
	*broadcasttest.Account
	Keys     *track.Keys
	Send     id.Send
	People   []contact.Contact
	Messages []outbox.Message // to People, sent at broadcasttest.Now
	Receiver *inbound.Receiver
	Address  string // of the server

	t     *testing.T
	clock atomic.Int64 // microseconds; the server reads it
}

// Feedback is the operator's address for complaints.
const Feedback = "fbl@y.example"

// New makes a tenant that has sent a message to each of a number of people. It is an hour later.
func New(t *testing.T, db *sqldb.DB, slug string, people int) *Fixture {
	t.Helper()
	f := &Fixture{Account: broadcasttest.New(t, db, slug), t: t, Keys: track.NewKeys(broadcasttest.Box(t))}
	f.SetNow(broadcasttest.Now.Add(time.Hour))
	f.People = f.AddContacts(f.List.ID, "ann", people)
	b := f.Create()
	f.Send = b.Send
	ctx := t.Context()
	frozen, err := content.Freeze(ctx, db, f.Tenant, content.Source{
		Subject: "Hi", HTML: "<p>Hi</p>", Send: b.Send, Context: content.Context{Broadcast: b.ID, EmailType: f.Type.ID},
	}, broadcasttest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Create(ctx, db, outbox.Send{Tenant: f.Tenant, ID: f.Send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, broadcasttest.Now); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.People {
		f.Messages = append(f.Messages, outbox.Message{
			ID: id.New[id.Message](), Contact: c.ID, Email: c.Email, Content: frozen, Identity: f.Identity.ID, Lane: f.Lane.ID, DueAt: broadcasttest.Now,
		})
	}
	if _, err := outbox.AddMessages(ctx, db, f.Tenant, f.Send, f.Messages); err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(ctx, `UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, f.Tenant, broadcasttest.Now.UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(ctx, `UPDATE send SET sent = $2, delivered = $2, waiting = 0, last_send_at = $3 WHERE tenant_id = $1`, f.Tenant, people, broadcasttest.Now.UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	now := f.Now
	recorder := inbound.NewRecorder(db, time.Now)
	f.Receiver = &inbound.Receiver{
		DB: db, Keys: f.Keys, Contents: &content.Cache{DB: db}, Senders: &render.Senders{DB: db, Now: now}, Recorder: recorder,
		Log: slog.New(slog.DiscardHandler), Now: now, Host: "mx.y.example", Feedback: Feedback,
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.Address = l.Addr().String()
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 2)
	go func() { ended <- recorder.Run(run) }()
	go func() {
		ended <- (&inbound.Server{Receiver: f.Receiver, Log: slog.New(slog.DiscardHandler)}).Serve(run, l)
	}()
	t.Cleanup(func() { stop(); <-ended; <-ended })
	return f
}

// Now is the time of the server and of the readers of mailboxes.
func (f *Fixture) Now() time.Time { return time.UnixMicro(f.clock.Load()).UTC() }

// SetNow sets the time.
func (f *Fixture) SetNow(t time.Time) { f.clock.Store(t.UnixMicro()) }

// Host is the host of the return paths.
func (f *Fixture) Host() string { return f.Domain.ReturnPathHost }

// ReturnPath is the envelope sender of a message, in upper case, as some servers write it.
func (f *Fixture) ReturnPath(i int) string {
	return strings.ToUpper("b."+string(f.Keys.ReturnPath(f.Messages[i].ID, broadcasttest.Now))) + "@" + f.Host()
}

// Deliver sends a mail to the server and returns the code of its reply.
func (f *Fixture) Deliver(to, mail string) int {
	f.t.Helper()
	c, err := smtp.Dial(f.Address)
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

// Follow passes the journal to the followers.
func (f *Fixture) Follow() {
	f.t.Helper()
	e := &journal.Engine{DB: f.DB, Followers: []journal.Follower{contact.Follower(), suppression.Follower()}, Log: slog.New(slog.DiscardHandler)}
	if err := e.Drain(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// Contact returns the recipient of a message.
func (f *Fixture) Contact(i int) contact.Contact {
	f.t.Helper()
	c, err := contact.ByID(f.t.Context(), f.DB, f.Tenant, f.People[i].ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// Message returns a message as it is stored.
func (f *Fixture) Message(i int) outbox.Record {
	f.t.Helper()
	m, err := outbox.Find(f.t.Context(), f.DB, f.Tenant, f.Messages[i].ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}
