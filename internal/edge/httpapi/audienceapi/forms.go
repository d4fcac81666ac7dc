package audienceapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	forms "github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Forms serves forms.
type Forms struct {
	db      *sqldb.DB
	box     *secret.Box
	cursors *endpoint.Cursors
	baseURL *url.URL
	now     func() time.Time
}

// NewForms returns the operations on forms.
func NewForms(e wire.Env) Forms {
	return Forms{db: e.DB, box: e.Box, cursors: e.Cursors, baseURL: e.BaseURL, now: e.Now}
}

// On returns the operations on another handle.
func (api Forms) On(db *sqldb.DB) Forms { api.db = db; return api }

// Register adds the operations on forms.
func (api Forms) Register(r *endpoint.Router) {
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "forms", Scope: auth.FormsRead, Faults: faults}
	}
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "forms", Session: true, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/forms", read("listForms", "List forms, newest first; without status all that are not archived.", forms.ErrInvalidStatus), api.ListForms)
	create := write("createForm", "Create a form, as a draft.", forms.ErrLimit).Once().Revised(forms.Revisions)
	create.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/forms", create.ExampleBody(`{"name": "Newsletter", "double_opt_in": false, "fields": [{"type": "contact", "binding": "email", "label": "Email", "required": true}, {"type": "contact", "binding": "first_name", "label": "First name"}]}`), wire.Once(api, api.db, Forms.createForm), checkNewForm)
	endpoint.Handle(r, "GET /t/{tenant}/api/forms/{id}", read("getForm", "Get a form with its fields.", forms.ErrNotFound).Revised(forms.Revisions), api.getForm)
	endpoint.Handle(r, "GET /t/{tenant}/api/forms/{id}/embed", read("getFormEmbed", "Get the code that puts a form into a page.", forms.ErrNotFound), api.getFormEmbed)
	endpoint.Handle(r, "PUT /t/{tenant}/api/forms/{id}", write("updateForm", "Update a form; absent fields are not changed. A published form must stay fit for publishing.", forms.ErrNotFound).IfMatch(forms.Revisions).
		ExampleBody(`{"submit_label": "Sign up", "allowed_origins": ["https://www.example.com"]}`), api.updateForm, checkForm)
	preview := write("previewForm", "Get the code of a form as if it had been updated.", forms.ErrNotFound)
	preview.Role, preview.Description = auth.Viewer, "Stores nothing. What is wrong in the body is shown as it was sent."
	endpoint.Handle(r, "POST /t/{tenant}/api/forms/{id}/preview", preview.ExampleBody(`{"submit_label": "Sign up"}`), api.previewForm)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/forms/{id}", write("deleteForm", "Delete an archived form and its submissions.", forms.ErrNotFound, forms.ErrTransition).IfMatch(forms.Revisions), api.deleteForm)
	for _, move := range []struct {
		path, name, summary string
		do                  func(context.Context, *sqldb.DB, id.Tenant, id.Form, time.Time) (forms.Form, error)
	}{
		{"publish", "publishForm", "Let a draft accept submissions.", forms.Publish},
		{"unpublish", "unpublishForm", "Make a published form a draft.", forms.Unpublish},
		{"archive", "archiveForm", "Archive a form.", forms.Archive},
		{"unarchive", "unarchiveForm", "Make an archived form a draft.", forms.Unarchive},
	} {
		endpoint.Handle(r, "POST /t/{tenant}/api/forms/{id}/"+move.path, write(move.name, move.summary, forms.ErrNotFound, forms.ErrTransition).IfMatch(forms.Revisions),
			func(ctx context.Context, p auth.Principal, in *wire.RecordPath) (formRow, error) {
				formID, err := wire.RecordID[id.Form](in.ID, forms.ErrNotFound)
				if err != nil {
					return formRow{}, err
				}
				f, err := move.do(ctx, api.db, p.Tenant, formID, api.now())
				if err != nil {
					return formRow{}, err
				}
				return api.rowOf(ctx, f)
			})
	}
	submissions := write("listFormSubmissions", "List the submissions of a form, newest first, with what became of each.", forms.ErrNotFound, endpoint.ErrCursor)
	submissions.Pagination = "cursor"
	endpoint.Handle(r, "GET /t/{tenant}/api/forms/{id}/submissions", submissions.ExampleQuery("limit=5"), api.listSubmissions)
}

