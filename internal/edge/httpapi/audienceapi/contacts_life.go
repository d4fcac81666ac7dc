package audienceapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// contactLife registers the operations on an existing contact: updating, deleting, restoring,
// anonymising and exporting it.
func (api Contacts) contactLife(r *endpoint.Router) {
	const path = "/t/{tenant}/api/contacts/{id}"
	update := func(name, summary string) endpoint.Op {
		return endpoint.Op{
			Name: name, Summary: summary,
			Description: "Absent fields are not changed, null clears a field; custom_fields and subscriptions are merged key by key, and null removes a key; tags are replaced. A pending contact becomes active. An anonymised contact is refused.",
			Tag:         "contacts", Scope: auth.ContactsWrite,
			Faults: []*fault.Error{
				contact.ErrNotFound, contact.ErrDuplicateEmail, contact.ErrDuplicateExternalID, contact.ErrAnonymized, contact.ErrInvalidStage,
				contact.ErrInvalidEmailType, contact.ErrLimit, field.ErrUnknown, field.ErrValue,
			},
		}
	}
	endpoint.Handle(r, "PUT "+path, update("updateContact", "Update a contact.").ExampleBody(`{"first_name": "Ada", "city": "London", "country": "GB", "timezone": "Europe/London"}`).IfMatch(contact.Revisions), api.updateContact, checkContact)
	endpoint.Handle(r, "PATCH "+path, update("patchContact", "Update a contact, as updateContact does.").ExampleBody(`{"company": "Analytical Engines", "tags": ["press", "partner"]}`).IfMatch(contact.Revisions), api.updateContact, checkContact)
	endpoint.Handle(r, "DELETE "+path, endpoint.Op{
		Name: "deleteContact", Summary: "Soft-delete a contact: its data stays, and it gets no mail.",
		Tag: "contacts", Scope: auth.ContactsWrite, Faults: []*fault.Error{contact.ErrNotFound},
	}.IfMatch(contact.Revisions), api.deleteContact)
	endpoint.Handle(r, "POST "+path+"/restore", endpoint.Op{
		Name: "restoreContact", Summary: "Restore a deleted contact with the status it had.",
		Tag: "contacts", Scope: auth.ContactsWrite, Faults: []*fault.Error{contact.ErrNotFound, contact.ErrTransition, contact.ErrLimit},
	}.IfMatch(contact.Revisions), api.restoreContact)
	endpoint.Handle(r, "POST "+path+"/anonymize", endpoint.Op{
		Name: "anonymizeContact", Summary: "Anonymize a contact permanently; counts stay.",
		Tag: "contacts", Session: true, Role: auth.Admin, Faults: []*fault.Error{contact.ErrNotFound},
	}.ExampleBody(`{"suppress": true}`).IfMatch(contact.Revisions), api.anonymizeContact)
	endpoint.Handle(r, "GET "+path+"/export", endpoint.Op{
		Name: "exportContact", Summary: "Export all data stored about a contact.",
		Tag: "contacts", Session: true, Faults: []*fault.Error{contact.ErrNotFound},
	}, api.exportContact)
}

type updateContactRequest struct {
	wire.RecordPath
	IncludeIdentityToken
	Body struct {
		Email endpoint.Opt[string] `json:"email" nullable:"false"`
		ContactProfile
	}
}

func checkContact(p auth.Principal, in *updateContactRequest) error {
	return in.draft(p, id.New[id.Contact]()).Check()
}

func (api Contacts) updateContact(ctx context.Context, p auth.Principal, in *updateContactRequest) (ContactWithIdentityToken, error) {
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	saved, err := api.saver.Save(ctx, p.Tenant, in.draft(p, c))
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	return api.writtenContact(ctx, p.Tenant, in.IncludeIdentityToken, saved)
}

func (in *updateContactRequest) draft(p auth.Principal, c id.Contact) contact.Draft {
	ch := in.Body.change(p)
	ch.Email, ch.ReplaceTags = in.Body.Email.Pointer(), true
	return contact.Draft{ID: c, Mode: contact.Updating, Change: ch}
}

