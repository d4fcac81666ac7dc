package audienceapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// rowsForRead returns the rows of contacts for the answer to a read.
func (api Contacts) rowsForRead(ctx context.Context, t id.Tenant, list ...contact.Contact) ([]Contact, error) {
	rows, err := api.rowsForWrite(ctx, t, list...)
	for i := range rows {
		rows[i].LastActivityPending = &list[i].LastActivityPending
	}
	return rows, err
}

// rowForRead returns the row of one contact for the answer to a read.
func (api Contacts) rowForRead(ctx context.Context, c contact.Contact) (Contact, error) {
	rows, err := api.rowsForRead(ctx, c.Tenant, c)
	if err != nil {
		return Contact{}, err
	}
	return rows[0], nil
}

// rowsForWrite returns the rows of contacts for the answer to a write, which have no
// last_activity_pending.
func (api Contacts) rowsForWrite(ctx context.Context, t id.Tenant, list ...contact.Contact) ([]Contact, error) {
	var types contact.Types
	domains := make([]string, len(list))
	asked := false
	for i, c := range list {
		domains[i] = c.EmailDomain
		if !asked && len(c.Subscriptions)+len(c.CategorySubscriptions) > 0 { // else the email types do not affect the rows
			var err error
			if types, err = sender.ContactTypes(ctx, api.db, t); err != nil {
				return nil, err
			}
			asked = true
		}
	}
	known, err := api.providers.Of(ctx, domains...)
	if err != nil {
		return nil, err
	}
	rows := make([]Contact, len(list))
	for i, c := range list {
		rows[i] = rowOfContact(c, types, known[c.EmailDomain])
	}
	return rows, nil
}

// rowOfContact returns the row of c without LastActivityPending.
func rowOfContact(c contact.Contact, types contact.Types, domain maildomain.Domain) Contact {
	return Contact{
		ID: c.ID, TenantID: c.Tenant, Email: c.Email, ExternalID: c.ExternalID, FirstName: c.FirstName, LastName: c.LastName,
		FullName: c.FullName, Title: c.Title, Company: c.Company, Phone: c.Phone, Website: c.Website, Timezone: c.Timezone,
		AddressLine1: c.AddressLine1, AddressLine2: c.AddressLine2, City: c.City, State: c.State, PostalCode: c.PostalCode,
		Country: c.Country, Source: c.Source, StageID: optional.Pointer(c.Stage),
		CustomFields: c.CustomFields, Tags: c.Tags, Subscriptions: c.EffectiveSubscriptions(types), CategorySubscriptions: c.CategorySubscriptions,
		GlobalStatus: c.Status, StatusBeforeSuppress: optional.Pointer(c.StatusBeforeSuppress), DoNotContact: c.DoNotContact,
		BounceType: optional.Pointer(c.BounceType), DeliverabilityStatus: c.DeliverabilityStatus, DeliverabilityReason: optional.Pointer(c.DeliverabilityReason),
		DeliverabilityUpdatedAt: endpoint.At(c.DeliverabilityUpdatedAt),
		CreatedAt:               endpoint.At(c.CreatedAt), UpdatedAt: endpoint.At(c.UpdatedAt), AnonymizedAt: endpoint.AtOr(c.AnonymizedAt),
		SuppressedAt: endpoint.AtOr(c.SuppressedAt), UnsubscribedAt: endpoint.AtOr(c.UnsubscribedAt),
		MemberAddedAt: endpoint.AtOr(c.MemberAddedAt), ScoreUpdatedAt: endpoint.AtOr(c.ScoreUpdatedAt),
		LastActivityAt: endpoint.AtOr(c.LastActivityAt), LastEmailSentAt: endpoint.AtOr(c.LastEmailSentAt),
		LastEmailOpenedAt: endpoint.AtOr(c.LastEmailOpenedAt), LastEmailClickedAt: endpoint.AtOr(c.LastEmailClickedAt),
		LastPageViewedAt: endpoint.AtOr(c.LastPageViewedAt), TotalEmailsSent: c.TotalEmailsSent,
		TotalEmailsOpened: c.TotalEmailsOpened, TotalEmailsClicked: c.TotalEmailsClicked,
		ProspectScore: c.ProspectScore, CustomerScore: c.CustomerScore, ContactTouches: touchesOf(&c), EmailDomain: c.EmailDomain,
		MXRecord: optional.Pointer(domain.Record), SMTPProvider: optional.Pointer(string(domain.Provider)),
	}
}
