package audienceapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// CustomFields serves custom fields.
type CustomFields struct {
	db    *sqldb.DB
	now   func() time.Time
	usage usage.Finder
}

// NewCustomFields returns the operations on custom fields.
func NewCustomFields(e wire.Env, uses usage.Finder) CustomFields {
	return CustomFields{db: e.DB, now: e.Now, usage: uses}
}

// On returns the operations on another handle.
func (api CustomFields) On(db *sqldb.DB) CustomFields { api.db = db; return api }

// Register adds the operations on custom fields.
func (api CustomFields) Register(r *endpoint.Router) {
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "custom fields", Scope: auth.CustomFieldsRead, Faults: faults}
	}
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "custom fields", Session: true, Role: auth.Admin, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/settings/custom-fields",
		read("listCustomFields", "List custom field definitions."), api.ListCustomFields)
	endpoint.Handle(r, "GET /t/{tenant}/api/settings/custom-fields/{id}/usage",
		read("getCustomFieldUsage", "Count the uses of a custom field, by source.", field.ErrNotFound).WithTitle("Custom field usage"), api.customFieldUsage)
	create := write("createCustomField", "Create a custom field.", field.ErrInvalid, field.ErrDuplicateKey, field.ErrLimit).Once()
	create.Status, create.FieldFaults = http.StatusCreated, definitionFaults
	endpoint.Handle(r, "POST /t/{tenant}/api/settings/custom-fields", create.ExampleBody(`{"name": "Favourite genre", "field_type": "enum", "enum_values": ["crime", "poetry", "travel"]}`), wire.Once(api, api.db, CustomFields.createCustomField), checkNewCustomField)
	update := write("updateCustomField", "Update a custom field.", field.ErrInvalid, field.ErrNotFound)
	update.FieldFaults = definitionFaults
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings/custom-fields/{id}", update.ExampleBody(`{"name": "Plan of the customer", "default_value": "free"}`), api.updateCustomField, checkCustomField)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/settings/custom-fields/{id}",
		write("deleteCustomField", "Delete a custom field and its values.", field.ErrNotFound, field.ErrInUse), api.deleteCustomField)
}

// definitionFaults are the faults of the fields of a definition.
var definitionFaults = map[string]*fault.Error{
	"field_key": field.ErrInvalid, "enum_values": field.ErrInvalid, "value_constraint": field.ErrInvalid,
	"currency_code": field.ErrInvalid, "default_value": field.ErrInvalid,
}

type CustomFieldRow struct {
	ID              id.Field         `json:"id" format:"uuid"`
	TenantID        id.Tenant        `json:"tenant_id" format:"uuid"`
	Name            string           `json:"name"`
	FieldKey        string           `json:"field_key" doc:"The key of the values in contacts."`
	FieldType       field.Type       `json:"field_type" enum:"string,number,boolean,date,datetime,time,enum,tags,email,url,timezone,country,currency,contact"`
	EnumValues      []string         `json:"enum_values" nullable:"true"`
	ValueConstraint field.Constraint `json:"value_constraint" enum:"strict,open"`
	CurrencyCode    *string          `json:"currency_code"`
	DefaultValue    any              `json:"default_value" doc:"Used in mails to contacts without a value."`
	CreatedAt       endpoint.Stamp   `json:"created_at"`
}

func (api CustomFields) ListCustomFields(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[CustomFieldRow], error) {
	list, err := field.List(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[CustomFieldRow]{}, err
	}
	rows := make([]CustomFieldRow, len(list))
	for i, f := range list {
		rows[i] = rowOfCustomField(p.Tenant, f)
	}
	return endpoint.Whole(rows), nil
}

func rowOfCustomField(t id.Tenant, f field.Field) CustomFieldRow {
	return CustomFieldRow{
		ID: f.ID, TenantID: t, Name: f.Name, FieldKey: f.Key, FieldType: f.Type, EnumValues: f.EnumValues,
		ValueConstraint: f.Constraint, CurrencyCode: optional.Pointer(f.CurrencyCode), DefaultValue: f.Default, CreatedAt: endpoint.At(f.CreatedAt),
	}
}

type customFieldUsage struct {
	Usage map[string]int `json:"usage" doc:"Number of uses by source. A field can be deleted only while nothing but contacts uses it."`
}