func (api Contacts) deleteContact(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, transitionErr(contact.Delete(ctx, api.db, p.Tenant, []id.Contact{c}, api.now()))
}

// transitionErr returns the error of a change of status of one contact.
func transitionErr(list []contact.Moved, err error) error {
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.Err != nil {
			return m.Err
		}
	}
	return nil
}

func (api Contacts) restoreContact(ctx context.Context, p auth.Principal, in *wire.RecordPath) (Contact, error) {
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return Contact{}, err
	}
	t, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return Contact{}, err
	}
	if err := transitionErr(contact.Restore(ctx, api.db, p.Tenant, []id.Contact{c}, t.ContactLimit, api.now())); err != nil {
		return Contact{}, err
	}
	return api.loadForWrite(ctx, p.Tenant, c)
}

// loadForWrite loads a contact for the answer to a write.
func (api Contacts) loadForWrite(ctx context.Context, t id.Tenant, c id.Contact) (Contact, error) {
	now, err := contact.ByID(ctx, api.db, t, c)
	if err != nil {
		return Contact{}, err
	}
	endpoint.SetRevision(ctx, now.Revision)
	rows, err := api.rowsForWrite(ctx, t, now)
	if err != nil {
		return Contact{}, err
	}
	return rows[0], nil
}

type anonymizeContactRequest struct {
	wire.RecordPath
	Body *struct {
		Suppress *bool `json:"suppress,omitempty" doc:"Whether the bare address stays on the suppression list, so that it is never mailed again; true when absent."`
	}
}

func (api Contacts) anonymizeContact(ctx context.Context, p auth.Principal, in *anonymizeContactRequest) (Contact, error) {
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return Contact{}, err
	}
	suppress := in.Body == nil || in.Body.Suppress == nil || *in.Body.Suppress
	now := api.now()
	err = api.db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := suppression.Anonymize(ctx, tx, p.Tenant, []id.Contact{c}, suppress, api.personalData, now)
		if err := transitionErr(list, err); err != nil || !list[0].Changed {
			return err
		}
		return auth.Audit(ctx, tx, p.Did("contact.anonymize", "contact", c.String(), now))
	})
	if err != nil {
		return Contact{}, err
	}
	return api.loadForWrite(ctx, p.Tenant, c)
}

func (api Contacts) exportContact(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.Parts, error) {
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return endpoint.Parts{}, err
	}
	found, err := contact.ByID(ctx, api.db, p.Tenant, c)
	if err != nil {
		return endpoint.Parts{}, err
	}
	row, err := api.rowForRead(ctx, found)
	if err != nil {
		return endpoint.Parts{}, err
	}
	held, err := contact.Personal(ctx, api.db, found, api.personalData, outbox.Broadcasts)
	if err != nil {
		return endpoint.Parts{}, err
	}
	parts := endpoint.Parts{List: []endpoint.Part{{Name: "exported_at", Value: endpoint.At(api.now())}, {Name: "contact", Value: row}}}
	for _, h := range held {
		parts.List = append(parts.List, endpoint.Part{Name: h.Name, Rows: h.Records})
	}
	return parts, nil
}

// touchesOf returns the sources of a contact, or none if they cannot be decoded.
func touchesOf(c *contact.Contact) ContactTouches {
	t, _ := c.Touches()
	return ContactTouches{
		FirstTouchAt: endpoint.AtOr(t.FirstAt), FirstTouchCampaign: t.FirstCampaign, FirstTouchCountry: t.FirstCountry,
		FirstTouchLandingURL: t.FirstLandingURL, FirstTouchMedium: t.FirstMedium, FirstTouchReferrer: t.FirstReferrer,
		FirstTouchSource: t.FirstSource, FirstTouchTimezone: t.FirstTimezone,
		LastTouchAt: endpoint.AtOr(t.LastAt), LastTouchCampaign: t.LastCampaign, LastTouchMedium: t.LastMedium, LastTouchSource: t.LastSource,
	}
}
