package httpapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// emailTypesAPI serves email types and categories.
type emailTypesAPI struct {
	db    *sqldb.DB
	now   func() time.Time
	usage usage.Finder
}

// newEmailTypes returns the operations on email types and categories.
func newEmailTypes(e Env, uses usage.Finder) emailTypesAPI {
	return emailTypesAPI{db: e.DB, now: e.Now, usage: uses}
}

// on returns the operations on another handle.
func (api emailTypesAPI) on(db *sqldb.DB) emailTypesAPI { api.db = db; return api }

// register adds the operations on email types and categories.
func (api emailTypesAPI) register(r *endpoint.Router) {
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "email types", Session: true, Role: auth.Admin, Faults: faults}
	}
	made := func(op endpoint.Op) endpoint.Op {
		op.Status = 201
		return op
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/email-types", endpoint.Op{
		Name: "listEmailTypes", Summary: "List email types, in their order.",
		Tag: "email types", Scope: auth.SendingIdentitiesRead,
	}, api.listEmailTypes)
	endpoint.Handle(r, "POST /t/{tenant}/api/email-types",
		made(write("createEmailType", "Create an email type.", sender.ErrTooManyEmailTypes).Once().Revised(sender.EmailTypeRevisions)).ExampleBody(`{"display_name": "Product news", "description": "Once a month", "list_key": "product-news"}`), once(api, api.db, emailTypesAPI.createEmailType), checkNewEmailType)
	endpoint.Handle(r, "PUT /t/{tenant}/api/email-types/{id}",
		write("updateEmailType", "Update an email type.", sender.ErrEmailTypeNotFound).IfMatch(sender.EmailTypeRevisions).ExampleBody(`{"display_name": "Product news, monthly", "sort_order": 2}`), api.updateEmailType, checkEmailType)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/email-types/{id}",
		write("deleteEmailType", "Delete an email type.", sender.ErrEmailTypeNotFound, sender.ErrEmailTypeInUse).IfMatch(sender.EmailTypeRevisions), api.deleteEmailType)

	endpoint.Handle(r, "GET /t/{tenant}/api/email-categories", endpoint.Op{
		Name: "listEmailCategories", Summary: "List email categories, in their order.",
		Tag: "email types", Scope: auth.SendingIdentitiesRead,
	}, api.listEmailCategories)
	endpoint.Handle(r, "POST /t/{tenant}/api/email-categories",
		made(write("createEmailCategory", "Create an email category.", sender.ErrTooManyCategories).Once().Revised(sender.CategoryRevisions)).ExampleBody(`{"name": "News", "description": "What is new", "sort_order": 1}`), once(api, api.db, emailTypesAPI.createEmailCategory), checkNewEmailCategory)
	endpoint.Handle(r, "PUT /t/{tenant}/api/email-categories/{id}",
		write("updateEmailCategory", "Update an email category.", sender.ErrCategoryNotFound).IfMatch(sender.CategoryRevisions).ExampleBody(`{"name": "News and offers"}`), api.updateEmailCategory, checkEmailCategory)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/email-categories/{id}",
		write("deleteEmailCategory", "Delete an email category; its types become uncategorised, and contacts' choices for it become choices for each type.",
			sender.ErrCategoryNotFound).IfMatch(sender.CategoryRevisions), api.deleteEmailCategory)
}

type emailTypeRow struct {
	ID                id.EmailType   `json:"id" format:"uuid"`
	TenantID          id.Tenant      `json:"tenant_id" format:"uuid"`
	TypeKey           string         `json:"type_key" doc:"The value of email_type_key."`
	DisplayName       string         `json:"display_name"`
	Description       *string        `json:"description"`
	UTMCampaignPrefix *string        `json:"utm_campaign_prefix" doc:"Prefix of utm_campaign on tracked links."`
	CategoryID        *id.Category   `json:"category_id" format:"uuid"`
	SortOrder         int            `json:"sort_order"`
	Active            bool           `json:"active"`
	ListIDEnabled     bool           `json:"list_id_enabled" doc:"Whether its mails have a List-ID header."`
	ListKey           *string        `json:"list_key" doc:"Label of List-ID and Feedback-ID; null means type_key."`
	CreatedAt         endpoint.Stamp `json:"created_at"`
	Revision          int64          `json:"revision" doc:"Raised by each change; the value of If-Match."`
}

