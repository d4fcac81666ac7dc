package draft

import (
	"encoding/json"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// ErrTemplate means that the template in a request does not exist.
var ErrTemplate = fault.New(fault.Invalid, "INVALID_TEMPLATE", "no template has this slug")

// Change holds the changes that a request makes to content; absent parts do not change.
type Change struct {
	Parts    map[Field]*string // texts in the request; nil clears one
	Template *TemplateRef      // nil: absent
	Binding  json.RawMessage   // nil: absent; null: cleared
	// Frozen keeps bodies made from a template, even if the template has changed since.
	Frozen bool
}

// TemplateRef refers to a template by id or slug; neither means to drop the template.
type TemplateRef struct {
	ID   id.Template
	Slug string
}

// Empty reports whether the change has no parts.
func (ch Change) Empty() bool { return len(ch.Parts) == 0 && ch.Template == nil && ch.Binding == nil }

// Check validates the change independently of the content, and normalizes its texts: problems of
// single fields are added to p, and those of single bodies are returned.
func (ch *Change) Check(p *fault.Problems) {
	for _, f := range []Field{Subject, Preheader, FromName, ReplyTo} {
		if v := ch.Parts[f]; v != nil {
			content.CheckHeader(p, "content."+string(f), *v)
		}
	}
	if v := ch.Parts[ReplyTo]; v != nil && strings.TrimSpace(*v) != "" {
		a, err := address.Normalize(*v)
		if err != nil {
			p.Add("content.reply_to", err.Error())
			return
		}
		ch.Parts[ReplyTo] = &a
	}
}

// Readable checks that the Liquid of the texts in the change parses. Absent texts are assumed to be
// valid. If the change refers to a template, its bodies are ignored.
func (ch Change) Readable() error {
	text := func(f Field, otherwise string) string {
		v, sent := ch.Parts[f]
		switch {
		case !sent:
			return otherwise
		case v == nil:
			return ""
		}
		return *v
	}
	s := content.Source{
		Subject: text(Subject, "-"), HTML: text(BodyHTML, "-"), Text: text(BodyText, ""),
		Preheader: text(Preheader, ""), FromName: text(FromName, ""), ReplyTo: text(ReplyTo, ""),
	}
	if ch.templated() {
		s.HTML, s.Text = "-", ""
		if s.Subject == "" {
			s.Subject = "-" // the template's
		}
		return content.Check(s)
	}
	if source := ch.Parts[BodyMJML]; written(source) {
		s.HTML = "-"
		if _, err := mjml.Check(*source); err != nil {
			return content.MJMLFault("content.body_mjml", err)
		}
		if err := content.CheckLiquid("content.body_mjml", *source); err != nil {
			return err
		}
	}
	return content.Check(s)
}

// templated reports whether the change makes bodies from a template.
func (ch Change) templated() bool {
	return ch.Template != nil && *ch.Template != TemplateRef{} || ch.Template == nil && binding.HasValue(ch.Binding)
}

// bodies reports whether the change contains a body.
func (ch Change) bodies() bool {
	return written(ch.Parts[BodyHTML]) || written(ch.Parts[BodyMJML]) || written(ch.Parts[BodyText])
}

// written reports whether a text is present and not blank.
func written(s *string) bool { return s != nil && strings.TrimSpace(*s) != "" }
