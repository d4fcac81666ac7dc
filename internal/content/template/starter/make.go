package starter

import (
	"encoding/json"

	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// Change returns the change that creates a template from the starter.
func (s Starter) Change() template.Change {
	return template.Change{
		Name: &s.Name, Slug: &s.Slug, Subject: &s.Subject, Format: new(binding.MJML), HTML: new(""), MJML: &s.MJML, Text: &s.Text,
		Tags: &s.Tags, Schema: splitSchema(s.Schema),
	}
}

// Change returns the change that creates the block.
func (b Block) Change() template.BlockChange {
	return template.BlockChange{
		Name: &b.Name, Slug: &b.Slug, Active: new(true), MJML: &b.MJML, Text: &b.Text,
		Tags: &b.Tags, SlotKeys: &b.Slots, Schema: splitSchema(b.Schema),
	}
}

// splitSchema returns the parts of a schema.
func splitSchema(schema json.RawMessage) binding.RawSchema {
	var s struct {
		Parameters json.RawMessage `json:"parameters_schema"`
		Sections   json.RawMessage `json:"sections_schema"`
		Slots      json.RawMessage `json:"slots_schema"`
		Groups     json.RawMessage `json:"groups_schema"`
		Expects    json.RawMessage `json:"expects_schema"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic(err) // embedded in the program
	}
	return binding.RawSchema(s)
}