// FormSummary is a form in a list.
type FormSummary struct {
	ID                 id.Form          `json:"id" format:"uuid"`
	TenantID           id.Tenant        `json:"tenant_id" format:"uuid"`
	Name               string           `json:"name"`
	Slug               string           `json:"slug" doc:"Names the form in the public routes."`
	Status             forms.Status     `json:"status" enum:"draft,published,archived"`
	AllowedOrigins     []string         `json:"allowed_origins" doc:"Empty: any."`
	SubmitLabel        string           `json:"submit_label"`
	SuccessMode        string           `json:"success_mode" enum:"message,redirect"`
	SuccessMessage     string           `json:"success_message"`
	RedirectURL        *string          `json:"redirect_url"`
	DoubleOptIn        bool             `json:"double_opt_in"`
	ConfirmMessageID   *id.LibraryEntry `json:"confirm_message_id" format:"uuid" doc:"null: the built-in mail."`
	ConfirmRedirectURL *string          `json:"confirm_redirect_url"`
	ListSegmentKeys    []string         `json:"list_segment_keys"`
	Tags               []string         `json:"tags"`
	StageID            *id.Stage        `json:"stage_id" format:"uuid"`
	Captcha            formCaptcha      `json:"captcha"`
	SubmissionCount    int              `json:"submission_count" doc:"Without spam."`
	LastSubmissionAt   *endpoint.Stamp  `json:"last_submission_at"`
	CreatedAt          endpoint.Stamp   `json:"created_at"`
	UpdatedAt          endpoint.Stamp   `json:"updated_at"`
}

type formCaptcha struct {
	Provider string  `json:"provider" enum:"none,turnstile,hcaptcha"`
	SiteKey  *string `json:"site_key"`
}

// formRow is a single form.
type formRow struct {
	FormSummary
	Fields []formField `json:"fields"`
}

type formField struct {
	ID           string          `json:"id"`
	Type         forms.FieldType `json:"type" enum:"contact,custom_field,consent,hidden,text_block"`
	Binding      *string         `json:"binding" doc:"A contact column, field_key, type_key or category:<id>."`
	Label        string          `json:"label"`
	Placeholder  *string         `json:"placeholder"`
	HelpText     *string         `json:"help_text"`
	Required     bool            `json:"required"`
	Input        *forms.Input    `json:"input" doc:"null for text blocks."`
	Options      []string        `json:"options" nullable:"true"`
	DefaultValue fieldDefault    `json:"default_value" doc:"A string, a number, a boolean or null."`
	Param        *string         `json:"param" doc:"Of a hidden field: the parameter of the page's URL that sets it."`
	SortOrder    int             `json:"sort_order"`
}

// fieldDefault is the default of a field: a string, a number, a boolean or nil.
type fieldDefault struct{ value any }

// MarshalJSON writes the value.
func (d fieldDefault) MarshalJSON() ([]byte, error) { return json.Marshal(d.value) }

// Schema is that of any of the values.
func (fieldDefault) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{AnyOf: []*endpoint.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}, {Type: "null"}}}
}

type listFormsRequest struct {
	Status string `query:"status" as:"list" enum:"draft,published,archived" doc:"With any of these statuses; draft and published when absent."`
}

func (api Forms) ListForms(ctx context.Context, p auth.Principal, in *listFormsRequest) (endpoint.List[FormSummary], error) {
	var none endpoint.List[FormSummary]
	statuses, err := forms.ParseStatuses(endpoint.CommaList(in.Status))
	if err != nil {
		return none, err
	}
	list, err := forms.List(ctx, api.db, p.Tenant, statuses...)
	if err != nil {
		return none, err
	}
	var lists []id.Segment
	for _, f := range list {
		lists = append(lists, f.Lists...)
	}
	keys, err := segment.Keys(ctx, api.db, p.Tenant, lists)
	if err != nil {
		return none, err
	}
	rows := make([]FormSummary, len(list))
	for i, f := range list {
		rows[i] = summaryOfForm(f, keys)
	}
	return endpoint.Whole(rows), nil
}

func summaryOfForm(f forms.Form, keys map[id.Segment]string) FormSummary {
	lists := []string{}
	for _, l := range f.Lists {
		if keys[l] != "" {
			lists = append(lists, keys[l])
		}
	}
	return FormSummary{
		ID: f.ID, TenantID: f.Tenant, Name: f.Name, Slug: f.Slug, Status: f.Status, AllowedOrigins: f.Origins, SubmitLabel: f.SubmitLabel,
		SuccessMode: f.SuccessMode, SuccessMessage: f.SuccessMessage, RedirectURL: optional.Pointer(f.RedirectURL), DoubleOptIn: f.DoubleOptIn,
		ConfirmMessageID: optional.Pointer(f.ConfirmMessage), ConfirmRedirectURL: optional.Pointer(f.ConfirmRedirectURL), ListSegmentKeys: lists, Tags: f.Tags,
		StageID: optional.Pointer(f.Stage), Captcha: formCaptcha{f.CaptchaProvider, optional.Pointer(f.CaptchaSiteKey)}, SubmissionCount: f.SubmissionCount,
		LastSubmissionAt: endpoint.AtOr(f.LastSubmissionAt), CreatedAt: endpoint.At(f.CreatedAt), UpdatedAt: endpoint.At(f.UpdatedAt),
	}
}

