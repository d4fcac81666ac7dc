package automation

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SealAll seals the headers of webhooks that earlier versions stored as texts, as sequence.SealAll does.
func SealAll(ctx context.Context, db *sqldb.DB, box *secret.Box) error {
	return sequence.StoredSteps[id.Automation, []Action]{
		List: func() (*sqldb.Rows, error) {
			return db.Query(ctx, `
				SELECT tenant_id, id, actions FROM automation WHERE CAST(actions AS TEXT) LIKE '%"headers"%' /* all tenants: each may have automations of earlier versions */`)
		},
		Lock: func(tx *sqldb.DB, t id.Tenant, a id.Automation) *sqldb.Row {
			return tx.QueryRow(ctx, `SELECT actions FROM automation WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), t, a)
		},
		Save: func(tx *sqldb.DB, t id.Tenant, a id.Automation, actions string) error {
			_, err := tx.Exec(ctx, `UPDATE automation SET actions = $3 WHERE tenant_id = $1 AND id = $2`, t, a, actions)
			return err
		},
		Seal: func(t id.Tenant, list *[]Action) (changed bool, err error) {
			for i, a := range *list {
				sealed, err := sequence.SealStored(box, t, a.Type, &(*list)[i].Config)
				if changed = changed || sealed; err != nil {
					return changed, err
				}
			}
			return changed, nil
		},
	}.SealAll(ctx, db)
}
