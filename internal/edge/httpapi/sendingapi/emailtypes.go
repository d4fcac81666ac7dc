package sendingapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// EmailTypes serves email types and categories.
type EmailTypes struct {
	db    *sqldb.DB
	now   func() time.Time
	usage usage.Finder
}

// NewEmailTypes returns the operations on email types and categories.
func NewEmailTypes(e wire.Env, uses usage.Finder) EmailTypes {
	return EmailTypes{db: e.DB, now: e.Now, usage: uses}
}

// On returns the operations on another handle.
func (api EmailTypes) On(db *sqldb.DB) EmailTypes { api.db = db; return api }

// Register adds the operations on email types and categories.
func (api EmailTypes) Register(r *endpoint.Router) {
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
	}, api.ListEmailTypes)
	endpoint.Handle(r, "POST /t/{tenant}/api/email-types",
		made(write("createEmailType", "Create an email type.", sender.ErrTooManyEmailTypes).Once().Revised(sender.EmailTypeRevisions)).ExampleBody(`{"display_name": "Product news", "description": "Once a month", "list_key": "product-news"}`), wire.Once(api, api.db, EmailTypes.createEmailType), checkNewEmailType)
	endpoint.Handle(r, "PUT /t/{tenant}/api/email-types/{id}",
		write("updateEmailType", "Update an email type.", sender.ErrEmailTypeNotFound).IfMatch(sender.EmailTypeRevisions).ExampleBody(`{"display_name": "Product news, monthly", "sort_order": 2}`), api.updateEmailType, checkEmailType)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/email-types/{id}",
		write("deleteEmailType", "Delete an email type.", sender.ErrEmailTypeNotFound, sender.ErrEmailTypeInUse).IfMatch(sender.EmailTypeRevisions), api.deleteEmailType)

	endpoint.Handle(r, "GET /t/{tenant}/api/email-categories", endpoint.Op{
		Name: "listEmailCategories", Summary: "List email categories, in their order.",
		Tag: "email types", Scope: auth.SendingIdentitiesRead,
	}, api.ListEmailCategories)
	endpoint.Handle(r, "POST /t/{tenant}/api/email-categories",
		made(write("createEmailCategory", "Create an email category.", sender.ErrTooManyCategories).Once().Revised(sender.CategoryRevisions)).ExampleBody(`{"name": "News", "description": "What is new", "sort_order": 1}`), wire.Once(api, api.db, EmailTypes.createEmailCategory), checkNewEmailCategory)
	endpoint.Handle(r, "PUT /t/{tenant}/api/email-categories/{id}",
		write("updateEmailCategory", "Update an email category.", sender.ErrCategoryNotFound).IfMatch(sender.CategoryRevisions).ExampleBody(`{"name": "News and offers"}`), api.updateEmailCategory, checkEmailCategory)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/email-categories/{id}",
		write("deleteEmailCategory", "Delete an email category; its types become uncategorised, and contacts' choices for it become choices for each type.",
			sender.ErrCategoryNotFound).IfMatch(sender.CategoryRevisions), api.deleteEmailCategory)
}

