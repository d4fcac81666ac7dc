package asset

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Totals are the number of a tenant's images, and of their bytes.
type Totals struct{ Files, Bytes int64 }

// StoredTotals returns the numbers as they are stored.
func StoredTotals(ctx context.Context, db *sqldb.DB, t id.Tenant) (n Totals, err error) {
	rows, err := db.Query(ctx, `SELECT files, bytes FROM asset_total WHERE tenant_id = $1`, t)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error { return scan(&n.Files, &n.Bytes) })
	if err != nil {
		return n, fmt.Errorf("read the numbers of assets: %w", err)
	}
	return n, nil
}

// CountTotals counts the images of a tenant.
func CountTotals(ctx context.Context, db *sqldb.DB, t id.Tenant) (n Totals, err error) {
	err = db.QueryRow(ctx, `
		SELECT COUNT(*), COALESCE(SUM(size), 0) FROM asset WHERE tenant_id = $1 /* reads the tenant: counts it */`, t).Scan(&n.Files, &n.Bytes)
	if err != nil {
		return n, fmt.Errorf("count assets: %w", err)
	}
	return n, nil
}

// Correct adds the difference between counted and stored numbers to the stored ones.
func Correct(ctx context.Context, db *sqldb.DB, t id.Tenant, stored, counted Totals) error {
	_, err := db.Exec(ctx, `
		INSERT INTO asset_total (tenant_id, files, bytes) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id) DO UPDATE SET files = asset_total.files + excluded.files, bytes = asset_total.bytes + excluded.bytes`,
		t, counted.Files-stored.Files, counted.Bytes-stored.Bytes)
	if err != nil {
		return fmt.Errorf("correct the numbers of assets: %w", err)
	}
	return nil
}
