package contentapi

import (
	"context"
	"encoding/json"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// templateBindings registers the operations on the bindings of templates.
func (api Templates) templateBindings(r *endpoint.Router, op func(name, summary string, scope auth.Scope, faults ...*fault.Error) endpoint.Op) {
	endpoint.Handle(r, "GET /t/{tenant}/api/templates/{id}/schema",
		op("getTemplateSchema", "Get a template's schema.", auth.TemplatesRead, template.ErrNotFound), api.getTemplateSchema)
	endpoint.Handle(r, "GET /t/{tenant}/api/templates/{id}/binding-options",
		op("getBindingOptions", "Get the options for a template's binding.", auth.TemplatesRead, template.ErrNotFound), api.GetBindingOptions)

	validate := op("validateBinding", "Validate a binding and list its problems; the status is 200 either way.", auth.TemplatesRead, template.ErrNotFound)
	validate.Role, validate.MaxBody = auth.Viewer, 5*endpoint.Megabyte
	endpoint.Handle(r, "POST /t/{tenant}/api/templates/{id}/validate-binding", validate.ExampleBody(`{"template_binding": {"parameters": {"reader": "Ada"}}}`), api.validateBinding)

	render := op("renderTemplate", "Render a template with a binding; nothing is stored or sent.", auth.TemplatesRead,
		template.ErrNotFound, binding.ErrBinding, content.ErrMJML, content.ErrMJMLElement, content.ErrMJMLEmpty, content.ErrMJMLCompiler, content.ErrLiquid)
	render.Description = "An invalid binding is refused, unless lenient or include_options is true: then missing values are replaced by visible notices."
	render.Role, render.MaxBody = auth.Viewer, 5*endpoint.Megabyte
	endpoint.Handle(r, "POST /t/{tenant}/api/templates/{id}/render", render.ExampleBody(`{"template_binding": {"parameters": {"reader": "Ada"}}, "lenient": true}`), api.renderTemplate, checkRender)
}

type templateSchema struct {
	TemplateID id.Template                `json:"template_id" format:"uuid"`
	Slug       string                     `json:"slug"`
	Name       string                     `json:"name"`
	Parameters schemaPart[parameterEntry] `json:"parameters_schema"`
	Slots      schemaPart[SlotEntry]      `json:"slots_schema"`
	Sections   schemaPart[sectionEntry]   `json:"sections_schema"`
	Groups     schemaPart[groupEntry]     `json:"groups_schema"`
	Expects    schemaPart[expectEntry]    `json:"expects_schema"`
}

func (api Templates) getTemplateSchema(ctx context.Context, p auth.Principal, in *TemplatePath) (templateSchema, error) {
	t, err := template.ByRef(ctx, api.db, p.Tenant, in.ID)
	if err != nil {
		return templateSchema{}, err
	}
	s := t.Schema
	return templateSchema{
		TemplateID: t.ID, Slug: t.Slug, Name: t.Name, Parameters: schemaPartOf[parameterEntry](s.Parameters), Slots: schemaPartOf[SlotEntry](s.Slots),
		Sections: schemaPartOf[sectionEntry](s.Sections), Groups: schemaPartOf[groupEntry](s.Groups), Expects: schemaPartOf[expectEntry](s.Expects),
	}, nil
}

type BindingOptions struct {
	TemplateID id.Template                `json:"template_id" format:"uuid"`
	Slug       string                     `json:"slug"`
	Name       string                     `json:"name"`
	Parameters schemaPart[parameterEntry] `json:"parameters_schema"`
	Sections   schemaPart[sectionEntry]   `json:"sections_schema"`
	Slots      []slotOption               `json:"slots_schema"`
	Groups     schemaPart[groupEntry]     `json:"groups_schema"`
}

type slotOption struct {
	SlotEntry
	Blocks    []eligibleBlock `json:"eligible_blocks" doc:"The first 25 by name of the active blocks that have every tag of tag_filter and a body in the template's format."`
	Truncated bool            `json:"eligible_blocks_truncated" doc:"true: there are more; GET /api/blocks with tags has them all."`
	Total     int             `json:"eligible_blocks_total"`
}

type eligibleBlock struct {
	Slug       string                     `json:"slug"`
	Name       string                     `json:"name"`
	Tags       []string                   `json:"tags"`
	SlotKeys   []string                   `json:"slot_keys"`
	Parameters schemaPart[parameterEntry] `json:"parameters_schema"`
	Sections   schemaPart[sectionEntry]   `json:"sections_schema"`
}

func (api Templates) GetBindingOptions(ctx context.Context, p auth.Principal, in *TemplatePath) (BindingOptions, error) {
	t, err := template.ByRef(ctx, api.db, p.Tenant, in.ID)
	if err != nil {
		return BindingOptions{}, err
	}
	o, err := t.Options(ctx, api.db)
	if err != nil {
		return BindingOptions{}, err
	}
	return rowOfOptions(o), nil
}

func rowOfOptions(o template.Options) BindingOptions {
	t := o.Template
	row := BindingOptions{
		TemplateID: t.ID, Slug: t.Slug, Name: t.Name, Parameters: schemaPartOf[parameterEntry](t.Schema.Parameters),
		Sections: schemaPartOf[sectionEntry](t.Schema.Sections), Groups: schemaPartOf[groupEntry](t.Schema.Groups), Slots: make([]slotOption, len(o.Slots)),
	}
	for i, s := range o.Slots {
		row.Slots[i] = slotOption{
			SlotEntry: SlotEntry{
				Name: s.Name, Label: s.Label, HelpText: s.HelpText, TagFilter: endpoint.NonNil(s.TagFilter), Required: s.Required,
				Allowed: make([]string, len(s.Allowed)), Default: string(s.Default),
			},
			Total: s.Total, Truncated: s.Total > len(s.Blocks), Blocks: make([]eligibleBlock, len(s.Blocks)),
		}
		for j, strategy := range s.Allowed {
			row.Slots[i].Allowed[j] = string(strategy)
		}
		for j, b := range s.Blocks {
			row.Slots[i].Blocks[j] = eligibleBlock{b.Slug, b.Name, b.Tags, b.SlotKeys, schemaPartOf[parameterEntry](b.Schema.Parameters), schemaPartOf[sectionEntry](b.Schema.Sections)}
		}
	}
	return row
}

type validateBindingRequest struct {
	TemplatePath
	Body struct {
		Binding json.RawMessage `json:"template_binding,omitempty" doc:"{parameters: {name: value}, sections: {name: [row]}, slots: {name: {strategy, block_id, parameters, sections}}}"`
	}
}

type bindingVerdict struct {
	Valid  bool            `json:"valid"`
	Issues []binding.Issue `json:"issues"`
}

func (api Templates) validateBinding(ctx context.Context, p auth.Principal, in *validateBindingRequest) (bindingVerdict, error) {
	t, err := template.ByRef(ctx, api.db, p.Tenant, in.ID)
	if err != nil {
		return bindingVerdict{}, err
	}
	issues, err := t.Validate(ctx, api.db, in.Body.Binding)
	if err != nil {
		return bindingVerdict{}, err
	}
	return bindingVerdict{len(issues) == 0, endpoint.NonNil(issues)}, nil
}

type renderTemplateRequest struct {
	TemplatePath
	Body struct {
		Binding json.RawMessage      `json:"template_binding,omitempty" doc:"{parameters: {name: value}, sections: {name: [row]}, slots: {name: {strategy, block_id, parameters, sections}}}"`
		Options endpoint.Opt[bool]   `json:"include_options" nullable:"false" doc:"true: adds missing and binding_options; implies lenient."`
		Lenient endpoint.Opt[bool]   `json:"lenient" nullable:"false" doc:"true: missing values are replaced by visible notices."`
		Record  endpoint.Opt[string] `json:"record_id" nullable:"false" format:"uuid" doc:"The broadcast or library entry that the binding is for: random slots get the blocks that they have there. Default: those of the template."`
	}
}

type renderedTemplate struct {
	Subject  *string                  `json:"subject"`
	HTML     string                   `json:"body_html"`
	MJML     *string                  `json:"body_mjml" doc:"Null when format is html."`
	Text     *string                  `json:"body_text"`
	Slots    map[string]template.Slot `json:"slots" doc:"The result for each slot: {strategy, block_id, block_slug, block_name}."`
	Snapshot templateSnapshot         `json:"template_snapshot"`
	Missing  *[]binding.Issue         `json:"missing,omitempty" doc:"With include_options: the issues of validate-binding."`
	Options  *BindingOptions          `json:"binding_options,omitempty" doc:"With include_options."`
}

func checkRender(_ auth.Principal, in *renderTemplateRequest) error {
	if in.Body.Record.Given() {
		if u, ok := id.Parse[id.Broadcast](in.Body.Record.Value); !ok || u.String() != in.Body.Record.Value {
			return fault.Input(fault.Field{Path: "record_id", Message: "must be a uuid"})
		}
	}
	return nil
}

// templateSnapshot is the schema of a template at the time when it was rendered.
type templateSnapshot struct {
	TemplateID  id.Template                `json:"template_id" format:"uuid"`
	Slug        string                     `json:"slug"`
	Name        string                     `json:"name"`
	Format      binding.Format             `json:"format" enum:"html,mjml"`
	ContentHash string                     `json:"content_hash" doc:"SHA-256 of what rendering depends on."`
	Parameters  schemaPart[parameterEntry] `json:"parameters_schema"`
	Sections    schemaPart[sectionEntry]   `json:"sections_schema"`
	Slots       schemaPart[SlotEntry]      `json:"slots_schema"`
	Groups      schemaPart[groupEntry]     `json:"groups_schema"`
	Expects     schemaPart[expectEntry]    `json:"expects_schema"`
	CapturedAt  endpoint.Stamp             `json:"captured_at"`
}

func (api Templates) renderTemplate(ctx context.Context, p auth.Principal, in *renderTemplateRequest) (renderedTemplate, error) {
	t, err := template.ByRef(ctx, api.db, p.Tenant, in.ID)
	if err != nil {
		return renderedTemplate{}, err
	}
	withOptions := in.Body.Options.Or(false)
	r, err := t.Render(ctx, api.db, api.mjml, p.Tenant, in.Body.Binding, template.RenderOptions{
		Seed: in.Body.Record.Or(t.ID.String()), Lenient: withOptions || in.Body.Lenient.Or(false),
	}, api.now())
	if err != nil {
		return renderedTemplate{}, err
	}
	out := renderedTemplate{Subject: r.Subject, HTML: r.HTML, MJML: r.MJML, Text: r.Text, Slots: r.Slots, Snapshot: rowOfSnapshot(r.Snapshot)}
	if withOptions {
		o, err := t.Options(ctx, api.db)
		if err != nil {
			return renderedTemplate{}, err
		}
		out.Missing, out.Options = new(endpoint.NonNil(r.Issues)), new(rowOfOptions(o))
	}
	return out, nil
}

func rowOfSnapshot(s template.Snapshot) templateSnapshot {
	return templateSnapshot{
		TemplateID: s.TemplateID, Slug: s.Slug, Name: s.Name, Format: s.Format, ContentHash: s.ContentHash,
		Parameters: schemaPartOf[parameterEntry](s.Parameters), Sections: schemaPartOf[sectionEntry](s.Sections), Slots: schemaPartOf[SlotEntry](s.Slots),
		Groups: schemaPartOf[groupEntry](s.Groups), Expects: schemaPartOf[expectEntry](s.Expects), CapturedAt: endpoint.At(s.CapturedAt),
	}
}
