package httpapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// identitySecret registers the operations on the secret that proves to us who a
// website's visitors are.
func (a *API) identitySecret(r *endpoint.Router) {
	op := func(name, summary string) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "account", Session: true, Role: auth.Owner}
	}
	const path = "/t/{tenant}/api/settings/account/identity-secret"
	endpoint.Handle(r, "POST "+path, op("createIdentitySecret",
		"Make a secret for identity signing, shown this once; the one before it verifies for 24 hours more."), a.createIdentitySecret)
	endpoint.Handle(r, "DELETE "+path, op("deleteIdentitySecret", "Turn identity signing off."), a.deleteIdentitySecret)
}

type identitySecretRow struct {
	Secret    string         `json:"secret"`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (a *API) createIdentitySecret(ctx context.Context, p auth.Principal, _ *struct{}) (identitySecretRow, error) {
	var made contact.IdentitySecret
	now := a.Now()
	err := a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if made, err = contact.NewIdentitySecret(ctx, tx, a.Box, p.Tenant, now); err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did("identity_secret.create", "tenant", p.Tenant.String(), now))
	})
	return identitySecretRow{made.Secret, endpoint.At(made.CreatedAt)}, err
}

func (a *API) deleteIdentitySecret(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.None, error) {
	now := a.Now()
	return endpoint.None{}, a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := contact.DropIdentitySecret(ctx, tx, p.Tenant); err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did("identity_secret.delete", "tenant", p.Tenant.String(), now))
	})
}
