package segment

import (
	"context"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// allSendable is the system key of the built-in segment of all contacts that could be mailed.
const allSendable = "all_sendable"

// storedMembers returns the stored number of members of a list; nil if it was never counted, or deleted.
func storedMembers(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.Segment) (n *int, err error) {
	err = db.QueryRow(ctx, `SELECT member_count_total FROM segment WHERE tenant_id = $1 AND id = $2`, tenant, list).Scan(&n)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return nil, fmt.Errorf("read the number of members of a list: %w", err)
	}
	return n, nil
}

// newest is how many of the newest contacts AnySendable looks at.
const newest = 1000

// AnySendable reports whether one of the newest contacts of a tenant could be mailed.
func AnySendable(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (found bool, err error) {
	err = db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM (
			SELECT tenant_id, id, email, global_status, do_not_contact FROM contact WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2
		) AS c WHERE `+isSendable+`)`, tenant, newest).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("find a sendable contact: %w", err)
	}
	return found, nil
}

// AnyOwn reports whether a tenant has a list or segment besides the built-in ones.
func AnyOwn(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (found bool, err error) {
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM segment WHERE tenant_id = $1 AND system_key IS NULL)`, tenant).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("find a segment: %w", err)
	}
	return found, nil
}
