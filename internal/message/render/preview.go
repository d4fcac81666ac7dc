package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// Part is a part of a preview.
type Part struct {
	Name string // of its field in a content: subject, preheader, from_name, body_html or body_text
	Text string
	Err  error // why it cannot be rendered; nil: it was

	Unread []string // what Liquid left as it is, as a value that is no date
}

// RenderParts renders the parts of a mail like Render, but goes on after one that cannot be rendered.
// It also renders the preheader, which is otherwise a part of the HTML. The error is the context's, or
// that of an invalid Mail.
func (w *Writer) RenderParts(ctx context.Context, m Mail) ([]Part, error) {
	if err := w.begin(m); err != nil {
		return nil, err
	}
	c := m.Content
	parts := []Part{{Name: "subject"}, {Name: "from_name"}, {Name: "body_html"}, {Name: "body_text"}, {Name: "preheader"}}
	w.budget.Reset(liquid.Limits{})
	w.env.ctx, w.env.budget, w.env.noting = ctx, &w.budget, true
	read := c.Finish.Text == content.ReadText
	for i, t := range []*liquid.Template{c.SubjectTemplate, c.FromNameTemplate, c.HTMLTemplate, c.TextTemplate, c.PreheaderTemplate} {
		p := &parts[i]
		if p.Name == "preheader" {
			w.budget.Reset(liquid.Limits{}) // it was rendered within the HTML
		}
		w.env.unread = nil
		text, err := t.Append(ctx, nil, &w.env, &w.budget)
		p.Unread = w.env.unread
		if err == nil {
			err = w.env.err
		}
		if p.Name == "subject" {
			w.env.subject = string(text)
			if err == nil {
				err = checkSubject(c.Subject, w.env.subject)
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if p.Name == "body_text" && errors.Is(err, liquid.ErrNotWords) {
			read, err = true, nil
		}
		if err != nil {
			p.Err = err
			w.env.err = nil
			w.budget.Reset(liquid.Limits{})
			continue
		}
		if p.Name == "body_html" && c.Guard != nil {
			if clean, cut := c.Guard.Clean(text); cut {
				text = clean
			}
		}
		p.Text = string(text)
	}
	w.finishParts(&parts[2], &parts[3], read)
	return parts, nil
}

// finishParts is finish for the parts of a preview. A text that is read from HTML which cannot be
// rendered cannot either.
func (w *Writer) finishParts(html, text *Part, read bool) {
	p := Parts{HTML: []byte(html.Text), Text: []byte(text.Text)}
	if html.Err == nil {
		html.Err = w.finish(&p, read)
	}
	switch {
	case html.Err == nil:
		html.Text, text.Text = string(p.HTML), string(p.Text)
	case read:
		html.Text, text.Text, text.Err = "", "", html.Err
	default:
		html.Text = ""
	}
}

// Try renders a text with the data of a mail, and returns its error, whose line is that of the text.
func (w *Writer) Try(ctx context.Context, m Mail, text string) error {
	t, err := liquid.Parse(text, liquid.Options{})
	if err != nil {
		return err
	}
	if err := w.begin(m); err != nil {
		return err
	}
	w.budget.Reset(liquid.Limits{})
	w.env.ctx, w.env.budget = ctx, &w.budget
	_, err = t.Append(ctx, nil, &w.env, &w.budget)
	return err
}

// maxMissing is the maximum number of paths that Missing returns, and maxLookups that it looks up.
const (
	maxMissing = 200
	maxLookups = 2000
)

// Missing returns the paths in a mail's Liquid, as they are written there, whose values the contact or
// the event lacks, sorted. A field with a default lacks none.
func (w *Writer) Missing(ctx context.Context, m Mail) ([]string, error) {
	if err := w.begin(m); err != nil {
		return nil, err
	}
	var paths []string
	for _, t := range templates(m.Content) {
		if t != nil {
			paths = append(paths, slices.DeleteFunc(t.Variables(), func(path string) bool { return !isData(path) })...)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	missing := []string{}
	for _, path := range paths[:min(len(paths), maxLookups)] {
		if len(missing) == maxMissing {
			break
		}
		t, err := liquid.Parse("{{ "+path+" }}", liquid.Options{})
		if err != nil {
			continue // it is written in another way, such as contact["my field"]
		}
		w.budget.Reset(liquid.Limits{})
		w.env.ctx, w.env.budget = ctx, &w.budget
		text, err := t.Append(ctx, nil, &w.env, &w.budget)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && strings.TrimSpace(string(text)) == "" {
			missing = append(missing, path)
		}
	}
	return missing, nil
}

// isData reports whether a path leads to data of the contact or of the event.
func isData(path string) bool {
	root, rest, _ := strings.Cut(path, ".")
	switch root {
	case "contact", "event":
		return rest != ""
	case "brand": // alone, it may be a custom field
		return rest == ""
	case "unsubscribe_url", "preferences_url", "view_in_browser_url", "subscribe_confirm_url", content.PixelVariable, content.HoneypotVariable,
		"account", "broadcast", "sequence", "email", "param", "now", "packetboat_target":
		return false
	}
	_, ours := content.LinkVariable(root)
	return !ours
}

// Mailbox formats the sender of a mail for people: the name and the address, or the address alone.
func Mailbox(name, address string) string {
	if name == "" {
		return address
	}
	return fmt.Sprintf("%s <%s>", name, address)
}
