// Package render renders one mail from frozen content, the data of a contact and of a sender: it
// evaluates the Liquid and signs the links.
//
// engine/deliver sends its result and public shows it in a browser, so the two cannot differ.
package render

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// Mail is the input of a rendering.
type Mail struct {
	Tenant  id.Tenant
	Message id.Message
	Contact *contact.Contact
	Content *content.Compiled
	Sender  *Sender
	Event   journal.Trigger // that enrolled the contact in the sequence; zero in other mails
	Now     time.Time
	// WithoutPixel renders the address of the open pixel as an empty image, for pages that count
	// the view themselves.
	WithoutPixel bool
	// Preview signs links that lead to their targets and record nothing.
	Preview bool
	// Direct makes links lead to their targets without a redirect by us.
	Direct bool
}

// Parts is a rendered mail. Its bytes belong to the Writer and are valid until the next Render.
type Parts struct {
	Subject        string
	FromName       string // empty: the identity's own
	HTML, Text     []byte
	UnsubscribeURL string // for List-Unsubscribe; empty: the mail has none

	HTMLKnown, TextKnown compose.Known // runs that were encoded when the content was frozen
}

// Renderer makes Writers.
type Renderer struct {
	Keys    *track.Keys
	BaseURL *url.URL // its scheme is that of the links

	zones zones
	spare sync.Pool // of *Writer
}

// Writer renders mails one after the other and reuses its buffers. It is not safe for concurrent
// use.
type Writer struct {
	renderer *Renderer
	signer   *track.Signer
	env      env
	budget   liquid.Budget
	buf      []byte
	marks    [4][]liquid.Mark // of the parts, in the order of rendering
}

// Writer returns a new Writer.
func (r *Renderer) Writer() *Writer { return &Writer{renderer: r} }

// Borrow returns a Writer from a pool; pass it to Return after use. A few shared Writers stay in
// the processor's caches, which one for each worker would not.
func (r *Renderer) Borrow() *Writer {
	if w, ok := r.spare.Get().(*Writer); ok {
		return w
	}
	return r.Writer()
}

// Return puts a Writer back into the pool. The Parts it rendered last become invalid.
func (r *Renderer) Return(w *Writer) {
	w.env.reset()
	r.spare.Put(w)
}

// Render renders a mail. An error means that the content, with the contact's data, cannot be
// rendered: it exceeds a budget, for example. The Writer can be used again.
func (w *Writer) Render(ctx context.Context, m Mail) (Parts, error) {
	if err := w.begin(m); err != nil {
		return Parts{}, err
	}
	budget := &w.budget
	budget.Reset(liquid.Limits{})
	w.env.ctx, w.env.budget = ctx, budget
	var p Parts
	ends := [4]int{}
	w.buf = w.buf[:0]
	for i, part := range [...]struct {
		name     string
		template *liquid.Template
	}{
		{"subject", m.Content.SubjectTemplate},
		{"from_name", m.Content.FromNameTemplate},
		{"body_html", m.Content.HTMLTemplate},
		{"body_text", m.Content.TextTemplate},
	} {
		var err error
		if w.buf, w.marks[i], err = part.template.AppendMarked(ctx, w.buf, w.marks[i][:0], &w.env, budget); err != nil {
			return Parts{}, fmt.Errorf("render_error: %s: %w", part.name, err)
		}
		ends[i] = len(w.buf)
		if i == 0 {
			w.env.subject = string(w.buf)
			if len(w.buf) > compose.MaxSubject { // Liquid made it longer than it was written
				return Parts{}, fmt.Errorf("render_error: %s: %w", part.name, compose.ErrSubjectTooLong)
			}
		}
	}
	if err := w.env.err; err != nil {
		return Parts{}, fmt.Errorf("render_error: %w", err)
	}
	p.Subject = w.env.subject
	p.FromName = string(w.buf[ends[0]:ends[1]])
	p.HTML, p.Text = w.buf[ends[1]:ends[2]], w.buf[ends[2]:ends[3]]
	p.HTMLKnown = compose.Known{Texts: m.Content.HTMLConstants, Marks: w.marks[2]}
	if g := m.Content.Guard; g != nil {
		if clean, cut := g.Clean(p.HTML); cut {
			p.HTML, p.HTMLKnown = clean, compose.Known{}
		}
	}
	p.TextKnown = compose.Known{Texts: m.Content.TextConstants, Marks: w.marks[3]}
	if !m.Content.Context.Confirmation {
		p.UnsubscribeURL = *w.env.page(unsubscribePage)
	}
	return p, nil
}

func (w *Writer) begin(m Mail) error {
	if w.signer == nil {
		s, err := w.renderer.Keys.Signer(m.Tenant, m.Message)
		if err != nil {
			return err
		}
		w.signer = s
	} else if err := w.signer.Reset(m.Tenant, m.Message); err != nil {
		return err
	}
	w.signer.SetOrigin(m.Content.ID, m.Sender.Identity.ID)
	if m.Preview {
		w.signer.Preview()
	}
	w.env.reset()
	w.env.Mail, w.env.scheme, w.env.signer, w.env.location = m, w.renderer.BaseURL.Scheme, w.signer, w.renderer.location(m)
	return nil
}

// location returns the contact's time zone, or that of the account, or UTC.
func (r *Renderer) location(m Mail) *time.Location {
	if z := m.Contact.Timezone; z != nil {
		if loc, err := r.zones.load(*z); err == nil {
			return loc
		}
	}
	loc, err := r.zones.load(m.Sender.Tenant.Settings.Timezone)
	if err != nil {
		return time.UTC
	}
	return loc
}
