// Package preview shows a mail as its author writes it: a template, a block, content, a broadcast or an
// entry of the library.
//
// It uses the code that saves and sends: the checks of template and draft, the freezing of content, the
// rendering of render. The difference is what happens after a fault. Saving ends with the first one; a
// preview notes it, goes on without the part that has it, and shows the other parts.
//
// A preview writes nothing. Its links lead to their targets directly, the pages for recipients in it are
// those of test mails, and it has no open pixel. Previews take turns by tenant, so that one with many of
// them does not delay others, and each has a time limit.
package preview

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/turns"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The faults of previews that had no turn.
var (
	ErrWaiting = fault.New(fault.Limited, "RATE_LIMITED", "too many previews of this tenant are waiting; try again in a few seconds") // details: fault.Wait
	ErrBusy    = fault.New(fault.Unavailable, "UNAVAILABLE", "too many previews are waiting; try again in a few seconds")
)

const (
	timeLimit       = 10 * time.Second // for one preview
	maxWaiting      = 64               // previews of all tenants
	maxOwnerWaiting = 8                // of one tenant
)

// Previewer makes previews. It is safe for concurrent use.
type Previewer struct {
	db       *sqldb.DB
	mjml     *mjml.Compiler
	senders  *render.Senders
	renderer *render.Renderer
	now      func() time.Time
	turns    turns.Turns[id.Tenant]
}

// New returns a Previewer. Previews use at most half of the processors.
func New(db *sqldb.DB, c *mjml.Compiler, senders *render.Senders, r *render.Renderer, now func() time.Time) *Previewer {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return &Previewer{
		db: db, mjml: c, senders: senders, renderer: r, now: now,
		turns: turns.Turns[id.Tenant]{Slots: slots, MaxWaiting: maxWaiting, MaxOwnerWaiting: maxOwnerWaiting},
	}
}

// Request is what to preview, and for whom.
type Request struct {
	Source  Source          // exactly one of its kinds
	Contact id.Contact      // zero: a contact with the samples of what the template expects
	Event   journal.Trigger // zero: none
	Variant *string         // of a broadcast; nil: its first
	Sender  string          // the address of a sending identity; empty: the one that would be used
	Marks   bool            // the HTML is to have marks
}

// Preview is a rendered mail. A part that cannot be made is nil.
type Preview struct {
	Subject   *string
	Preheader *string
	From      *string // nil: there is no sending identity
	HTML      *string
	Marked    *string // the HTML with marks, if the request asks for them; without any, where there can be none
	Text      *string
	Problems  []Problem    // errors first
	Missing   []string     // paths that the Liquid names and the contact or the event lacks
	Named     []Named      // where each of Missing is named first
	Sent      int          // the size of the HTML as it is sent, in bytes; 0: unknown
	Links     []links.Link // with their final targets
}

// sampleAddress is the address of a contact with sample data.
const sampleAddress = "ann@example.com"

// Make returns a preview. The faults of what is previewed are its problems; an error concerns the
// request: that of a record that does not exist, ErrWaiting, ErrBusy, or fault.ErrDeadline.
func (p *Previewer) Make(ctx context.Context, account id.Tenant, r Request) (*Preview, error) {
	ctx, cancel := fault.Within(ctx, timeLimit)
	defer cancel()
	switch err := p.turns.Acquire(ctx, account); {
	case errors.Is(err, turns.ErrOwnerBusy):
		return nil, ErrWaiting.With(fault.Wait{Seconds: 5})
	case errors.Is(err, turns.ErrBusy):
		return nil, ErrBusy
	case err != nil:
		return nil, fault.Timely(ctx, err)
	}
	defer p.turns.Release(account)
	out, err := p.make(ctx, account, r)
	return out, fault.Timely(ctx, err)
}

