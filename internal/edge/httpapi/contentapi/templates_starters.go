package contentapi

import (
	"context"
	"encoding/json"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/content/template/starter"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// starters adds the templates that an account can start with.
func (api Templates) starters(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/template-starters", endpoint.Op{
		Name: "listTemplateStarters", Summary: "List templates to start with: create one from the fields of a row.",
		Description: "Rows have the fields of POST /templates, and a sample: a binding with a value for each placeholder. They are in the brand of the account.",
		Tag:         "templates", Session: true,
	}, api.listStarters)
}

// TemplateStarter is a template to start with.
type TemplateStarter struct {
	Slug       string                     `json:"slug"`
	Name       string                     `json:"name"`
	Subject    string                     `json:"subject"`
	Format     binding.Format             `json:"format" enum:"html,mjml"`
	HTML       string                     `json:"content_html" doc:"Empty: it is compiled from content_mjml."`
	MJML       string                     `json:"content_mjml"`
	Text       string                     `json:"content_text"`
	Inline     bool                       `json:"inline_css"`
	Parameters schemaPart[parameterEntry] `json:"parameters_schema"`
	Sections   schemaPart[sectionEntry]   `json:"sections_schema"`
	Slots      schemaPart[SlotEntry]      `json:"slots_schema"`
	Groups     schemaPart[groupEntry]     `json:"groups_schema"`
	Expects    schemaPart[expectEntry]    `json:"expects_schema"`
	Tags       []string                   `json:"tags"`
	Sample     anyJSON                    `json:"sample"`
}

func (api Templates) listStarters(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[TemplateStarter], error) {
	account, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[TemplateStarter]{}, err
	}
	rows := []TemplateStarter{}
	for _, s := range starter.All() {
		s = s.For(account.Settings, api.now())
		schema, err := binding.Schema{}.With(s.Change().Schema)
		if err != nil {
			return endpoint.List[TemplateStarter]{}, err
		}
		rows = append(rows, TemplateStarter{
			Slug: s.Slug, Name: s.Name, Subject: s.Subject, Format: binding.MJML, MJML: s.MJML, Text: s.Text, Tags: s.Tags,
			Parameters: schemaPartOf[parameterEntry](schema.Parameters), Sections: schemaPartOf[sectionEntry](schema.Sections),
			Slots: schemaPartOf[SlotEntry](schema.Slots), Groups: schemaPartOf[groupEntry](schema.Groups), Expects: schemaPartOf[expectEntry](schema.Expects),
			Sample: anyJSON{json.RawMessage(s.Sample)},
		})
	}
	return endpoint.Whole(rows), nil
}
