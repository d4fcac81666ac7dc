package outbox

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// queueProviderIDs adds a statement to a batch that stores the ids that providers gave to messages.
// Ids are unique in a lane.
func queueProviderIDs(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, results []Result) {
	t := tx.Table("lane_id UUID", "provider_id TEXT", "message_id UUID")
	for _, r := range results {
		if r.ProviderID != "" {
			t.Add(r.Item.Lane, r.ProviderID, r.Item.ID)
		}
	}
	if t.Len() == 0 {
		return
	}
	b.Queue(`
		INSERT INTO outbox_provider_id (tenant_id, lane_id, provider_id, message_id)
		SELECT h.tenant_id, v.lane_id, v.provider_id, v.message_id FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, lane_id, provider_id) DO NOTHING`, nil, t.Args(tenant)...)
}

// ByProviderIDs returns the messages to which the provider of a lane gave the ids when it accepted
// them, by these ids.
func ByProviderIDs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lane id.Lane, ids []string) (map[string]id.Message, error) {
	rows, err := db.Query(ctx, `
		SELECT provider_id, message_id FROM outbox_provider_id
		WHERE tenant_id = $1 AND lane_id = $2 AND provider_id`+db.In(3), tenant, lane, sqldb.List(db, ids))
	found := make(map[string]id.Message, len(ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var name string
		var m id.Message
		err := scan(&name, &m)
		found[name] = m
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find messages by the ids of a provider: %w", err)
	}
	return found, nil
}