func (api emailTypesAPI) listEmailTypes(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[emailTypeRow], error) {
	list, err := sender.EmailTypes(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[emailTypeRow]{}, err
	}
	rows := make([]emailTypeRow, len(list))
	for i, t := range list {
		rows[i] = rowOfEmailType(t)
	}
	return endpoint.Whole(rows), nil
}

func rowOfEmailType(t sender.EmailType) emailTypeRow {
	return emailTypeRow{
		ID: t.ID, TenantID: t.Tenant, TypeKey: t.Key, DisplayName: t.DisplayName, Description: orNull(t.Description),
		UTMCampaignPrefix: orNull(t.UTMCampaignPrefix), CategoryID: orNull(t.Category), SortOrder: t.SortOrder,
		Active: t.Active, ListIDEnabled: t.ListIDEnabled, ListKey: orNull(t.ListKey), CreatedAt: endpoint.At(t.CreatedAt), Revision: t.Revision,
	}
}

type createEmailTypeRequest struct{ Body emailTypeBody }

type emailTypeBody struct {
	TypeKey           endpoint.Opt[string] `json:"type_key"`
	DisplayName       endpoint.Opt[string] `json:"display_name" nullable:"false" doc:"Required when a type is created."`
	Description       endpoint.Opt[string] `json:"description"`
	UTMCampaignPrefix endpoint.Opt[string] `json:"utm_campaign_prefix"`
	CategoryID        endpoint.Opt[string] `json:"category_id"`
	SortOrder         endpoint.Opt[int]    `json:"sort_order" nullable:"false"`
	Active            endpoint.Opt[bool]   `json:"active" nullable:"false"`
	ListIDEnabled     endpoint.Opt[bool]   `json:"list_id_enabled" nullable:"false"`
	ListKey           endpoint.Opt[string] `json:"list_key"`
}

func checkNewEmailType(_ auth.Principal, in *createEmailTypeRequest) error {
	return in.Body.checked(in.Body.fields().CheckNew())
}

func (api emailTypesAPI) createEmailType(ctx context.Context, p auth.Principal, in *createEmailTypeRequest) (emailTypeRow, error) {
	t, err := sender.CreateEmailType(ctx, api.db, p.Tenant, in.Body.fields(), api.now())
	if err != nil {
		return emailTypeRow{}, err
	}
	endpoint.SetRevision(ctx, t.Revision)
	return rowOfEmailType(t), nil
}

// checked adds to err a problem with the category id of the body.
func (b emailTypeBody) checked(err error) error {
	var bad fault.Problems
	bad.AddFrom(err)
	checkID(&bad, "category_id", b.CategoryID, "no such email category")
	return bad.Err()
}

func (b emailTypeBody) fields() sender.EmailTypeFields {
	return sender.EmailTypeFields{
		Key: b.TypeKey.Pointer(), DisplayName: b.DisplayName.Pointer(), Description: nullAsZero(b.Description),
		UTMCampaignPrefix: nullAsZero(b.UTMCampaignPrefix), Category: nullableID[id.Category](b.CategoryID), SortOrder: b.SortOrder.Pointer(),
		Active: b.Active.Pointer(), ListIDEnabled: b.ListIDEnabled.Pointer(), ListKey: nullAsZero(b.ListKey),
	}
}

type emailCategoryBody struct {
	Name        endpoint.Opt[string] `json:"name" nullable:"false" doc:"Required when a category is created."`
	Description endpoint.Opt[string] `json:"description"`
	SortOrder   endpoint.Opt[int]    `json:"sort_order" nullable:"false"`
}

func (b emailCategoryBody) fields() sender.CategoryFields {
	return sender.CategoryFields{Name: b.Name.Pointer(), Description: nullAsZero(b.Description), SortOrder: b.SortOrder.Pointer()}
}

