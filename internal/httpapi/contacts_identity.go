package httpapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/id"
)

// ContactWithIdentityToken is a contact as an answer to a write shows it.
type ContactWithIdentityToken struct {
	Contact
	IdentityToken *string `json:"identity_token,omitempty" doc:"Proves to this account's website tracker who its visitor is, for 30 days. Only when it was asked for and identity signing is configured."`
}

// IncludeIdentityToken asks for the token; it changes nothing while identity
// signing is off.
type IncludeIdentityToken struct {
	IncludeIdentityToken string `query:"include_identity_token" doc:"true adds identity_token, when identity signing is configured."`
}

func (in IncludeIdentityToken) wanted() bool {
	return endpoint.Flag(in.IncludeIdentityToken)
}

// writtenContact returns a contact that was saved, with its token where that is
// wanted.
func (api contactsAPI) writtenContact(ctx context.Context, t id.Tenant, in IncludeIdentityToken, s contact.Outcome) (ContactWithIdentityToken, error) {
	rows, err := api.rowsForWrite(ctx, t, s.Contact)
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	row := ContactWithIdentityToken{Contact: rows[0]}
	if !in.wanted() {
		return row, nil
	}
	now := api.now()
	signer, err := auth.LoadIdentitySigner(ctx, api.db, api.box, t, now)
	if err != nil {
		return ContactWithIdentityToken{}, err
	}
	row.IdentityToken = orNull(signer.Token(s.Contact.ID, now))
	return row, nil
}
