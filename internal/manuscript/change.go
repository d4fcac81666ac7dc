package manuscript

import (
	"encoding/json"
	"strings"

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// ErrTemplate says that the template a request names does not exist.
var ErrTemplate = fault.New(fault.Invalid, "INVALID_TEMPLATE", "no template has this slug")

// Change is what a request says about content; what was not sent stays.
type Change struct {
	Parts    map[Field]*string // the texts that were sent; nil clears one
	Template *TemplateRef      // nil: not sent
	Binding  json.RawMessage   // nil: not sent; null: cleared
	// Frozen keeps bodies that a template made as they are, although the
	// template may read differently by now.
	Frozen bool
}

// TemplateRef names a template in one way or the other; neither is to do
// without one from now on.
type TemplateRef struct {
	ID   id.Template
	Slug string
}

// Empty reports that nothing was sent.
func (ch Change) Empty() bool { return len(ch.Parts) == 0 && ch.Template == nil && ch.Binding == nil }

// Check says what is wrong with the change, whatever it is made to: problems of
// single fields go to p, and what can be told of single bodies is returned. It
// also brings texts into the form in which they are kept.
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

// Readable says whether the texts that were sent can be read: one that was not
// sent is taken to be well. In a change that names a template its bodies do not
// count.
func (ch Change) Readable() error {
	given := func(f Field, otherwise string) string {
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
		Subject: given(Subject, "-"), HTML: given(BodyHTML, "-"), Text: given(BodyText, ""),
		Preheader: given(Preheader, ""), FromName: given(FromName, ""), ReplyTo: given(ReplyTo, ""),
	}
	if ch.templated() {
		s.HTML, s.Text = "-", ""
		if s.Subject == "" {
			s.Subject = "-" // the template's own
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

// templated reports that the change makes bodies of a template.
func (ch Change) templated() bool {
	return ch.Template != nil && *ch.Template != TemplateRef{} || ch.Template == nil && given(ch.Binding)
}

// bodies reports that the change brings a body of its own.
func (ch Change) bodies() bool {
	return written(ch.Parts[BodyHTML]) || written(ch.Parts[BodyMJML]) || written(ch.Parts[BodyText])
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// written reports that a text says something.
func written(s *string) bool { return s != nil && strings.TrimSpace(*s) != "" }
