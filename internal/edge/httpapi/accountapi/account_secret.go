package accountapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// identitySecret registers the operations on the secret with which a website proves the identity of
// its visitors.
func (api Account) identitySecret(r *endpoint.Router) {
	op := func(name, summary string) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "account", Session: true, Role: auth.Owner}
	}
	const path = "/t/{tenant}/api/settings/account/identity-secret"
	endpoint.Handle(r, "POST "+path, op("createIdentitySecret",
		"Create a secret for identity signing, shown only once; the previous one still verifies for 24 hours.").Once(), wire.Once(api, api.db, Account.createIdentitySecret))
	endpoint.Handle(r, "DELETE "+path, op("deleteIdentitySecret", "Disable identity signing."), api.deleteIdentitySecret)
}

type identitySecretRow struct {
	Secret    string         `json:"secret"`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (api Account) createIdentitySecret(ctx context.Context, p auth.Principal, _ *struct{}) (identitySecretRow, error) {
	var made auth.IdentitySecret
	now := api.now()
	err := api.db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if made, err = auth.NewIdentitySecret(ctx, tx, api.box, p.Tenant, now); err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did("identity_secret.create", "tenant", p.Tenant.String(), now))
	})
	return identitySecretRow{made.Secret, endpoint.At(made.CreatedAt)}, err
}

func (api Account) deleteIdentitySecret(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.None, error) {
	now := api.now()
	return endpoint.None{}, api.db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := auth.DropIdentitySecret(ctx, tx, p.Tenant); err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did("identity_secret.delete", "tenant", p.Tenant.String(), now))
	})
}
