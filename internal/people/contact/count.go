package contact

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ByStatus are numbers of contacts by status, in the order of Statuses.
//
// Those of a tenant are stored in contact_count, and change in each transaction that inserts contacts or
// changes their statuses, in a statement of its last batch.
type ByStatus [len(statuses)]int64

// Of returns the number of contacts with any of the statuses.
func (n ByStatus) Of(list ...Status) int {
	sum := int64(0)
	for i, s := range statuses {
		if slices.Contains(list, s) {
			sum += n[i]
		}
	}
	return int(sum)
}

// Minus returns how much n is more than other.
func (n ByStatus) Minus(other ByStatus) ByStatus {
	for i := range n {
		n[i] -= other[i]
	}
	return n
}

// move counts a contact whose status changes. Before a contact is inserted, its status is empty.
func (n *ByStatus) move(from, to Status) {
	for i, s := range statuses {
		if s == from {
			n[i]--
		}
		if s == to {
			n[i]++
		}
	}
}

// countColumns are the columns of contact_count with the numbers, and countSet adds parameters from $2 on to
// them.
var (
	countColumns = eachStatus(func(_ int, s Status) string { return string(s) })
	countSet     = eachStatus(func(i int, s Status) string { return fmt.Sprintf("%s = %s + $%d", s, s, i+2) })
)

func eachStatus(text func(i int, s Status) string) string {
	list := make([]string, len(statuses))
	for i, s := range statuses {
		list[i] = text(i, s)
	}
	return strings.Join(list, ", ")
}

// queueCounts adds changes of the numbers of contacts to the stored ones, at the end of a batch of tx. The
// sum of a tenant's rows counts, so any of them can be changed: transactions at the same time take different
// rows, and one that finds all of them locked adds a row. So none waits for another, and a tenant has at most
// as many rows as transactions changed its contacts at once.
func queueCounts(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, n ByStatus) {
	if n == (ByStatus{}) {
		return
	}
	args := []any{tenant}
	for _, v := range n {
		args = append(args, v)
	}
	args = append(args, rand.Int64())
	update := `UPDATE contact_count SET ` + countSet + ` WHERE tenant_id = $1 AND part = (
			SELECT x.part FROM contact_count AS x WHERE x.tenant_id = $1 ORDER BY x.part LIMIT 1` + tx.SkipLocked() + `)
		RETURNING part`
	insert := `INSERT INTO contact_count (tenant_id, ` + countColumns + `, part) `
	if tx.Dialect() == sqldb.Postgres && !tx.Distributed() { // a single statement, so that COMMIT can follow it in the same round trip
		b.Queue(`WITH counted AS (`+update+`) `+insert+`
			SELECT $1::INTEGER, $2::BIGINT, $3::BIGINT, $4::BIGINT, $5::BIGINT, $6::BIGINT, $7::BIGINT, $8::BIGINT WHERE NOT EXISTS (SELECT 1 FROM counted)`, nil, args...)
		return
	}
	counted := false
	b.Queue(update, func(scan func(...any) error) error {
		counted = true
		var part int64
		return scan(&part)
	}, args[:len(args)-1]...)
	b.Call(func(ctx context.Context) error {
		if counted {
			return nil
		}
		_, err := tx.Exec(ctx, insert+`VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, args...)
		return err
	})
}

// AddCounts adds changes to the stored numbers of contacts.
func AddCounts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, n ByStatus) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		b := tx.Batch()
		queueCounts(b, tx, tenant, n)
		return b.Run(ctx)
	})
	if err != nil {
		return fmt.Errorf("count contacts by status: %w", err)
	}
	return nil
}

// CountByStatus returns the stored numbers of a tenant's contacts.
func CountByStatus(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (n ByStatus, err error) {
	rows, err := db.Query(ctx, `
		SELECT `+countColumns+` FROM contact_count WHERE tenant_id = $1 /* reads the tenant: it has few rows */`, tenant)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var part ByStatus
		err := scan(part.dest()...)
		for i, v := range part {
			n[i] += v
		}
		return err
	})
	if err != nil {
		return n, fmt.Errorf("read the numbers of contacts by status: %w", err)
	}
	return n, nil
}

// Extent is how many contacts a tenant has, also deleted ones, and when one of them was last changed.
type Extent struct {
	Contacts  int
	ChangedAt time.Time
}

// Large returns the extents of all tenants with more than n contacts.
func Large(ctx context.Context, db *sqldb.DB, n int) (map[id.Tenant]Extent, error) {
	sum := `SUM(` + strings.ReplaceAll(countColumns, ", ", " + ") + `)`
	rows, err := db.Query(ctx, `
		SELECT x.tenant_id, x.n, (SELECT MAX(c.updated_at) FROM contact AS c WHERE c.tenant_id = x.tenant_id)
		FROM (SELECT tenant_id, CAST(`+sum+` AS BIGINT) AS n FROM contact_count GROUP BY tenant_id HAVING `+sum+` > $1) AS x
		/* all tenants: in the background */`, n)
	found := map[id.Tenant]Extent{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var t id.Tenant
		var e Extent
		var changed sql.NullInt64
		err := scan(&t, &e.Contacts, &changed)
		e.ChangedAt = sqldb.Time(changed.Int64)
		found[t] = e
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find tenants with many contacts: %w", err)
	}
	return found, nil
}

func (n *ByStatus) dest() []any {
	list := make([]any, len(n))
	for i := range n {
		list[i] = &n[i]
	}
	return list
}

// RecountByStatus counts a tenant's contacts, within an evaluation. It reads all of them.
func RecountByStatus(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (n ByStatus, err error) {
	err = db.ScanTx(ctx, func() error {
		rows, err := db.Query(ctx, `SELECT global_status, COUNT(*) FROM contact WHERE tenant_id = $1 GROUP BY global_status /* reads the tenant: counts it */`, tenant)
		return sqldb.Each(rows, err, func(scan func(...any) error) error {
			var s Status
			var found int64
			err := scan(sqldb.ToText(&s), &found)
			if i := slices.Index(statuses[:], s); i >= 0 {
				n[i] = found
			}
			return err
		})
	})
	if err != nil {
		return n, fmt.Errorf("count contacts by status: %w", err)
	}
	return n, nil
}

// CorrectCounts makes the stored numbers of a tenant's contacts those of its rows, and returns what it added.
func CorrectCounts(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (added ByStatus, err error) {
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		stored, err := CountByStatus(ctx, db, tenant)
		if err == nil {
			added, err = RecountByStatus(ctx, db, tenant)
		}
		added = added.Minus(stored)
		return err
	})
	if err == nil {
		err = AddCounts(ctx, db, tenant, added)
	}
	return added, err
}
