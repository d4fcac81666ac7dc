package preview

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

func (w *work) loadTemplate(ctx context.Context, t Template) error {
	ch, raw := t.Change, t.Binding
	body := "content_html"
	if ch.Format != nil && *ch.Format == binding.MJML {
		body = "content_mjml"
	}
	w.authored = map[string]authored{subject: {field: subject}, htmlBody: {field: body}, textBody: {field: "content_text"}}
	w.body = bodyOf(ch.MJML, ch.HTML, body == "content_mjml")
	w.rename = w.renamePart
	bound := binding.HasValue(raw)
	if !bound {
		raw = json.RawMessage(`{}`)
	}
	var made template.Previewed
	err := w.attempt(func() (err error) {
		made, err = template.Preview(ctx, w.db, w.mjml, w.tenant.ID, ch, raw, w.marks, w.now())
		return err
	}, func(p Problem) bool { return w.dropOfTemplate(&ch, p) })
	if err != nil || w.lost {
		return err
	}
	w.notes(made.Warnings)
	if bound {
		list := issues(made.Issues)
		for i := range list {
			list[i].Field = strings.TrimSuffix("binding."+list[i].Field, ".")
		}
		w.add(list...)
	}
	return w.use(made)
}

// notes adds the warnings about a template or block. Declarations that only a part that was left out uses
// are not reported.
func (w *work) notes(list []binding.Warning) {
	if len(w.broken) > 0 {
		list = slices.DeleteFunc(list, func(n binding.Warning) bool { return n.Code == "unused" })
	}
	w.add(w.warnings(list)...)
}

// use sets what a template has made as the source.
func (w *work) use(made template.Previewed) error {
	w.source, w.marked = content.Source{HTML: made.HTML}, made.Marked
	if made.Subject != nil {
		w.source.Subject = *made.Subject
	}
	if strings.TrimSpace(w.source.Subject) == "" {
		w.source.Subject = placeholder
		w.breaks(subject)
	}
	if made.Text != nil {
		w.text = *made.Text
	}
	if made.OwnText {
		w.source.Text = w.text
	}
	params, err := json.Marshal(made.Params)
	if binding.HasValue(params) {
		w.source.Context.Params = params
	}
	w.samples = made.Expects
	return err
}

// dropOfTemplate removes the field with a problem from a template.
func (w *work) dropOfTemplate(ch *template.Change, p Problem) bool {
	inMJML := ch.Format != nil && *ch.Format == binding.MJML
	switch name := topField(p.Field); {
	case name == subject && ch.Subject != nil:
		ch.Subject = nil
		w.breaks(subject)
	case name == "content_text" && ch.Text != nil, name == textBody && ch.Text != nil:
		ch.Text = nil
		w.breaks(textBody)
	case name == "content_mjml" && !inMJML && ch.MJML != nil:
		ch.MJML = nil // it is not used
	case name == "content_html" && inMJML && ch.HTML != nil:
		ch.HTML = nil
	case slices.Contains([]string{"content_html", "content_mjml", htmlBody}, name) && !w.broken[htmlBody]:
		ch.Format, ch.MJML, ch.HTML = new(binding.HTML), nil, new(placeholder)
		w.breaksBody(ch.Text != nil)
	case name == "inline_css" && ch.InlineCSS != nil:
		ch.InlineCSS = nil
	case name == "name" && ch.Name != nil:
		ch.Name = nil
	case name == "slug" && ch.Slug != nil:
		ch.Slug = nil
	case name == "tags" && ch.Tags != nil:
		ch.Tags = nil
	case name == "groups_schema" && ch.Schema.Groups != nil:
		ch.Schema.Groups = nil
	default:
		return false
	}
	return true
}

// renamePart names the field of a problem of content as in the template or block that it was made from.
func (w *work) renamePart(_, p Problem) Problem {
	part := strings.TrimPrefix(p.Field, "content.")
	if part == "body_mjml" {
		part = htmlBody
	}
	if a, ok := w.authored[part]; ok {
		p.Field = a.field
	}
	return p
}

func (w *work) loadBlock(ctx context.Context, b Block) error {
	ch, use := b.Change, b.Use
	use.Marks = w.marks
	body := "content_html"
	if ch.MJML != nil {
		body = "content_mjml"
	}
	w.authored = map[string]authored{htmlBody: {field: body}, textBody: {field: "content_text"}}
	w.body = bodyOf(ch.MJML, ch.HTML, ch.MJML != nil)
	w.rename = w.renamePart
	var made template.Previewed
	err := w.attempt(func() (err error) {
		made, err = template.PreviewBlock(ctx, w.db, w.mjml, w.tenant.ID, ch, use, w.now())
		if errors.Is(err, template.ErrNotFound) && use.Template != "" {
			return draft.ErrTemplate.Sayf("there is no template %q", use.Template).
				With(fault.Fields{Fields: []fault.Field{{Path: "template_slug", Message: "names no template"}}})
		}
		if errors.Is(err, template.ErrNoContent) {
			return template.ErrNoContent.With(fault.Fields{Fields: []fault.Field{{Path: "content_html", Message: template.ErrNoContent.Message}}})
		}
		return err
	}, func(p Problem) bool { return w.dropOfBlock(&ch, &use, p) })
	if err != nil || w.lost {
		return err
	}
	w.notes(made.Warnings)
	if b.Use.Parameters != nil || b.Use.Sections != nil {
		w.add(issues(made.Issues)...)
	}
	w.alone = use.Template == ""
	return w.use(made)
}

// dropOfBlock removes the field with a problem from a block, or the template that it is shown in.
func (w *work) dropOfBlock(ch *template.BlockChange, use *template.BlockUse, p Problem) bool {
	switch name := topField(p.Field); {
	case name == "template_slug" && use.Template != "":
		use.Template = ""
	case name == "content_text" && ch.Text != nil, name == textBody && ch.Text != nil:
		ch.Text = nil
		w.breaks(textBody)
	case name == "content_html" && ch.HTML != nil && ch.MJML != nil && use.Template == "":
		ch.HTML = nil // the MJML is shown
	case slices.Contains([]string{"content_html", "content_mjml", htmlBody}, name) && !w.broken[htmlBody]:
		ch.MJML, ch.HTML = nil, new(placeholder)
		use.Template = ""
		w.breaksBody(ch.Text != nil)
	case name == "name" && ch.Name != nil:
		ch.Name = nil
	case name == "slug" && ch.Slug != nil:
		ch.Slug = nil
	case name == "tags" && ch.Tags != nil:
		ch.Tags = nil
	case name == "slot_keys" && ch.SlotKeys != nil:
		ch.SlotKeys = nil
	case name == "groups_schema" && ch.Schema.Groups != nil:
		ch.Schema.Groups = nil
	default:
		return false
	}
	return true
}
