// Package letter makes one mail out of a frozen content, the person it is for
// and the sender it comes from: it renders the Liquid and signs the links.
//
// The same letter is made when a message leaves (engine/deliver) and when its
// recipient looks at it in a browser (public), so the two cannot differ.
package letter

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/track"
)

// Letter is what is to be written, and to whom.
type Letter struct {
	Tenant  id.Tenant
	Message id.Message
	Contact *contact.Contact
	Content *content.Compiled
	Sender  *Sender
	Now     time.Time
	// WithoutPixel leaves the open pixel's address empty: the letter is read
	// where reading it is known already.
	WithoutPixel bool
	// Preview makes it a test: its links lead where they should, and nothing
	// comes of following them.
	Preview bool
}

// Parts is a rendered letter. Its bytes are the Writer's, good until the next one.
type Parts struct {
	Subject        string
	FromName       string // empty: the identity's own
	HTML, Text     []byte
	UnsubscribeURL string // for List-Unsubscribe

	HTMLKnown, TextKnown compose.Known // what of them was encoded with the content
}

// Renderer makes Writers.
type Renderer struct {
	Keys    *track.Keys
	BaseURL *url.URL // its scheme is that of the links

	zones zones
	spare sync.Pool // of *Writer
}

// Writer renders letters one after the other and uses its buffers again. It is
// not for several goroutines at once.
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

// Borrow returns a Writer that is to be given back with Return: a few that are used
// again and again stay in the processor's caches, where those of many workers, each
// with its own, would not.
func (r *Renderer) Borrow() *Writer {
	if w, ok := r.spare.Get().(*Writer); ok {
		return w
	}
	return r.Writer()
}

// Return takes a Writer back. What it rendered last is no longer good.
func (r *Renderer) Return(w *Writer) {
	w.env.forget()
	r.spare.Put(w)
}

// Render renders a letter. An error is a fault of the content or of the
// contact's data: a budget exceeded, never of the Writer.
func (w *Writer) Render(ctx context.Context, l Letter) (Parts, error) {
	if err := w.begin(l); err != nil {
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
		{"subject", l.Content.SubjectTemplate},
		{"from_name", l.Content.FromNameTemplate},
		{"body_html", l.Content.HTMLTemplate},
		{"body_text", l.Content.TextTemplate},
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
	p.HTMLKnown = compose.Known{Texts: l.Content.HTMLConstants, Marks: w.marks[2]}
	if g := l.Content.Guard; g != nil {
		if clean, cut := g.Clean(p.HTML); cut {
			p.HTML, p.HTMLKnown = clean, compose.Known{}
		}
	}
	p.TextKnown = compose.Known{Texts: l.Content.TextConstants, Marks: w.marks[3]}
	p.UnsubscribeURL = *w.env.page(unsubscribePage)
	return p, nil
}

func (w *Writer) begin(l Letter) error {
	if w.signer == nil {
		s, err := w.renderer.Keys.Signer(l.Tenant, l.Message)
		if err != nil {
			return err
		}
		w.signer = s
	} else if err := w.signer.Reset(l.Tenant, l.Message); err != nil {
		return err
	}
	w.signer.From(l.Content.ID, l.Sender.Identity.ID)
	if l.Preview {
		w.signer.Preview()
	}
	w.env.forget()
	w.env.Letter, w.env.scheme, w.env.signer, w.env.location = l, w.renderer.BaseURL.Scheme, w.signer, w.renderer.location(l)
	return nil
}

// location is the recipient's time zone, else the account's.
func (r *Renderer) location(l Letter) *time.Location {
	if z := l.Contact.Timezone; z != nil {
		if loc, err := r.zones.load(*z); err == nil {
			return loc
		}
	}
	loc, err := r.zones.load(l.Sender.Tenant.Settings.Timezone)
	if err != nil {
		return time.UTC
	}
	return loc
}
