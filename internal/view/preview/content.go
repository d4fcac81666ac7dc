package preview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/people/field"
)

func (w *work) loadContent(ctx context.Context, c Content) error {
	ch, message, base := c.Change, c.Message, draft.Content{}
	if ch.Parts = maps.Clone(ch.Parts); ch.Parts == nil {
		ch.Parts = map[draft.Field]*string{}
	}
	author := draft.Author{DB: w.db, MJML: w.mjml, Now: w.now(), Marks: w.marks}
	w.rename = func(was, p Problem) Problem {
		p = renameOfTemplate(was, p)
		if body := w.authored[htmlBody].field; body != "" && p.Field == "content.body_html" {
			p.Field = body // of the compiled MJML, too
		}
		return p
	}
	if mjml := ch.Parts[draft.BodyMJML]; mjml != nil {
		w.authored = map[string]authored{htmlBody: {field: "content.body_mjml", text: *mjml}}
	} else if html := ch.Parts[draft.BodyHTML]; html != nil {
		w.authored = map[string]authored{htmlBody: {field: "content.body_html", text: *html}}
	}
	var m draft.Content
	err := w.attempt(func() (err error) {
		var bad fault.Problems
		if ch.Check(&bad); bad.Any() {
			return bad.Err()
		}
		if base, ch.Frozen = (draft.Content{}), false; message != nil {
			if base, _, err = library.Content(ctx, w.db, w.tenant.ID, message.Entry, message.Version); err != nil {
				return err
			}
			ch.Frozen = true
		} else if err := ch.Readable(); err != nil {
			return err
		}
		m, err = author.Apply(ctx, w.tenant.ID, "preview", base, ch)
		return err
	}, func(p Problem) bool {
		if strings.HasPrefix(p.Field, "content.message_") && message != nil {
			message = nil
			return true
		}
		return w.dropOfContent(&ch, &author, base, p)
	})
	if err != nil || w.lost {
		return err
	}
	return w.adopt(ctx, m, nil)
}

// renameOfTemplate names the field of a problem of the template, or of its binding, in content.
func renameOfTemplate(was, p Problem) Problem {
	switch {
	case isIssue(was.Code):
		p.Field = strings.TrimSuffix("content.template_binding."+was.Field, ".")
	case was.Field != "" && !strings.HasPrefix(was.Field, "content."):
		p.Field, p.Line, p.Column = "content.template_slug", 0, 0
		p.Message = fmt.Sprintf("the template's %s, line %d: %s", was.Field, was.Line, was.Message)
	}
	return p
}

// dropOfContent removes the field with a problem from content.
func (w *work) dropOfContent(ch *draft.Change, author *draft.Author, base draft.Content, p Problem) bool {
	name, own := strings.CutPrefix(p.Field, "content.")
	if !own && isIssue(p.Code) {
		author.Lenient = true
		return true
	}
	if !own || name == "template_slug" || name == "template_id" { // the template cannot be rendered
		if ch.Template == nil && ch.Binding == nil {
			return false
		}
		ch.Template, ch.Binding = nil, nil
		if ch.Parts[draft.Subject] == nil {
			ch.Parts[draft.Subject] = new(placeholder)
			w.breaks(subject)
		}
		name = htmlBody
	}
	switch {
	case name == subject && !w.broken[subject]:
		ch.Parts[draft.Subject] = new(placeholder)
	case name == pretext && !w.broken[pretext]:
		ch.Parts[draft.Preheader] = nil
	case name == fromName && !w.broken[fromName]:
		ch.Parts[draft.FromName] = nil
	case name == "reply_to" && ch.Parts[draft.ReplyTo] != nil:
		ch.Parts[draft.ReplyTo] = nil
		return true
	case name == textBody && !w.broken[textBody]:
		ch.Parts[draft.BodyText] = nil
	case (name == htmlBody || name == "body_mjml") && !w.broken[htmlBody]:
		delete(ch.Parts, draft.BodyMJML)
		ch.Parts[draft.BodyHTML] = new(placeholder)
		w.breaksBody(ch.Parts[draft.BodyText] != nil || base.Text != nil)
		return true
	default:
		return false
	}
	w.breaks(name)
	return true
}

