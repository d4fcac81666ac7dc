package visitor

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Totals are the numbers of a tenant's visitors, of the requests that are kept of them, and of the bytes
// of these.
type Totals struct{ Visitors, Kept, Bytes int64 }

// StoredTotals returns the numbers as they are stored.
func StoredTotals(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (t Totals, err error) {
	rows, err := db.Query(ctx, `SELECT visitors, kept, kept_bytes FROM visitor_total WHERE tenant_id = $1`, tenant)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error { return scan(&t.Visitors, &t.Kept, &t.Bytes) })
	if err != nil {
		return t, fmt.Errorf("read the numbers of visitors: %w", err)
	}
	return t, nil
}

// CountTotals counts the rows of a tenant.
func CountTotals(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (t Totals, err error) {
	err = db.QueryRow(ctx, `
		SELECT (SELECT COUNT(*) FROM visitor WHERE tenant_id = $1), (SELECT COUNT(*) FROM visitor_kept WHERE tenant_id = $1),
			(SELECT COALESCE(SUM(LENGTH(data)), 0) FROM visitor_kept WHERE tenant_id = $1)
		/* reads the tenant: counts it */`, tenant).Scan(&t.Visitors, &t.Kept, &t.Bytes)
	if err != nil {
		return t, fmt.Errorf("count visitors: %w", err)
	}
	return t, nil
}

// Correct adds the difference between counted and stored numbers to the stored ones.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stored, counted Totals) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := addTotals(ctx, tx, tenant, totals{visitors: counted.Visitors - stored.Visitors, kept: counted.Kept - stored.Kept, bytes: counted.Bytes - stored.Bytes})
		return err
	})
}