type EmailTypeRow struct {
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

func (api EmailTypes) ListEmailTypes(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[EmailTypeRow], error) {
	list, err := sender.EmailTypes(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[EmailTypeRow]{}, err
	}
	rows := make([]EmailTypeRow, len(list))
	for i, t := range list {
		rows[i] = rowOfEmailType(t)
	}
	return endpoint.Whole(rows), nil
}

func rowOfEmailType(t sender.EmailType) EmailTypeRow {
	return EmailTypeRow{
		ID: t.ID, TenantID: t.Tenant, TypeKey: t.Key, DisplayName: t.DisplayName, Description: optional.Pointer(t.Description),
		UTMCampaignPrefix: optional.Pointer(t.UTMCampaignPrefix), CategoryID: optional.Pointer(t.Category), SortOrder: t.SortOrder,
		Active: t.Active, ListIDEnabled: t.ListIDEnabled, ListKey: optional.Pointer(t.ListKey), CreatedAt: endpoint.At(t.CreatedAt), Revision: t.Revision,
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

func (api EmailTypes) createEmailType(ctx context.Context, p auth.Principal, in *createEmailTypeRequest) (EmailTypeRow, error) {
	t, err := sender.CreateEmailType(ctx, api.db, p.Tenant, in.Body.fields(), api.now())
	if err != nil {
		return EmailTypeRow{}, err
	}
	endpoint.SetRevision(ctx, t.Revision)
	return rowOfEmailType(t), nil
}

// checked adds to err a problem with the category id of the body.
func (b emailTypeBody) checked(err error) error {
	var bad fault.Problems
	bad.AddFrom(err)
	wire.CheckID(&bad, "category_id", b.CategoryID, "no such email category")
	return bad.Err()
}

func (b emailTypeBody) fields() sender.EmailTypeFields {
	return sender.EmailTypeFields{
		Key: b.TypeKey.Pointer(), DisplayName: b.DisplayName.Pointer(), Description: wire.NullAsZero(b.Description),
		UTMCampaignPrefix: wire.NullAsZero(b.UTMCampaignPrefix), Category: wire.NullableID[id.Category](b.CategoryID), SortOrder: b.SortOrder.Pointer(),
		Active: b.Active.Pointer(), ListIDEnabled: b.ListIDEnabled.Pointer(), ListKey: wire.NullAsZero(b.ListKey),
	}
}

type emailCategoryBody struct {
	Name        endpoint.Opt[string] `json:"name" nullable:"false" doc:"Required when a category is created."`
	Description endpoint.Opt[string] `json:"description"`
	SortOrder   endpoint.Opt[int]    `json:"sort_order" nullable:"false"`
}

func (b emailCategoryBody) fields() sender.CategoryFields {
	return sender.CategoryFields{Name: b.Name.Pointer(), Description: wire.NullAsZero(b.Description), SortOrder: b.SortOrder.Pointer()}
}

type updateEmailTypeRequest struct {
	wire.RecordPath
	Body emailTypeBody
}

func checkEmailType(_ auth.Principal, in *updateEmailTypeRequest) error {
	return in.Body.checked(in.Body.fields().Check())
}

func (api EmailTypes) updateEmailType(ctx context.Context, p auth.Principal, in *updateEmailTypeRequest) (EmailTypeRow, error) {
	typ, err := wire.RecordID[id.EmailType](in.ID, sender.ErrEmailTypeNotFound)
	if err != nil {
		return EmailTypeRow{}, err
	}
	var t sender.EmailType
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "email_type", ID: typ.String(), Table: sender.EmailTypeRevisions, Key: typ,
		Show: func(tx *sqldb.DB) (any, error) {
			t, err := sender.EmailTypeByID(ctx, tx, p.Tenant, typ)
			return rowOfEmailType(t), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			t, err = sender.UpdateEmailType(ctx, tx, p.Tenant, typ, in.Body.fields(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return EmailTypeRow{}, err
	}
	endpoint.SetRevision(ctx, t.Revision)
	return rowOfEmailType(t), nil
}

func (api EmailTypes) deleteEmailType(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	typ, err := wire.RecordID[id.EmailType](in.ID, sender.ErrEmailTypeNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, sender.DeleteEmailType(ctx, api.db, p.Tenant, typ, api.usage)
}

type EmailCategoryRow struct {
	ID          id.Category    `json:"id" format:"uuid"`
	TenantID    id.Tenant      `json:"tenant_id" format:"uuid"`
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	SortOrder   int            `json:"sort_order"`
	CreatedAt   endpoint.Stamp `json:"created_at"`
	Revision    int64          `json:"revision" doc:"Raised by each change; the value of If-Match."`
}

func (api EmailTypes) ListEmailCategories(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[EmailCategoryRow], error) {
	list, err := sender.Categories(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[EmailCategoryRow]{}, err
	}
	rows := make([]EmailCategoryRow, len(list))
	for i, c := range list {
		rows[i] = rowOfEmailCategory(c)
	}
	return endpoint.Whole(rows), nil
}

func rowOfEmailCategory(c sender.Category) EmailCategoryRow {
	return EmailCategoryRow{c.ID, c.Tenant, c.Name, optional.Pointer(c.Description), c.SortOrder, endpoint.At(c.CreatedAt), c.Revision}
}

type createEmailCategoryRequest struct{ Body emailCategoryBody }

func checkNewEmailCategory(_ auth.Principal, in *createEmailCategoryRequest) error {
	return in.Body.fields().CheckNew()
}

func (api EmailTypes) createEmailCategory(ctx context.Context, p auth.Principal, in *createEmailCategoryRequest) (EmailCategoryRow, error) {
	c, err := sender.CreateCategory(ctx, api.db, p.Tenant, in.Body.fields(), api.now())
	if err != nil {
		return EmailCategoryRow{}, err
	}
	endpoint.SetRevision(ctx, c.Revision)
	return rowOfEmailCategory(c), nil
}

type updateEmailCategoryRequest struct {
	wire.RecordPath
	Body emailCategoryBody
}

func checkEmailCategory(_ auth.Principal, in *updateEmailCategoryRequest) error {
	return in.Body.fields().Check()
}

func (api EmailTypes) updateEmailCategory(ctx context.Context, p auth.Principal, in *updateEmailCategoryRequest) (EmailCategoryRow, error) {
	category, err := wire.RecordID[id.Category](in.ID, sender.ErrCategoryNotFound)
	if err != nil {
		return EmailCategoryRow{}, err
	}
	var c sender.Category
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "email_category", ID: category.String(), Table: sender.CategoryRevisions, Key: category,
		Show: func(tx *sqldb.DB) (any, error) {
			c, err := sender.CategoryByID(ctx, tx, p.Tenant, category)
			return rowOfEmailCategory(c), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			c, err = sender.UpdateCategory(ctx, tx, p.Tenant, category, in.Body.fields(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return EmailCategoryRow{}, err
	}
	endpoint.SetRevision(ctx, c.Revision)
	return rowOfEmailCategory(c), nil
}

func (api EmailTypes) deleteEmailCategory(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	category, err := wire.RecordID[id.Category](in.ID, sender.ErrCategoryNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, sender.DeleteCategory(ctx, api.db, p.Tenant, category, api.now())
}
