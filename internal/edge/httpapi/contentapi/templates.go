package contentapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// templateFaults are the faults of writing a template or a block.
var templateFaults = []*fault.Error{
	template.ErrLimit, binding.ErrSchema, binding.ErrReference,
	content.ErrMJML, content.ErrMJMLElement, content.ErrMJMLCompiler, content.ErrLiquid,
}

// schemaFieldFaults are the fields with a code of their own.
var schemaFieldFaults = map[string]*fault.Error{
	"parameters_schema": binding.ErrSchema,
	"sections_schema":   binding.ErrSchema,
	"slots_schema":      binding.ErrSchema,
	"groups_schema":     binding.ErrSchema,
	"expects_schema":    binding.ErrSchema,
}

// Templates serves templates and blocks.
type Templates struct {
	db         *sqldb.DB
	mjml       *mjml.Compiler
	now        func() time.Time
	sendCounts usage.Counter
}

// NewTemplates returns the operations on templates and blocks. sendCounts counts the broadcasts that use one.
func NewTemplates(e wire.Env, compiler *mjml.Compiler, sendCounts usage.Counter) Templates {
	return Templates{db: e.DB, mjml: compiler, now: e.Now, sendCounts: sendCounts}
}

// Register adds the operations on templates and blocks.
func (api Templates) Register(r *endpoint.Router) {
	api.blocks(r)
	api.starters(r)
	op := func(name, summary string, scope auth.Scope, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "templates", Scope: scope, Faults: faults}
	}
	list := op("listTemplates", "List templates by name.", auth.TemplatesRead)
	list.Description = "Rows are lean, without bodies and schemas, unless full=true."
	endpoint.Handle(r, "GET /t/{tenant}/api/templates", list, api.listTemplates)

	create := op("createTemplate", "Create a template; its schemas are checked against its bodies.", auth.TemplatesWrite, templateFaults...).Once().Revised(template.Revisions)
	create.Status, create.MaxBody, create.FieldFaults = http.StatusCreated, 5*endpoint.Megabyte, schemaFieldFaults
	endpoint.Handle(r, "POST /t/{tenant}/api/templates", create.ExampleBody(`{"name": "Announcement", "subject": "{{param:headline}}", "format": "html", "content_html": "<h1>{{param:headline}}</h1>", "parameters_schema": [{"name": "headline", "type": "text", "required": true, "sample": "Spring"}]}`), api.createTemplate, checkNewTemplate)

	endpoint.Handle(r, "GET /t/{tenant}/api/templates/{id}",
		op("getTemplate", "Get a template.", auth.TemplatesRead, template.ErrNotFound).Revised(template.Revisions), api.getTemplate)

	update := op("updateTemplate", "Update a template; absent fields keep their values. Mail already sent does not change.",
		auth.TemplatesWrite, append([]*fault.Error{template.ErrNotFound, template.ErrSlug}, templateFaults...)...).IfMatch(template.Revisions)
	update.MaxBody, update.FieldFaults = 5*endpoint.Megabyte, schemaFieldFaults
	endpoint.Handle(r, "PUT /t/{tenant}/api/templates/{id}", update.ExampleBody(`{"name": "Announcement, plain", "subject": "{{param:reader}}"}`), api.updateTemplate, checkTemplate)

	endpoint.Handle(r, "DELETE /t/{tenant}/api/templates/{id}",
		op("deleteTemplate", "Delete a template that no draft and no recent broadcast uses, or any with force=true.",
			auth.TemplatesWrite, template.ErrNotFound, template.ErrInUse).IfMatch(template.Revisions), api.deleteTemplate)
	api.templateBindings(r, op)
}

type listTemplatesRequest struct {
	Full  string `query:"full" as:"boolean" default:"false" doc:"true: complete rows."`
	Usage string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage to each row."`
	Tags  string `query:"tags" as:"list" doc:"With every one of these tags."`
}

type templateListRow = wire.Either[templateLean, TemplateRow]

func (api Templates) listTemplates(ctx context.Context, p auth.Principal, in *listTemplatesRequest) (endpoint.List[templateListRow], error) {
	var none endpoint.List[templateListRow]
	full := endpoint.Flag(in.Full)
	list, err := template.List(ctx, api.db, p.Tenant, template.Filter{Tags: endpoint.CommaList(in.Tags)}, full)
	if err != nil {
		return none, err
	}
	used, err := api.countSends(ctx, p, usage.Template, "", in.Usage)
	if err != nil {
		return none, err
	}
	rows := make([]templateListRow, len(list))
	for i, t := range list {
		if full {
			rows[i].Full = new(rowOfTemplate(t, used.forRecord(t.ID.String())))
		} else {
			rows[i].Lean = new(leanTemplate(t, used.forRecord(t.ID.String())))
		}
	}
	return endpoint.Whole(rows), nil
}

// sendCounts are the counts of broadcasts that use a record, by its id; nil if they are not requested.
type sendCounts map[string]usage.Sends