func (api Forms) rowOf(ctx context.Context, f forms.Form) (formRow, error) {
	endpoint.SetRevision(ctx, f.Revision)
	keys, err := segment.Keys(ctx, api.db, f.Tenant, f.Lists)
	return wholeForm(f, keys), err
}

func wholeForm(f forms.Form, keys map[id.Segment]string) formRow {
	row := formRow{summaryOfForm(f, keys), make([]formField, len(f.Fields))}
	for i, one := range f.Fields {
		row.Fields[i] = formField{
			ID: one.ID, Type: one.Type, Binding: optional.Pointer(one.Binding), Label: one.Label, Placeholder: optional.Pointer(one.Placeholder), HelpText: optional.Pointer(one.HelpText),
			Required: one.Required, Input: optional.Pointer(one.Input), Options: one.Options, DefaultValue: fieldDefault{one.Default}, Param: optional.Pointer(one.Param), SortOrder: one.SortOrder,
		}
	}
	return row
}

func (api Forms) getForm(ctx context.Context, p auth.Principal, in *wire.RecordPath) (formRow, error) {
	f, err := api.find(ctx, p, in.ID)
	if err != nil {
		return formRow{}, err
	}
	return api.rowOf(ctx, f)
}

func (api Forms) find(ctx context.Context, p auth.Principal, text string) (forms.Form, error) {
	formID, err := wire.RecordID[id.Form](text, forms.ErrNotFound)
	if err != nil {
		return forms.Form{}, err
	}
	return forms.ByID(ctx, api.db, p.Tenant, formID)
}

type formEmbed struct {
	FormID         id.Form `json:"form_id" format:"uuid"`
	Slug           string  `json:"slug"`
	TrackingDomain *string `json:"tracking_domain" doc:"The host that serves the form; null: the account has no live tracking host."`
	HTML           string  `json:"html" doc:"Works without the script, too."`
	ScriptTag      string  `json:"script_tag"`
	Snippet        string  `json:"snippet" doc:"html and script_tag."`
	Installable    *bool   `json:"installable,omitempty" doc:"false if there is no tracking_domain: the addresses in the snippet are relative."`
}

func (api Forms) getFormEmbed(ctx context.Context, p auth.Principal, in *wire.RecordPath) (formEmbed, error) {
	f, err := api.find(ctx, p, in.ID)
	if err != nil {
		return formEmbed{}, err
	}
	return api.embed(ctx, f)
}

func (api Forms) previewForm(ctx context.Context, p auth.Principal, in *updateFormRequest) (formEmbed, error) {
	f, err := api.find(ctx, p, in.ID)
	if err == nil {
		f, err = f.With(ctx, api.db, in.Body.change())
	}
	if err != nil {
		return formEmbed{}, err
	}
	return api.embed(ctx, f)
}

// embed returns the code of a form.
func (api Forms) embed(ctx context.Context, f forms.Form) (formEmbed, error) {
	e, err := forms.EmbedCode(ctx, api.db, f, api.baseURL.Scheme)
	if err != nil {
		return formEmbed{}, err
	}
	out := formEmbed{f.ID, f.Slug, optional.Pointer(e.TrackingDomain), e.HTML, e.ScriptTag, e.HTML + e.ScriptTag, nil}
	if e.TrackingDomain == "" {
		out.Installable = new(false)
	}
	return out, nil
}

type createFormRequest struct{ Body formBody }

