// Package render renders one mail from frozen content, the data of a contact and of a sender: it
// evaluates the Liquid and signs the links.
//
// engine/deliver sends its result and public shows it in a browser, so the two cannot differ.
package render

import (
	"context"
	"errors"
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
	w.buf = w.buf[:0]
	var p Parts
	subject, err := w.part(0, "subject", m.Content.SubjectTemplate)
	if err != nil {
		return Parts{}, err
	}
	w.env.subject = string(subject)
	if err := checkSubject(m.Content.Subject, w.env.subject); err != nil {
		return Parts{}, fmt.Errorf("render_error: subject: %w", err)
	}
	name, err := w.part(1, "from_name", m.Content.FromNameTemplate)
	if err != nil {
		return Parts{}, err
	}
	p.Subject, p.FromName = w.env.subject, string(name)
	html, err := w.part(2, "body_html", m.Content.HTMLTemplate)
	if err != nil {
		return Parts{}, err
	}
	from := len(w.buf) - len(html) // the text may move the buffer
	to := len(w.buf)
	p.Text, err = w.part(3, "body_text", m.Content.TextTemplate)
	p.HTML = w.buf[from:to]
	read := errors.Is(err, liquid.ErrNotWords)
	if read {
		p.HTML, err = w.renderNoting()
	}
	if err != nil {
		return Parts{}, err
	}
	p.HTMLKnown = compose.Known{Texts: m.Content.HTMLConstants, Marks: w.marks[2]}
	p.TextKnown = compose.Known{Texts: m.Content.TextConstants, Marks: w.marks[3]}
	if g := m.Content.Guard; g != nil {
		if clean, cut := g.Clean(p.HTML); cut {
			p.HTML, p.HTMLKnown = clean, compose.Known{}
		}
	}
	if err := w.finish(&p, read); err != nil {
		return Parts{}, err
	}
	if !m.Content.Context.Confirmation {
		p.UnsubscribeURL = *w.env.page(unsubscribePage)
	}
	return p, nil
}

// renderNoting renders the HTML again and notes what its links lead to, for a recipient whose text is read
// from it although the content has a prepared one. The mails of the other recipients need no notes.
func (w *Writer) renderNoting() ([]byte, error) {
	w.env.noting = true
	w.budget.Reset(liquid.Limits{})
	return w.part(2, "body_html", w.env.Content.HTMLTemplate)
}

// part appends the n-th part to the buffer and returns it.
func (w *Writer) part(n int, name string, t *liquid.Template) ([]byte, error) {
	from := len(w.buf)
	var err error
	if w.buf, w.marks[n], err = t.AppendMarked(w.env.ctx, w.buf, w.marks[n][:0], &w.env, w.env.budget); err == nil {
		err = w.env.err
	}
	if err != nil {
		return nil, fmt.Errorf("render_error: %s: %w", name, err)
	}
	return w.buf[from:], nil
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
	w.env.noting = m.Content.Finish.Text == content.ReadText || m.Content.Finish.HTMLFooter
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