func (api CustomFields) customFieldUsage(ctx context.Context, p auth.Principal, in *wire.RecordPath) (customFieldUsage, error) {
	key, err := wire.RecordID[id.Field](in.ID, field.ErrNotFound)
	if err != nil {
		return customFieldUsage{}, err
	}
	f, err := field.ByID(ctx, api.db, p.Tenant, key)
	if err != nil {
		return customFieldUsage{}, err
	}
	n, err := contact.CountField(ctx, api.db, p.Tenant, f.Key)
	if err != nil {
		return customFieldUsage{}, err
	}
	holders, err := api.usage.Find(ctx, api.db, p.Tenant, usage.Subject{Kind: usage.Field, ID: f.ID.String(), Key: f.Key})
	if err != nil {
		return customFieldUsage{}, err
	}
	return customFieldUsage{field.Counts(n, holders)}, nil
}

type createCustomFieldRequest struct {
	Body struct {
		Name            string                 `json:"name"`
		FieldType       string                 `json:"field_type"`
		FieldKey        endpoint.Opt[string]   `json:"field_key" doc:"Derived from name when absent."`
		EnumValues      endpoint.Opt[[]string] `json:"enum_values"`
		ValueConstraint endpoint.Opt[string]   `json:"value_constraint" doc:"strict when absent."`
		CurrencyCode    endpoint.Opt[string]   `json:"currency_code" doc:"ISO 4217; required for currency fields."`
		DefaultValue    any                    `json:"default_value,omitempty"`
	}
}

func checkNewCustomField(_ auth.Principal, in *createCustomFieldRequest) error {
	return in.draft().Check()
}

func (api CustomFields) createCustomField(ctx context.Context, p auth.Principal, in *createCustomFieldRequest) (CustomFieldRow, error) {
	f, err := contact.CreateField(ctx, api.db, p.Tenant, in.draft(), api.now())
	if err != nil {
		return CustomFieldRow{}, err
	}
	return rowOfCustomField(p.Tenant, f), nil
}

func (in *createCustomFieldRequest) draft() field.Draft {
	b := &in.Body
	return field.Draft{
		Name: b.Name, Key: b.FieldKey.Or(""), Type: field.Type(b.FieldType), EnumValues: b.EnumValues.Or(nil),
		Constraint: field.Constraint(b.ValueConstraint.Or("")), CurrencyCode: b.CurrencyCode.Or(""), Default: b.DefaultValue,
	}
}

type updateCustomFieldRequest struct {
	wire.RecordPath
	Body struct {
		Name            endpoint.Opt[string]   `json:"name" nullable:"false"`
		EnumValues      endpoint.Opt[[]string] `json:"enum_values"`
		ValueConstraint endpoint.Opt[string]   `json:"value_constraint" nullable:"false"`
		DefaultValue    endpoint.Opt[any]      `json:"default_value"`
		FieldKey        endpoint.Opt[string]   `json:"field_key" doc:"Cannot be changed."`
		FieldType       endpoint.Opt[string]   `json:"field_type" doc:"Cannot be changed."`
		CurrencyCode    endpoint.Opt[string]   `json:"currency_code" doc:"Cannot be changed."`
	}
}

func checkCustomField(_ auth.Principal, in *updateCustomFieldRequest) error {
	return in.change().Check()
}

func (api CustomFields) updateCustomField(ctx context.Context, p auth.Principal, in *updateCustomFieldRequest) (CustomFieldRow, error) {
	key, err := wire.RecordID[id.Field](in.ID, field.ErrNotFound)
	if err != nil {
		return CustomFieldRow{}, err
	}
	var f field.Field
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Begin:  func(tx *sqldb.DB) error { return field.Lock(ctx, tx, p.Tenant, key) },
		Action: "update", Target: "custom_field", ID: key.String(),
		Show: func(tx *sqldb.DB) (any, error) {
			f, err := field.ByID(ctx, tx, p.Tenant, key)
			return rowOfCustomField(p.Tenant, f), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			f, err = contact.UpdateField(ctx, tx, p.Tenant, key, in.change())
			return err
		},
	}, api.now())
	if err != nil {
		return CustomFieldRow{}, err
	}
	return rowOfCustomField(p.Tenant, f), nil
}

func (in *updateCustomFieldRequest) change() field.Change {
	b := &in.Body
	ch := field.Change{
		Name: b.Name.Pointer(), Constraint: (*field.Constraint)(b.ValueConstraint.Pointer()),
		Key: wire.NullAsZero(b.FieldKey), Type: (*field.Type)(wire.NullAsZero(b.FieldType)), CurrencyCode: wire.NullAsZero(b.CurrencyCode),
	}
	if b.EnumValues.Set {
		ch.EnumValues = new(b.EnumValues.Or(nil))
	}
	if b.DefaultValue.Set {
		ch.Default = new(b.DefaultValue.Or(nil))
	}
	return ch
}

func (api CustomFields) deleteCustomField(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	key, err := wire.RecordID[id.Field](in.ID, field.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, contact.DeleteField(ctx, api.db, p.Tenant, key, api.usage, api.now())
}