// formBody is the body of a create or an update; a new form needs a name.
type formBody struct {
	Name               endpoint.Opt[string]           `json:"name" nullable:"false"`
	AllowedOrigins     endpoint.Opt[[]string]         `json:"allowed_origins" doc:"Such as https://www.example.com; none: any."`
	SubmitLabel        endpoint.Opt[string]           `json:"submit_label" nullable:"false" doc:"Subscribe when absent."`
	SuccessMode        endpoint.Opt[string]           `json:"success_mode" nullable:"false" doc:"message or redirect."`
	SuccessMessage     endpoint.Opt[string]           `json:"success_message"`
	RedirectURL        endpoint.Opt[string]           `json:"redirect_url"`
	DoubleOptIn        endpoint.Opt[bool]             `json:"double_opt_in" nullable:"false" doc:"When absent: double_opt_in_default of the account."`
	ConfirmMessageID   endpoint.Opt[string]           `json:"confirm_message_id" doc:"A message of the library with {{ subscribe_confirm_url }}."`
	ConfirmRedirectURL endpoint.Opt[string]           `json:"confirm_redirect_url"`
	ListSegmentKeys    endpoint.Opt[[]string]         `json:"list_segment_keys" doc:"Static lists."`
	Tags               endpoint.Opt[[]string]         `json:"tags"`
	StageID            endpoint.Opt[string]           `json:"stage_id"`
	Captcha            endpoint.Opt[formCaptchaBody]  `json:"captcha" doc:"null: none."`
	Fields             endpoint.Opt[[]formFieldInput] `json:"fields" doc:"Replaces all fields."`
}

type formCaptchaBody struct {
	Provider  endpoint.Opt[string] `json:"provider" nullable:"false" doc:"none, turnstile or hcaptcha."`
	SiteKey   endpoint.Opt[string] `json:"site_key"`
	SecretKey endpoint.Opt[string] `json:"secret_key" doc:"Is not shown again."`
}

type formFieldInput struct {
	ID           endpoint.Opt[string]   `json:"id" nullable:"false" doc:"Assigned when absent."`
	Type         string                 `json:"type"`
	Binding      endpoint.Opt[string]   `json:"binding"`
	Label        endpoint.Opt[string]   `json:"label"`
	Placeholder  endpoint.Opt[string]   `json:"placeholder"`
	HelpText     endpoint.Opt[string]   `json:"help_text"`
	Required     endpoint.Opt[bool]     `json:"required" nullable:"false"`
	Input        endpoint.Opt[string]   `json:"input" doc:"Chosen by the binding when absent."`
	Options      endpoint.Opt[[]string] `json:"options" doc:"Of inputs select and radio."`
	DefaultValue any                    `json:"default_value,omitempty"`
	Param        endpoint.Opt[string]   `json:"param"`
	SortOrder    endpoint.Opt[int]      `json:"sort_order" nullable:"false" doc:"The position in the array when absent."`
}

func checkNewForm(_ auth.Principal, in *createFormRequest) error { return in.Body.change().CheckNew() }

func (api Forms) createForm(ctx context.Context, p auth.Principal, in *createFormRequest) (formRow, error) {
	f, err := forms.Create(ctx, api.db, api.box, p.Tenant, in.Body.change(), api.now())
	if err != nil {
		return formRow{}, err
	}
	return api.rowOf(ctx, f)
}

type updateFormRequest struct {
	wire.RecordPath
	Body formBody
}

func checkForm(_ auth.Principal, in *updateFormRequest) error { return in.Body.change().Check() }

