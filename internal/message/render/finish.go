package render

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/textpart"
)

// errEmpty means that with the recipient's data nothing is left of a part that every mail needs.
var errEmpty = errors.New("it is empty")

// checkSubject returns an error for a rendered subject that cannot be sent. Content is written with one;
// Liquid makes it longer, or leaves nothing of it.
func checkSubject(written, subject string) error {
	switch {
	case len(subject) > compose.MaxSubject:
		return compose.ErrSubjectTooLong
	case strings.TrimSpace(subject) == "" && written != "":
		return errEmpty
	}
	return nil
}

// finish looks at the rendered parts and decides what the content leaves open: see content.Finish. read
// means that the prepared text does not do for this recipient.
func (w *Writer) finish(p *Parts, read bool) error {
	c := w.env.Content
	own := c.Finish.Text == content.OwnText
	read = read || c.Finish.Text == content.ReadText
	if read || c.Finish.HTMLFooter {
		seen := textpart.Read(string(p.HTML), w.env.authored)
		if c.Finish.HTMLFooter && !seen.Shown {
			return fmt.Errorf("render_error: body_html: %w", errEmpty)
		}
		if c.Finish.HTMLFooter && !w.leaves(seen.Links...) {
			foot, err := w.footer("body_html", c.HTMLFooter)
			if err != nil {
				return err
			}
			p.HTML, p.HTMLKnown.Marks = insertFooter(p.HTML, foot, p.HTMLKnown.Marks)
			if below := textpart.Read(string(foot), nil).Text; below != "" {
				seen.Text = strings.TrimRight(seen.Text, "\n") + "\n\n" + below
			}
		}
		if read {
			p.Text, p.TextKnown = []byte(seen.Text), compose.Known{}
		}
	}
	if own && c.Finish.TextFooter && !w.leaves(string(p.Text)) {
		foot, err := w.footer("body_text", c.TextFooter)
		if err != nil {
			return err
		}
		p.Text = slices.Concat(bytes.TrimRight(p.Text, "\n"), foot)
	}
	return nil
}

// leaves reports whether one of the addresses leads to a page where the recipient unsubscribes.
func (w *Writer) leaves(addresses ...string) bool {
	for _, page := range []int{unsubscribePage, preferencesPage} {
		url := w.env.pages[page] // empty if no part has it
		if url != "" && slices.ContainsFunc(addresses, func(a string) bool { return strings.Contains(w.env.authored(a), url) }) {
			return true
		}
	}
	return false
}

// footer renders a footer.
func (w *Writer) footer(part string, t *liquid.Template) ([]byte, error) {
	foot, err := t.Append(w.env.ctx, nil, &w.env, w.env.budget)
	if err != nil {
		return nil, fmt.Errorf("render_error: %s: %w", part, err)
	}
	return foot, nil
}

// insertFooter inserts the footer at the end of the body. It returns the marks with their new places: the
// encoded form of the text that it cuts in two no longer fits, which compose notices.
func insertFooter(html, foot []byte, marks []liquid.Mark) ([]byte, []liquid.Mark) {
	at := links.BodyEnd(string(html))
	marks = slices.Clone(marks)
	for i := range marks {
		if marks[i].At >= at {
			marks[i].At += len(foot)
		}
	}
	return slices.Concat(html[:at], foot, html[at:]), marks
}
