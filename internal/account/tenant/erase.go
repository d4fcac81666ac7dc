package tenant

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErasedAfter is how long the data of a deleted tenant are kept.
const ErasedAfter = 30 * 24 * time.Hour

// Erasable returns the deleted tenants whose data are to be deleted now, and were not.
func Erasable(ctx context.Context, db *sqldb.DB, now time.Time) ([]Tenant, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM tenant
		WHERE status = 'deleted' AND erased_at IS NULL AND updated_at <= $1 ORDER BY tenant_id /* all tenants: those that were deleted */`,
		sqldb.Micros(now.Add(-ErasedAfter)))
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("list deleted tenants: %w", err)
	}
	return list, nil
}

// Erase notes that all other data of a deleted tenant are gone, and clears its settings. The number and
// the slug stay, since neither is used again.
func Erase(ctx context.Context, db *sqldb.DB, t id.Tenant, now time.Time) error {
	n, err := db.Exec(ctx, `
		UPDATE tenant SET erased_at = $2, name = slug, pause_reason = NULL, website_url = NULL, logo_url = NULL, postal_address = '{}',
			default_identity_id = NULL, default_email_type_id = NULL, default_mta_config_id = NULL, tracked_domains = '[]', brand = '{}'
		WHERE tenant_id = $1 AND status = 'deleted' AND erased_at IS NULL`, t, sqldb.Micros(now))
	if err != nil {
		return fmt.Errorf("erase the settings of a deleted tenant: %w", err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}
