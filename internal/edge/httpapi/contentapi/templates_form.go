package contentapi

import (
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// SchemaBody is the part of a body that templates and blocks declare their values with.
type SchemaBody struct {
	Parameters endpoint.Opt[schemaInput] `json:"parameters_schema" doc:"Typed values: {name, type, required, label, help_text, validation, sample, default}, the type one of text, textarea, rich_text, html, url, image, email, color, number, boolean, date, datetime, select, list."`
	Sections   endpoint.Opt[schemaInput] `json:"sections_schema" doc:"Repeating parts: {name, label, required, min, max, item_schema}."`
	Groups     endpoint.Opt[schemaInput] `json:"groups_schema" doc:"How an editor groups what is declared: {name, label, help_text, parameters, sections, slots, collapsed}."`
}

func (b SchemaBody) raw() binding.RawSchema {
	return binding.RawSchema{Parameters: rawPart(b.Parameters), Sections: rawPart(b.Sections), Groups: rawPart(b.Groups)}
}

// TemplateBody is the body of a template without the fields that a new one must have.
type TemplateBody struct {
	Slug    endpoint.Opt[string] `json:"slug" nullable:"false" doc:"Lower case letters, digits, - and _. Default: derived from the name. One that is taken gets a number in a new template, and is refused in an update."`
	Subject endpoint.Opt[string] `json:"subject" doc:"One line; {{param:name}} and Liquid allowed."`
	Format  endpoint.Opt[string] `json:"format" nullable:"false" enum:"html,mjml" doc:"Which body is sent. Default: html."`
	MJML    endpoint.Opt[string] `json:"content_mjml" doc:"Required when format is mjml."`
	Text    endpoint.Opt[string] `json:"content_text" doc:"Default: derived from the HTML when it is rendered."`
	Inline  endpoint.Opt[bool]   `json:"inline_css" nullable:"false" doc:"Move the rules of style elements into the elements that they match, when format is html. Default: false."`
	SchemaBody
	Slots   endpoint.Opt[schemaInput] `json:"slots_schema" doc:"Places for blocks: {name, label, help_text, tag_filter, required, allowed_strategies, default_strategy}."`
	Expects endpoint.Opt[schemaInput] `json:"expects_schema" doc:"What the Liquid expects of a contact: {path, type, required, label, fallback, item_schema, sample}."`
	Tags    endpoint.Opt[[]string]    `json:"tags" doc:"At most 50, of 1 to 64 characters."`
}

func (b TemplateBody) change() template.Change {
	ch := template.Change{
		Slug: b.Slug.Pointer(), Subject: wire.NullAsZero(b.Subject), MJML: wire.NullAsZero(b.MJML), Text: wire.NullAsZero(b.Text),
		InlineCSS: b.Inline.Pointer(), Schema: b.raw(),
	}
	if b.Format.Given() {
		ch.Format = new(binding.Format(b.Format.Value))
	}
	if b.Tags.Set {
		ch.Tags = new(b.Tags.Or(nil))
	}
	ch.Schema.Slots, ch.Schema.Expects = rawPart(b.Slots), rawPart(b.Expects)
	return ch
}

// templateLean is a row of a list.
type templateLean struct {
	ID             id.Template    `json:"id" format:"uuid"`
	Slug           string         `json:"slug"`
	Name           string         `json:"name"`
	Format         binding.Format `json:"format" enum:"html,mjml"`
	Tags           []string       `json:"tags"`
	ParameterCount int            `json:"parameter_count"`
	SectionCount   int            `json:"section_count"`
	SlotCount      int            `json:"slot_count"`
	GroupCount     int            `json:"group_count"`
	Usage          *usage.Sends   `json:"usage,omitempty" doc:"With include_usage=true."`
	CreatedAt      endpoint.Stamp `json:"created_at"`
	UpdatedAt      endpoint.Stamp `json:"updated_at"`
}

// TemplateRow is a whole template.
type TemplateRow struct {
	ID         id.Template                `json:"id" format:"uuid"`
	TenantID   id.Tenant                  `json:"tenant_id" format:"uuid"`
	Slug       string                     `json:"slug"`
	Name       string                     `json:"name"`
	Subject    *string                    `json:"subject"`
	Format     binding.Format             `json:"format" enum:"html,mjml"`
	HTML       string                     `json:"content_html" doc:"Of an MJML template written without HTML: the compiled MJML, filled with samples."`
	MJML       *string                    `json:"content_mjml"`
	Text       *string                    `json:"content_text"`
	Inline     bool                       `json:"inline_css"`
	Parameters schemaPart[parameterEntry] `json:"parameters_schema"`
	Sections   schemaPart[sectionEntry]   `json:"sections_schema"`
	Slots      schemaPart[SlotEntry]      `json:"slots_schema"`
	Groups     schemaPart[groupEntry]     `json:"groups_schema"`
	Expects    schemaPart[expectEntry]    `json:"expects_schema"`
	Tags       []string                   `json:"tags"`
	Usage      *usage.Sends               `json:"usage,omitempty" doc:"With include_usage=true."`
	CreatedAt  endpoint.Stamp             `json:"created_at"`
	UpdatedAt  endpoint.Stamp             `json:"updated_at"`
}

func leanTemplate(t template.Template, used *usage.Sends) templateLean {
	return templateLean{
		ID: t.ID, Slug: t.Slug, Name: t.Name, Format: t.Format, Tags: t.Tags,
		ParameterCount: t.Counts.Parameters, SectionCount: t.Counts.Sections, SlotCount: t.Counts.Slots, GroupCount: t.Counts.Groups,
		Usage: used, CreatedAt: endpoint.At(t.CreatedAt), UpdatedAt: endpoint.At(t.UpdatedAt),
	}
}

func rowOfTemplate(t template.Template, used *usage.Sends) TemplateRow {
	return TemplateRow{
		ID: t.ID, TenantID: t.Tenant, Slug: t.Slug, Name: t.Name, Subject: t.Subject, Format: t.Format,
		HTML: t.HTML, MJML: t.MJML, Text: t.Text, Inline: t.InlineCSS,
		Parameters: schemaPartOf[parameterEntry](t.Schema.Parameters), Sections: schemaPartOf[sectionEntry](t.Schema.Sections), Slots: schemaPartOf[SlotEntry](t.Schema.Slots),
		Groups: schemaPartOf[groupEntry](t.Schema.Groups), Expects: schemaPartOf[expectEntry](t.Schema.Expects), Tags: t.Tags,
		Usage: used, CreatedAt: endpoint.At(t.CreatedAt), UpdatedAt: endpoint.At(t.UpdatedAt),
	}
}

// savedTemplate is the answer to a write.
type savedTemplate struct {
	TemplateRow
	Warnings []binding.Warning `json:"warnings" doc:"Hints for the author; they prevent nothing."`
}
