package journal

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Forget clears the last entry of a deleted tenant, which Prune keeps if it is the last of its group: the
// type, the id and the position stay. It reports whether nothing else is left of the tenant; then all
// followers have processed its entries.
func Forget(ctx context.Context, db *sqldb.DB, tenant id.Tenant, followers []Follower) (bool, error) {
	end, err := processed(ctx, db, tenant.Group(), followers)
	if err != nil {
		return false, fmt.Errorf("read the cursors of followers: %w", err)
	}
	rows, err := db.Query(ctx, `SELECT pos FROM journal WHERE tenant_id = $1 AND grp = $2 ORDER BY pos LIMIT 2`, tenant, tenant.Group())
	left, err := sqldb.Collect(rows, err, func(scan func(...any) error) (pos int64, err error) { return pos, scan(&pos) })
	if err != nil {
		return false, fmt.Errorf("read the journal of a deleted tenant: %w", err)
	}
	if len(left) == 0 {
		return true, nil
	}
	if len(left) > 1 || left[0] > end {
		return false, nil
	}
	_, err = db.Exec(ctx, `
		UPDATE journal SET contact_id = NULL, send_id = NULL, message_id = NULL, name = NULL, data = NULL, packed = NULL
		WHERE tenant_id = $1 AND grp = $2 AND pos = $3`, tenant, tenant.Group(), left[0])
	if err != nil {
		return false, fmt.Errorf("clear the journal of a deleted tenant: %w", err)
	}
	return true, nil
}
