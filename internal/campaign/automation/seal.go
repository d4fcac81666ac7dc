package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SealAll seals the headers of webhooks that earlier versions stored as texts, as sequence.SealAll does.
func SealAll(ctx context.Context, db *sqldb.DB, box *secret.Box) error {
	type place struct {
		tenant id.Tenant
		id     id.Automation
	}
	var plain []place
	rows, err := db.Query(ctx, `
		SELECT tenant_id, id, actions FROM automation WHERE CAST(actions AS TEXT) LIKE '%"headers"%' /* all tenants: each may have automations of earlier versions */`)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var p place
		var list []Action
		if err := scan(&p.tenant, &p.id, sqldb.ToJSON(&list)); err != nil {
			return err
		}
		changed, err := sealStored(box, p.tenant, list)
		if changed {
			plain = append(plain, p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find headers of webhooks of automations: %w", err)
	}
	for _, p := range plain {
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			a, err := load(ctx, tx, p.tenant, p.id, tx.ForUpdate())
			if err != nil {
				return err
			}
			if _, err := sealStored(box, p.tenant, a.Actions); err != nil {
				return err
			}
			actions, err := json.Marshal(a.Actions)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE automation SET actions = $3 WHERE tenant_id = $1 AND id = $2`, p.tenant, p.id, string(actions))
			return err
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("seal headers of webhooks of automation %s: %w", p.id, err)
		}
	}
	return nil
}

func sealStored(box *secret.Box, t id.Tenant, list []Action) (changed bool, err error) {
	for i, a := range list {
		sealed, err := sequence.SealStored(box, t, a.Type, a.Config)
		if err != nil {
			return changed, err
		}
		if sealed != nil {
			list[i].Config, changed = sealed, true
		}
	}
	return changed, nil
}