// isIssue reports whether a code is that of an issue of a binding.
func isIssue(code string) bool { return code != "" && code == strings.ToLower(code) }

func (w *work) loadBroadcast(ctx context.Context, bid id.Broadcast, variant *string) error {
	b, err := broadcast.Load(ctx, w.db, w.tenant.ID, bid)
	if err != nil {
		return err
	}
	contents := b.VariantContents()
	chosen := contents[0]
	if variant != nil {
		i := slices.IndexFunc(contents, func(c broadcast.VariantContent) bool { return *variant != "" && c.Variant == *variant })
		if i < 0 {
			return fault.Input(fault.Field{Path: "variant_id", Message: "the broadcast has no such variant"})
		}
		chosen = contents[i]
	}
	f, err := broadcast.LoadPreconditions(ctx, w.db, b)
	if err != nil {
		return err
	}
	switch {
	case len(f.Candidates) > 0:
		w.identity = f.Candidates[0].Identity.ID
	case len(f.Paused) > 0:
		w.identity = f.Paused[0].Identity.ID
	case len(b.Identities) > 0:
		w.identity = b.Identities[0]
	}
	w.emailType = b.EmailType
	if err := w.adopt(ctx, chosen.Content, func(field string) string { return b.FieldOf(chosen, field) }); err != nil {
		return err
	}
	w.source = b.SourceFor(w.tenant, chosen, f)
	return nil
}

func (w *work) loadMessage(ctx context.Context, entry id.LibraryEntry, version int) error {
	m, _, err := library.Content(ctx, w.db, w.tenant.ID, entry, version)
	switch {
	case errors.Is(err, library.ErrNoEntry) && fieldOf(err) == "content.message_id":
		return library.ErrNotFound
	case errors.Is(err, library.ErrNoEntryVersion) && fieldOf(err) == "content.message_version":
		return library.ErrNoVersion
	case errors.Is(err, content.ErrNoContent):
		w.lost = true
		list, _ := problemsOf(err)
		w.add(list...)
		return nil
	case err != nil:
		return err
	}
	return w.adopt(ctx, m, nil)
}

// fieldOf returns the first field that a fault names.
func fieldOf(err error) string {
	f, _ := fault.As(err)
	if d, ok := f.Details.(fault.Fields); ok && len(d.Fields) > 0 {
		return d.Fields[0].Path
	}
	return ""
}

// adopt sets finished content as the source, and adds what its author should look at.
func (w *work) adopt(ctx context.Context, m draft.Content, rename func(string) string) error {
	if rename == nil {
		rename = func(field string) string { return field }
	}
	w.source = m.Source()
	if w.marked = m.Marked; w.marks && m.Marked == nil {
		author := draft.Author{DB: w.db, MJML: w.mjml, Now: w.now()}
		var err error
		if w.marked, err = author.Mark(ctx, w.tenant.ID, m); err != nil {
			return err
		}
	}
	body := "content.body_html"
	html := authored{}
	if m.MJML != nil {
		body, html.text = "content.body_mjml", *m.MJML
	} else if m.HTML != nil {
		html.text = *m.HTML
	}
	if m.Origin != nil {
		html.text = ""
	}
	html.field = rename(body)
	w.body = bodyOf(m.MJML, m.HTML, m.MJML != nil)
	if m.Origin != nil {
		w.body.filled, w.body.marked = true, w.marked
	}
	w.authored = map[string]authored{htmlBody: html}
	for _, part := range []string{subject, pretext, fromName, textBody} {
		w.authored[part] = authored{field: rename("content." + part)}
	}
	w.rename = w.renamePart
	var err error
	if w.samples, err = m.Samples(); err != nil {
		return err
	}
	fields, err := field.Load(ctx, w.db, w.tenant.ID)
	if err != nil {
		return err
	}
	found, err := m.Review(ctx, fields, w.now())
	for _, t := range found {
		w.add(Problem{Severity: Warning, Code: t.Code, Field: rename(t.Field), Line: t.Line, Message: t.Message, Place: w.placeAt(t.At)})
	}
	return err
}