// countSends returns the counts for the record with an id, or for all records of a kind, if the flag
// of the query is set.
func (api Templates) countSends(ctx context.Context, p auth.Principal, kind usage.Kind, thing, flag string) (sendCounts, error) {
	if !endpoint.Flag(flag) {
		return nil, nil
	}
	counts, err := api.sendCounts.Count(ctx, api.db, p.Tenant, kind, thing, api.now())
	if counts == nil {
		counts = map[string]usage.Sends{}
	}
	return counts, err
}

func (s sendCounts) forRecord(thing string) *usage.Sends {
	if s == nil {
		return nil
	}
	return new(s[thing])
}

type createTemplateRequest struct {
	Body struct {
		Name string `json:"name" doc:"1 to 200 characters."`
		HTML string `json:"content_html" doc:"May be empty when format is mjml; then it is compiled from the MJML."`
		TemplateBody
	}
}

func checkNewTemplate(_ auth.Principal, in *createTemplateRequest) error {
	return in.change().CheckNew()
}

func (api Templates) createTemplate(ctx context.Context, p auth.Principal, in *createTemplateRequest) (savedTemplate, error) {
	var out savedTemplate
	_, _, err := template.Create(ctx, api.db, api.mjml, p.Tenant, in.change(), api.now(), func(tx *sqldb.DB, t template.Template, warnings []binding.Warning) error {
		endpoint.SetRevision(ctx, t.Revision)
		out = savedTemplate{rowOfTemplate(t, nil), distinct(warnings, hintWithoutPlace)}
		return endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

func (in *createTemplateRequest) change() template.Change {
	ch := in.Body.change()
	ch.Name, ch.HTML = &in.Body.Name, &in.Body.HTML
	return ch
}

type updateTemplateRequest struct {
	TemplatePath
	Body struct {
		Name endpoint.Opt[string] `json:"name" nullable:"false" doc:"1 to 200 characters."`
		HTML endpoint.Opt[string] `json:"content_html" nullable:"false" doc:"May be empty when format is mjml; then it is compiled from the MJML, as when only the MJML is sent."`
		TemplateBody
	}
}

// TemplatePath names a template.
type TemplatePath struct {
	ID string `path:"id" doc:"The id or the slug."`
}

func (in *updateTemplateRequest) change() template.Change {
	ch := in.Body.change()
	ch.Name, ch.HTML = in.Body.Name.Pointer(), in.Body.HTML.Pointer()
	return ch
}

type getTemplateRequest struct {
	TemplatePath
	Usage string `query:"include_usage" as:"boolean" default:"false" doc:"true: adds usage."`
}

func (api Templates) getTemplate(ctx context.Context, p auth.Principal, in *getTemplateRequest) (TemplateRow, error) {
	t, err := template.ByRef(ctx, api.db, p.Tenant, in.ID)
	if err != nil {
		return TemplateRow{}, err
	}
	used, err := api.countSends(ctx, p, usage.Template, t.ID.String(), in.Usage)
	if err != nil {
		return TemplateRow{}, err
	}
	endpoint.SetRevision(ctx, t.Revision)
	return rowOfTemplate(t, used.forRecord(t.ID.String())), nil
}

func checkTemplate(_ auth.Principal, in *updateTemplateRequest) error { return in.change().Check() }

func (api Templates) updateTemplate(ctx context.Context, p auth.Principal, in *updateTemplateRequest) (savedTemplate, error) {
	t, warnings, err := template.Update(ctx, api.db, api.mjml, p.Tenant, in.ID, in.change(), api.now(), func(before, after template.Template) (func(context.Context, *sqldb.DB) error, error) {
		if after.Format == binding.MJML && in.Body.MJML.Set && !in.Body.HTML.Set {
			before.HTML, after.HTML = "", "" // compiled from the MJML
		}
		u := wire.Update{Action: "update", Target: "template", ID: after.ID.String()}
		return wire.AuditRevision(p, u, rowOfTemplate(before, nil), rowOfTemplate(after, nil), api.now())
	})
	if err != nil {
		return savedTemplate{}, err
	}
	endpoint.SetRevision(ctx, t.Revision)
	return savedTemplate{rowOfTemplate(t, nil), distinct(warnings, hintWithoutPlace)}, nil
}

type deleteTemplateRequest struct {
	TemplatePath
	Force string `query:"force" as:"boolean" default:"false" doc:"true: delete it even if it is used."`
}

func (api Templates) deleteTemplate(ctx context.Context, p auth.Principal, in *deleteTemplateRequest) (endpoint.None, error) {
	return endpoint.None{}, template.Delete(ctx, api.db, p.Tenant, in.ID, endpoint.Flag(in.Force), api.sendCounts, api.now())
}

// All returns every template, complete, as in a list with full=true.
func (api Templates) All(ctx context.Context, p auth.Principal) ([]TemplateRow, error) {
	list, err := template.List(ctx, api.db, p.Tenant, template.Filter{}, true)
	rows := make([]TemplateRow, len(list))
	for i, t := range list {
		rows[i] = rowOfTemplate(t, nil)
	}
	return rows, err
}
