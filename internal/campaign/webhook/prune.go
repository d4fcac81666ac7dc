package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Retention is how long deliveries are kept unless a tenant sets another time.
const Retention = 30 * 24 * time.Hour

// Prune deletes up to limit deliveries of a tenant that were created before a time, oldest first,
// and returns how many it deleted. The time should be more than two days ago, when the last attempt
// of a delivery has been made.
func Prune(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (int, error) {
	n, err := db.Exec(ctx, `
		DELETE FROM webhook_delivery WHERE tenant_id = $1 AND id IN (
			SELECT d.id FROM webhook_delivery AS d WHERE d.tenant_id = $1 AND d.id < $2 ORDER BY d.id LIMIT $3)`,
		tenant, id.FirstAt[id.Delivery](before), limit)
	if err != nil {
		return 0, fmt.Errorf("prune webhook deliveries: %w", err)
	}
	if int(n) < limit {
		if err := pruneQueues(ctx, db, tenant); err != nil {
			return int(n), fmt.Errorf("prune queues of calls: %w", err)
		}
	}
	return int(n), nil
}
