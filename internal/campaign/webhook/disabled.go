package webhook

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// DisabledUnmailed returns the endpoints of all tenants that the program disabled and about which the admins
// are to be mailed.
func DisabledUnmailed(ctx context.Context, db *sqldb.DB) ([]Endpoint, error) {
	rows, err := db.Query(ctx, `
		/* all tenants: one process mails their admins */
		SELECT e.tenant_id, e.id, e.url, e.description, e.disabled_reason FROM webhook_endpoint AS e WHERE e.notice_due ORDER BY e.tenant_id, e.id LIMIT 100`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (e Endpoint, err error) {
		err = scan(&e.Tenant, &e.ID, &e.URL, sqldb.ToText(&e.Description), sqldb.ToText(&e.DisabledReason))
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read disabled webhook endpoints: %w", err)
	}
	return list, nil
}

// MarkMailed notes that the admins were mailed about an endpoint.
func MarkMailed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook) error {
	_, err := db.Exec(ctx, `UPDATE webhook_endpoint SET notice_due = FALSE WHERE tenant_id = $1 AND id = $2`, tenant, endpoint)
	return err
}
