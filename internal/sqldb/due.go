package sqldb

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// dueScan is how many due rows are read to find their tenants. If there are more, each tenant is
// looked up instead, so that one with many such rows does not hide the others.
const dueScan = 5000

// TenantsDue returns the tenants with rows of a table whose due_at is not after now. The table has two
// indexes of the rows that have a due_at: on due_at, and on tenant_id and due_at.
func TenantsDue(ctx context.Context, db *DB, table string, now time.Time) ([]id.Tenant, error) {
	n := 0
	rows, err := db.Query(ctx, `/* all tenants: one index has the rows that are due */
		SELECT tenant_id, COUNT(*) FROM (SELECT tenant_id FROM `+table+` WHERE due_at <= $1 ORDER BY due_at LIMIT $2) AS e
		GROUP BY tenant_id ORDER BY tenant_id`, Micros(now), dueScan)
	list, err := Collect(rows, err, func(scan func(...any) error) (id.Tenant, error) {
		var t id.Tenant
		var some int
		err := scan(&t, &some)
		n += some
		return t, err
	})
	if err != nil || n < dueScan {
		return list, err
	}
	rows, err = db.Query(ctx, `/* all tenants: one lookup in an index for each */
		SELECT t.tenant_id FROM tenant AS t
		WHERE EXISTS (SELECT 1 FROM `+table+` AS e WHERE e.tenant_id = t.tenant_id AND e.due_at <= $1) ORDER BY t.tenant_id`, Micros(now))
	return Collect(rows, err, func(scan func(...any) error) (id.Tenant, error) {
		var t id.Tenant
		err := scan(&t)
		return t, err
	})
}