func (p *Previewer) make(ctx context.Context, account id.Tenant, r Request) (*Preview, error) {
	t, err := tenant.ByID(ctx, p.db, account)
	if err != nil {
		return nil, err
	}
	w := &work{Previewer: p, tenant: t, marks: r.Marks, broken: map[string]bool{}}
	if err := w.load(ctx, r); err != nil {
		return nil, err
	}
	from, known, err := w.sender(ctx, r.Sender)
	if err != nil {
		return nil, err
	}
	to := w.samples.Contact(account, sampleAddress)
	if !r.Contact.IsZero() {
		if to, err = contact.ByID(ctx, p.db, account, r.Contact); err != nil {
			return nil, err
		}
	}
	out := &Preview{Missing: []string{}, Links: []links.Link{}}
	if !w.lost {
		if err := w.show(ctx, out, from, &to, r.Event); err != nil {
			return nil, err
		}
		if err := w.measure(ctx, out, from, &to, r); err != nil {
			return nil, err
		}
	}
	out.Named = w.named(out.Missing)
	if known && out.From == nil {
		out.From = new(render.Mailbox(from.Identity.DisplayName, from.Identity.Address))
	}
	out.Problems = w.sorted()
	return out, nil
}

// sorted returns the problems, errors first.
func (w *work) sorted() []Problem {
	list := slices.Clone(w.problems[:min(len(w.problems), maxProblems)])
	rank := func(p Problem) int {
		if p.Severity == Error {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Problem) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// sender returns the sender of the mail: the identity with an address, or the first that may send the
// broadcast, or the account's. It reports whether there is an identity.
func (w *work) sender(ctx context.Context, address string) (*render.Sender, bool, error) {
	identity := w.identity
	if address != "" {
		list, err := sender.IdentitiesByAddress(ctx, w.db, w.tenant.ID, []string{address})
		if err != nil {
			return nil, false, err
		}
		identity = list[0].ID
	}
	if identity.IsZero() {
		identity = w.tenant.Settings.DefaultIdentity
	}
	if identity.IsZero() {
		list, err := sender.Identities(ctx, w.db, w.tenant.ID)
		if err != nil {
			return nil, false, err
		}
		if i := slices.IndexFunc(list, func(i sender.Identity) bool { return i.Active }); i >= 0 {
			identity = list[i].ID
		}
	}
	if identity.IsZero() {
		fields, err := field.Load(ctx, w.db, w.tenant.ID)
		return w.hosted(&render.Sender{Tenant: w.tenant, Fields: fields, Footer: w.tenant.Settings.Brand.FooterTemplate()}), false, err
	}
	s, err := w.senders.Past(ctx, w.tenant.ID, identity, cmp.Or(w.emailType, w.tenant.Settings.DefaultEmailType))
	if err != nil {
		return nil, false, err
	}
	return w.hosted(s), s.Identity.Address != "", nil
}

// hosted returns s with a host for the pages of recipients.
func (w *work) hosted(s *render.Sender) *render.Sender {
	if s.Domain.TrackingHost != "" {
		return s
	}
	other := *s
	other.Domain.TrackingHost = w.renderer.BaseURL.Host
	return &other
}

// render renders the source and sets the parts of the preview.
func (w *work) render(ctx context.Context, out *Preview, from *render.Sender, to *contact.Contact, e journal.Trigger) error {
	compiled, err := w.compile()
	if err != nil || w.lost {
		return err
	}
	m := render.Mail{
		Tenant: w.tenant.ID, Message: id.New[id.Message](), Contact: to, Content: compiled, Sender: from, Event: e, Now: w.now(),
		WithoutPixel: true, Preview: true, Direct: true,
	}
	writer := w.renderer.Borrow()
	defer w.renderer.Return(writer)
	parts, err := writer.RenderParts(ctx, m)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if w.broken[part.Name] {
			continue
		}
		if part.Err != nil {
			if err := w.failed(ctx, writer, m, part); err != nil {
				return err
			}
			continue
		}
		w.addUnread(part)
		text := part.Text
		switch part.Name {
		case "subject":
			out.Subject = &text
		case "preheader":
			if text != "" {
				out.Preheader = &text
			}
		case "from_name":
			if text != "" && from.Identity.Address != "" {
				out.From = new(render.Mailbox(text, from.Identity.Address))
			}
		case "body_html":
			out.HTML = &text
		case "body_text":
			out.Text = &text
		}
	}
	missing, err := writer.Missing(ctx, m)
	out.Missing = missing
	return err
}
