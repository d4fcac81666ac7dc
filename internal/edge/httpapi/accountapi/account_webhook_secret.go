package accountapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// webhookSecret registers the operation on the secret with which requests of sequences and
// automations are signed.
func (api Account) webhookSecret(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/settings/account/webhook-secret", endpoint.Op{
		Name: "createWebhookSecret", Tag: "account", Session: true, Role: auth.Admin,
		Summary: "Create the secret that signs requests of sequences and automations, shown only once; it replaces the previous one at once.",
	}.Once(), wire.Once(api, api.db, Account.createWebhookSecret))
}

type webhookSecretRow struct {
	Secret    string         `json:"secret"`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (api Account) createWebhookSecret(ctx context.Context, p auth.Principal, _ *struct{}) (webhookSecretRow, error) {
	var text string
	now := api.now()
	err := api.db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if text, err = webhook.NewCallSecret(ctx, tx, api.box, p.Tenant, now); err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did("webhook_secret.create", "tenant", p.Tenant.String(), now))
	})
	return webhookSecretRow{text, endpoint.At(now)}, err
}