type updateEmailTypeRequest struct {
	RecordPath
	Body emailTypeBody
}

func checkEmailType(_ auth.Principal, in *updateEmailTypeRequest) error {
	return in.Body.checked(in.Body.fields().Check())
}

func (api emailTypesAPI) updateEmailType(ctx context.Context, p auth.Principal, in *updateEmailTypeRequest) (emailTypeRow, error) {
	typ, err := recordID[id.EmailType](in.ID, sender.ErrEmailTypeNotFound)
	if err != nil {
		return emailTypeRow{}, err
	}
	t, err := sender.UpdateEmailType(ctx, api.db, p.Tenant, typ, in.Body.fields(), api.now())
	if err != nil {
		return emailTypeRow{}, err
	}
	endpoint.SetRevision(ctx, t.Revision)
	return rowOfEmailType(t), nil
}

func (api emailTypesAPI) deleteEmailType(ctx context.Context, p auth.Principal, in *RecordPath) (endpoint.None, error) {
	typ, err := recordID[id.EmailType](in.ID, sender.ErrEmailTypeNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, sender.DeleteEmailType(ctx, api.db, p.Tenant, typ, api.usage)
}

type emailCategoryRow struct {
	ID          id.Category    `json:"id" format:"uuid"`
	TenantID    id.Tenant      `json:"tenant_id" format:"uuid"`
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	SortOrder   int            `json:"sort_order"`
	CreatedAt   endpoint.Stamp `json:"created_at"`
	Revision    int64          `json:"revision" doc:"Raised by each change; the value of If-Match."`
}

func (api emailTypesAPI) listEmailCategories(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[emailCategoryRow], error) {
	list, err := sender.Categories(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[emailCategoryRow]{}, err
	}
	rows := make([]emailCategoryRow, len(list))
	for i, c := range list {
		rows[i] = rowOfEmailCategory(c)
	}
	return endpoint.Whole(rows), nil
}

func rowOfEmailCategory(c sender.Category) emailCategoryRow {
	return emailCategoryRow{c.ID, c.Tenant, c.Name, orNull(c.Description), c.SortOrder, endpoint.At(c.CreatedAt), c.Revision}
}

type createEmailCategoryRequest struct{ Body emailCategoryBody }

func checkNewEmailCategory(_ auth.Principal, in *createEmailCategoryRequest) error {
	return in.Body.fields().CheckNew()
}

func (api emailTypesAPI) createEmailCategory(ctx context.Context, p auth.Principal, in *createEmailCategoryRequest) (emailCategoryRow, error) {
	c, err := sender.CreateCategory(ctx, api.db, p.Tenant, in.Body.fields(), api.now())
	if err != nil {
		return emailCategoryRow{}, err
	}
	endpoint.SetRevision(ctx, c.Revision)
	return rowOfEmailCategory(c), nil
}

type updateEmailCategoryRequest struct {
	RecordPath
	Body emailCategoryBody
}

func checkEmailCategory(_ auth.Principal, in *updateEmailCategoryRequest) error {
	return in.Body.fields().Check()
}

func (api emailTypesAPI) updateEmailCategory(ctx context.Context, p auth.Principal, in *updateEmailCategoryRequest) (emailCategoryRow, error) {
	category, err := recordID[id.Category](in.ID, sender.ErrCategoryNotFound)
	if err != nil {
		return emailCategoryRow{}, err
	}
	c, err := sender.UpdateCategory(ctx, api.db, p.Tenant, category, in.Body.fields(), api.now())
	if err != nil {
		return emailCategoryRow{}, err
	}
	endpoint.SetRevision(ctx, c.Revision)
	return rowOfEmailCategory(c), nil
}

func (api emailTypesAPI) deleteEmailCategory(ctx context.Context, p auth.Principal, in *RecordPath) (endpoint.None, error) {
	category, err := recordID[id.Category](in.ID, sender.ErrCategoryNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, sender.DeleteCategory(ctx, api.db, p.Tenant, category, api.now())
}