func (api Forms) updateForm(ctx context.Context, p auth.Principal, in *updateFormRequest) (formRow, error) {
	formID, err := wire.RecordID[id.Form](in.ID, forms.ErrNotFound)
	if err != nil {
		return formRow{}, err
	}
	var secrets []string
	if c := in.Body.Captcha; c.Value.SecretKey.Set {
		secrets = []string{"captcha.secret_key"}
	}
	var f forms.Form
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "form", ID: formID.String(), Table: forms.Revisions, Key: formID, Secrets: secrets,
		Show: func(tx *sqldb.DB) (any, error) {
			f, err := forms.ByID(ctx, tx, p.Tenant, formID)
			if err != nil {
				return nil, err
			}
			f.SubmissionCount, f.LastSubmissionAt = 0, nil
			keys, err := segment.Keys(ctx, tx, p.Tenant, f.Lists)
			return wholeForm(f, keys), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			f, err = forms.Update(ctx, tx, api.box, p.Tenant, formID, in.Body.change(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return formRow{}, err
	}
	return api.rowOf(ctx, f)
}

func (api Forms) deleteForm(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	formID, err := wire.RecordID[id.Form](in.ID, forms.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, forms.Delete(ctx, api.db, p.Tenant, formID)
}

func (b *formBody) change() forms.Change {
	ch := forms.Change{
		Name: b.Name.Pointer(), Origins: wire.NullAsZero(b.AllowedOrigins), SubmitLabel: b.SubmitLabel.Pointer(), SuccessMode: b.SuccessMode.Pointer(),
		SuccessMessage: wire.NullAsZero(b.SuccessMessage), RedirectURL: wire.NullAsZero(b.RedirectURL), DoubleOptIn: b.DoubleOptIn.Pointer(),
		ConfirmMessage: wire.NullAsZero(b.ConfirmMessageID), ConfirmRedirectURL: wire.NullAsZero(b.ConfirmRedirectURL), ListKeys: wire.NullAsZero(b.ListSegmentKeys),
		Tags: wire.NullAsZero(b.Tags), Stage: wire.NullAsZero(b.StageID),
	}
	switch {
	case b.Captcha.Given():
		c := b.Captcha.Value
		ch.Captcha = &forms.CaptchaChange{Provider: c.Provider.Pointer(), SiteKey: wire.NullAsZero(c.SiteKey), SecretKey: wire.NullAsZero(c.SecretKey)}
	case b.Captcha.Set:
		ch.Captcha = &forms.CaptchaChange{Provider: new(forms.NoCaptcha), SiteKey: new(""), SecretKey: new("")}
	}
	if b.Fields.Set {
		fields := []forms.Field{}
		for i, in := range b.Fields.Or(nil) {
			fields = append(fields, forms.Field{
				ID: in.ID.Or(""), Type: forms.FieldType(in.Type), Binding: in.Binding.Or(""), Label: in.Label.Or(""), Placeholder: in.Placeholder.Or(""),
				HelpText: in.HelpText.Or(""), Required: in.Required.Or(false), Input: forms.Input(in.Input.Or("")), Options: in.Options.Or(nil),
				Default: in.DefaultValue, Param: in.Param.Or(""), SortOrder: in.SortOrder.Or(i),
			})
		}
		ch.Fields = &fields
	}
	return ch
}

type listSubmissionsRequest struct {
	wire.RecordPath
	endpoint.CursorQuery
}

type formSubmission struct {
	ID          id.FormSubmission `json:"id" format:"uuid"`
	Outcome     forms.Outcome     `json:"outcome" enum:"accepted,awaiting_confirmation,confirmed,spam"`
	ContactID   *id.Contact       `json:"contact_id" format:"uuid" doc:"null for spam, and after the contact was anonymised."`
	Email       *string           `json:"email"`
	Fields      map[string]any    `json:"fields" doc:"By binding."`
	Consents    []formConsent     `json:"consents" doc:"Those that were given."`
	PageURL     *string           `json:"page_url"`
	IP          *string           `json:"ip"`
	UserAgent   *string           `json:"user_agent"`
	SubmittedAt endpoint.Stamp    `json:"submitted_at"`
	ConfirmedAt *endpoint.Stamp   `json:"confirmed_at"`
}

type formConsent struct {
	Binding string `json:"binding"`
	Wording string `json:"wording"`
}

func (api Forms) listSubmissions(ctx context.Context, p auth.Principal, in *listSubmissionsRequest) (endpoint.List[formSubmission], error) {
	var none endpoint.List[formSubmission]
	formID, err := wire.RecordID[id.Form](in.ID, forms.ErrNotFound)
	if err != nil {
		return none, err
	}
	var after *forms.Position
	if in.Cursor != "" {
		from, err := wire.DecodeTimePosition[id.FormSubmission](api.cursors, in.Cursor, "submitted_at")
		if err != nil {
			return none, err
		}
		after = &forms.Position{At: from.At, ID: from.ID}
	}
	list, next, err := forms.Submissions(ctx, api.db, p.Tenant, formID, after, endpoint.Limit(in.Limit))
	if err != nil {
		return none, err
	}
	rows := make([]formSubmission, len(list))
	for i, s := range list {
		rows[i] = rowOfSubmission(s)
	}
	cursor := ""
	if next != nil {
		cursor = wire.TimePosition[id.FormSubmission]{At: next.At, ID: next.ID}.Encode(api.cursors, "submitted_at")
	}
	return endpoint.Page(rows, cursor), nil
}

func rowOfSubmission(s forms.Submission) formSubmission {
	row := formSubmission{
		ID: s.ID, Outcome: s.Outcome, ContactID: optional.Pointer(s.Contact), Email: optional.Pointer(s.Email), Fields: map[string]any{}, Consents: []formConsent{},
		PageURL: optional.Pointer(s.PageURL), IP: optional.Pointer(s.IP), UserAgent: optional.Pointer(s.Agent), SubmittedAt: endpoint.At(s.At), ConfirmedAt: endpoint.AtOr(s.ConfirmedAt),
	}
	for t, text := range s.Answers.Texts {
		row.Fields[string(t)] = text
	}
	for key, v := range s.Answers.CustomFields {
		row.Fields["custom_fields."+key] = v
	}
	for _, g := range s.Consents {
		row.Consents = append(row.Consents, formConsent{g.Binding, g.Wording})
	}
	return row
}
