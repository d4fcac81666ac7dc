package audienceapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// consents registers the list of how a contact's consents came about.
func (api Contacts) consents(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}/consents", endpoint.Op{
		Name: "listContactConsents", Summary: "List how the consents of a contact were given and withdrawn, newest first.", Tag: "contacts", Session: true,
		Description: "Each record is one choice of the person, with its proof. Choices that were written through the API, by an import or in the application have no record.",
		Faults:      []*fault.Error{contact.ErrNotFound},
	}, api.listContactConsents)
}

type contactConsentsRequest struct {
	ID string `path:"id" as:"text" format:"uuid" doc:"The contact's id."`
}

type consentRow struct {
	ID        id.ConsentRecord `json:"id" format:"uuid"`
	TypeKey   *string          `json:"email_type_key" doc:"The email type; null, also of category_id: all mail."`
	Category  *id.Category     `json:"category_id"`
	Granted   bool             `json:"granted" doc:"false: withdrawn."`
	At        endpoint.Stamp   `json:"at"`
	Source    string           `json:"source" doc:"preferences_page, unsubscribe_page, one_click, mailto, complaint, provider, or form:<slug>."`
	Confirmed bool             `json:"confirmed" doc:"By a link in a mail to the address."`
	Wording   *string          `json:"wording" doc:"The text that was shown."`
	IP        *string          `json:"ip"`
	Agent     *string          `json:"user_agent"`
	PageURL   *string          `json:"page_url" doc:"Where the text was shown."`
	Message   *id.Message      `json:"message_id" doc:"The mail whose link or address was used."`
}

func (api Contacts) listContactConsents(ctx context.Context, p auth.Principal, in *contactConsentsRequest) (endpoint.List[consentRow], error) {
	var none endpoint.List[consentRow]
	cid, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return none, err
	}
	if _, err := contact.ByID(ctx, api.db, p.Tenant, cid); err != nil {
		return none, err
	}
	list, err := consent.List(ctx, api.db, p.Tenant, cid)
	if err != nil {
		return none, err
	}
	rows := make([]consentRow, len(list))
	for i, c := range list {
		row := consentRow{
			ID: c.ID, TypeKey: optional.Pointer(c.TypeKey), Granted: c.Granted, At: endpoint.At(c.At), Source: c.Source, Confirmed: c.Confirmed,
			Category: optional.Pointer(c.Category), Message: optional.Pointer(c.Message), Wording: optional.Pointer(c.Wording), IP: optional.Pointer(c.IP), Agent: optional.Pointer(c.Agent), PageURL: optional.Pointer(c.PageURL),
		}
		rows[len(list)-1-i] = row
	}
	return endpoint.Whole(rows), nil
}
