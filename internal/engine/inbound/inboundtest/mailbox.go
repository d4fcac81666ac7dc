package inboundtest

import (
	"log/slog"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// Mailbox gives the tenant a lane with the mailbox at a port.
func (f *Fixture) Mailbox(port int, mode smtpclient.TLSMode) lane.Config {
	f.t.Helper()
	c, err := lane.Create(f.t.Context(), f.DB, broadcasttest.Box(f.t), f.Tenant, lane.Fields{
		Name: new("Relay"), Type: new(lane.SMTP), Host: new("127.0.0.1"),
		BounceMailbox: &lane.BounceMailboxFields{Host: new("localhost"), Port: &port, TLS: &mode, Username: new(dovecottest.User), Password: new(dovecottest.Password)},
	}, lane.Rules{AllowPrivate: true}, f.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// Reader returns a reader of mailboxes, which trusts the server; nil: the system's authorities.
func (f *Fixture) Reader(s *dovecottest.Server) *inbound.Mailboxes {
	m := &inbound.Mailboxes{
		DB: f.DB, Box: broadcasttest.Box(f.t), Receiver: f.Receiver, Log: slog.New(slog.DiscardHandler), Now: f.Now, AllowPrivate: true,
	}
	if s != nil {
		m.RootCAs = s.Roots
	}
	return m
}

// Read reads the mailboxes that are due.
func (f *Fixture) Read(m *inbound.Mailboxes) {
	f.t.Helper()
	if err := m.Tick(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// MailboxState returns how the last reading of a mailbox went.
func (f *Fixture) MailboxState(c lane.Config) lane.MailboxState {
	f.t.Helper()
	states, err := lane.MailboxStates(f.t.Context(), f.DB, f.Tenant, []id.Lane{c.ID})
	if err != nil {
		f.t.Fatal(err)
	}
	return states[c.ID]
}
