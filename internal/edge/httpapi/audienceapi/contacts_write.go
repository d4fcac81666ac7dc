package audienceapi

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
)

type createContactRequest struct {
	IncludeIdentityToken
	Body ContactInput
}

// IncludeIdentityToken is the parameter that requests identity_token. It has no effect while identity
// signing is disabled.
type IncludeIdentityToken struct {
	IncludeIdentityToken string `query:"include_identity_token" as:"boolean" default:"false" doc:"true adds identity_token, when identity signing is configured."`
}

// ContactInput is the body that creates or merges a contact. Absent fields are not changed, null
// clears a field.
type ContactInput struct {
	Email string `json:"email"`
	ContactProfile
}

// ContactProfile are the fields of a body other than the address.
type ContactProfile struct {
	FirstName    endpoint.Opt[string] `json:"first_name"`
	LastName     endpoint.Opt[string] `json:"last_name"`
	FullName     endpoint.Opt[string] `json:"full_name" doc:"Sets first_name and last_name if both are absent."`
	Title        endpoint.Opt[string] `json:"title"`
	Company      endpoint.Opt[string] `json:"company"`
	Phone        endpoint.Opt[string] `json:"phone"`
	Website      endpoint.Opt[string] `json:"website"`
	AddressLine1 endpoint.Opt[string] `json:"address_line1"`
	AddressLine2 endpoint.Opt[string] `json:"address_line2"`
	City         endpoint.Opt[string] `json:"city"`
	State        endpoint.Opt[string] `json:"state"`
	PostalCode   endpoint.Opt[string] `json:"postal_code"`
	Country      endpoint.Opt[string] `json:"country" doc:"ISO 3166-1 alpha-2."`
	Timezone     endpoint.Opt[string] `json:"timezone" doc:"IANA name."`
	ExternalID   endpoint.Opt[string] `json:"external_id"`
	Source       endpoint.Opt[string] `json:"source"`
	StageID      endpoint.Opt[string] `json:"stage_id" format:"uuid"`

	CustomFields  map[string]any                `json:"custom_fields,omitempty" doc:"By field key; null removes."`
	Subscriptions map[string]endpoint.Opt[bool] `json:"subscriptions,omitempty" doc:"By email type key or id; null removes."`
	Tags          []string                      `json:"tags,omitempty"`
	DoNotContact  *bool                         `json:"do_not_contact,omitempty"`

	// From sessions only; ignored from API keys.
	CategorySubscriptions map[string]endpoint.Opt[bool] `json:"category_subscriptions,omitempty" doc:"By email category id; null removes. Read-only for API keys."`
}

// ContactWithIdentityToken is a contact in the answer to a write.
type ContactWithIdentityToken struct {
	Contact
	IdentityToken *string `json:"identity_token,omitempty" doc:"Identifies the contact to the website tracker of the account for 30 days. Only on request, if identity signing is configured."`
}

func checkNewContact(p auth.Principal, in *createContactRequest) error { return in.draft(p).Check() }

func (api Contacts) createContact(ctx context.Context, p auth.Principal, in *createContactRequest) (ContactWithIdentityToken, error) {
	saved, err := api.saver.Save(ctx, p.Tenant, in.draft(p))
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	return api.writtenContact(ctx, p.Tenant, in.IncludeIdentityToken, saved)
}

func (in *createContactRequest) draft(p auth.Principal) contact.Draft {
	return contact.Draft{Email: in.Body.Email, Mode: contact.Creating, Change: in.Body.change(p)}
}

// change returns the change of a contact that the fields describe.
func (in *ContactProfile) change(p auth.Principal) contact.Change {
	ch := contact.Change{
		Texts:         map[contact.Text]*string{},
		Stage:         wire.NullAsZero(in.StageID),
		CustomFields:  in.CustomFields,
		Subscriptions: consents(in.Subscriptions),
		DoNotContact:  in.DoNotContact,
	}
	for text, o := range map[contact.Text]endpoint.Opt[string]{
		contact.FirstName: in.FirstName, contact.LastName: in.LastName, contact.FullName: in.FullName,
		contact.Title: in.Title, contact.Company: in.Company, contact.Phone: in.Phone, contact.Website: in.Website,
		contact.AddressLine1: in.AddressLine1, contact.AddressLine2: in.AddressLine2, contact.City: in.City,
		contact.State: in.State, contact.PostalCode: in.PostalCode, contact.Country: in.Country,
		contact.Timezone: in.Timezone, contact.ExternalID: in.ExternalID, contact.Source: in.Source,
	} {
		if o.Set {
			ch.Texts[text] = o.Pointer()
		}
	}
	if in.Tags != nil {
		ch.Tags = &in.Tags
	}
	if !p.IsKey() {
		ch.CategorySubscriptions = consents(in.CategorySubscriptions)
	}
	return ch
}

func consents(m map[string]endpoint.Opt[bool]) map[string]*bool {
	out := make(map[string]*bool, len(m))
	for k, v := range m {
		out[k] = v.Pointer()
	}
	return out
}

type upsertContactRequest struct {
	IncludeIdentityToken
	Body struct {
		ContactInput
		StageIDIfNew endpoint.Opt[string] `json:"stage_id_if_new" format:"uuid" doc:"The stage of a contact that is created; stage_id wins."`
	}
}

func (in *upsertContactRequest) draft(p auth.Principal) contact.Draft {
	ch := in.Body.change(p)
	ch.StageIfNew = wire.NullAsZero(in.Body.StageIDIfNew)
	return contact.Draft{Email: in.Body.Email, Change: ch}
}

// writtenContact returns the answer to a write of a contact, with its token if that is requested.
func (api Contacts) writtenContact(ctx context.Context, t id.Tenant, in IncludeIdentityToken, s contact.Outcome) (ContactWithIdentityToken, error) {
	endpoint.SetRevision(ctx, s.Contact.Revision)
	rows, err := api.rowsForWrite(ctx, t, s.Contact)
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	row := ContactWithIdentityToken{Contact: rows[0]}
	if !in.requested() {
		return row, nil
	}
	now := api.now()
	signer, err := auth.LoadIdentitySigner(ctx, api.db, api.box, t, now)
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	row.IdentityToken = optional.Pointer(signer.Token(s.Contact.ID, now))
	return row, nil
}

func (in IncludeIdentityToken) requested() bool {
	return endpoint.Flag(in.IncludeIdentityToken)
}

// upsertedContact is a contact and whether it was created.
type upsertedContact struct {
	ContactWithIdentityToken
	created bool
}

// Status is 201 for a contact that was created.
func (c upsertedContact) Status() int {
	if c.created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func checkUpsert(p auth.Principal, in *upsertContactRequest) error { return in.draft(p).Check() }

func (api Contacts) upsertContact(ctx context.Context, p auth.Principal, in *upsertContactRequest) (upsertedContact, error) {
	saved, err := api.saver.Save(ctx, p.Tenant, in.draft(p))
	if err != nil {
		return upsertedContact{}, err
	}
	row, err := api.writtenContact(ctx, p.Tenant, in.IncludeIdentityToken, saved)
	return upsertedContact{row, saved.Created}, err
}
