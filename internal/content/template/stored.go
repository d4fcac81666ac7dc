package template

import (
	"encoding/json"

	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// Change returns the change that makes a new template like t.
func (t Template) Change() (Change, error) {
	schema, err := rawSchema(t.Schema)
	ch := Change{
		Name: &t.Name, Slug: &t.Slug, Subject: t.Subject, Format: &t.Format, HTML: &t.HTML, MJML: t.MJML, Text: t.Text, InlineCSS: &t.InlineCSS, Tags: &t.Tags, Schema: schema,
	}
	if t.Format == binding.MJML {
		ch.HTML = new("") // compiled
	}
	return ch, err
}

// Change returns the change that makes a new block like b.
func (b Block) Change() (BlockChange, error) {
	schema, err := rawSchema(b.Schema)
	schema.Slots, schema.Expects = nil, nil // a block has none
	return BlockChange{Name: &b.Name, Slug: &b.Slug, Active: &b.Active, HTML: b.HTML, MJML: b.MJML, Text: b.Text, Tags: &b.Tags, SlotKeys: &b.SlotKeys, Schema: schema}, err
}

// rawSchema returns the parts of a schema as a request has them.
func rawSchema(s binding.Schema) (raw binding.RawSchema, err error) {
	for _, part := range []struct {
		to   *json.RawMessage
		from any
	}{
		{&raw.Parameters, optional.List(s.Parameters)}, {&raw.Sections, optional.List(s.Sections)}, {&raw.Slots, optional.List(s.Slots)}, {&raw.Groups, optional.List(s.Groups)}, {&raw.Expects, optional.List(s.Expects)},
	} {
		if *part.to, err = json.Marshal(part.from); err != nil {
			return raw, err
		}
	}
	return raw, nil
}
