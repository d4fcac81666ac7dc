// Package recipient shows what one recipient of a send got and did: the mail, the attempts to hand it
// over, and the opens and clicks with the rules that classified them.
//
// It has no tables: it reads those of outbox and track by their functions. The mail is rendered again
// from the frozen content and the contact's values at that time, as for the link by which a recipient
// views it in a browser.
package recipient

import (
	"context"
	"errors"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Reader reads recipients.
type Reader struct {
	DB       *sqldb.DB
	Contents *content.Cache
	Senders  *render.Senders
	Renderer *render.Renderer
}

// Recipient is one recipient of a send.
type Recipient struct {
	outbox.Record
	// Mail is nil if no server was given the message, or if it can no longer be rendered: its content
	// is gone, the contact was erased, or the contact's data have become too long for it.
	Mail     *Mail
	Attempts []outbox.PastAttempt // in order of time
	Hits     []track.Hit          // in order of time; at most 1000
	Deleted  int                  // number of hits that retention has deleted
}

// RenderedWith says with which values of its contact a mail is rendered again.
type RenderedWith string

// The values.
const (
	Sent    RenderedWith = "sent"    // those that the mail has
	Current RenderedWith = "current" // some are today's, since those of that time are not stored
)

// Mail is a mail as it was sent. Its links lead to their targets, or to pages that change nothing, and
// record no hits; it has no open pixel.
type Mail struct {
	Subject  string
	FromName string // of the content or else of the identity; empty: none
	From     string // the address; empty: the identity was deleted
	HTML     string
	Text     string

	RenderedWith RenderedWith
}

// Find returns the recipient of a send with a contact's id. The error is outbox.ErrNoRecipient if there
// is none.
func (r *Reader) Find(ctx context.Context, t id.Tenant, send id.Send, c id.Contact) (*Recipient, error) {
	record, err := outbox.Recipient(ctx, r.DB, t, send, c)
	if err != nil {
		return nil, err
	}
	out := &Recipient{Record: record}
	if out.Attempts, err = outbox.Attempts(ctx, r.DB, record); err != nil {
		return nil, err
	}
	ids := []id.Message{record.ID}
	if out.Hits, err = track.HitsOf(ctx, r.DB, t, ids); err != nil {
		return nil, err
	}
	if out.Deleted, err = track.Pruned(ctx, r.DB, t, record.ID); err != nil {
		return nil, err
	}
	if len(out.Attempts) == 0 {
		return out, nil
	}
	out.Mail, err = r.mail(ctx, record)
	return out, err
}

// mail renders a message again. It returns nil if that is not possible any more.
func (r *Reader) mail(ctx context.Context, m outbox.Record) (*Mail, error) {
	c, err := r.Contents.Get(ctx, m.Tenant, m.Content)
	if errors.Is(err, content.ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := r.Senders.PastReload(ctx, m.Tenant, m.Identity, c.Context.EmailType)
	if errors.Is(err, tenant.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Domain.TrackingHost == "" { // the domain was deleted
		past := *s
		past.Domain.TrackingHost, s = r.Renderer.BaseURL.Host, &past
	}
	person, with, err := AsSent(ctx, r.DB, m, c)
	if errors.Is(err, contact.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if person.AnonymizedAt != nil {
		return nil, nil
	}
	w := r.Renderer.Borrow()
	defer r.Renderer.Return(w)
	parts, err := w.Render(ctx, render.Mail{
		Tenant: m.Tenant, Message: m.ID, Contact: &person, Content: c, Sender: s, Now: m.QueuedAt, WithoutPixel: true, Preview: true,
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // the content was rendered when it was sent: the contact's data have changed
		return nil, nil
	}
	mail := &Mail{Subject: parts.Subject, FromName: parts.FromName, From: s.Identity.Address, HTML: string(parts.HTML), Text: string(parts.Text), RenderedWith: with}
	if mail.FromName == "" {
		mail.FromName = s.Identity.DisplayName
	}
	return mail, nil
}

// AsSent returns the contact of a message with the values that the message has: its address, and those of the
// contact's version that it printed. Values that are not stored are today's. The error is contact.ErrNotFound if
// there is no such contact.
func AsSent(ctx context.Context, db *sqldb.DB, m outbox.Record, c *content.Compiled) (contact.Contact, RenderedWith, error) {
	now, err := contact.ByID(ctx, db, m.Tenant, m.Contact)
	if err != nil {
		return contact.Contact{}, "", err
	}
	then, known, err := now.AtVersion(ctx, db, m.ContactVersion)
	if err != nil {
		return contact.Contact{}, "", err
	}
	then.Email, then.EmailDomain = m.Email, address.Domain(m.Email)
	if !c.Context.Confirmation { // only these get other mails: contact.Contact.Refusal
		then.Status, then.DoNotContact = contact.Active, false
	}
	if reads := render.Reads(c); !known || !reads.Versioned() {
		return then, Current, nil
	}
	return then, Sent, nil
}
