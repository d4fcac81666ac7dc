package traffic

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const sums = `COALESCE(SUM(tries), 0), COALESCE(SUM(unreached), 0), COALESCE(SUM(delivered), 0), COALESCE(SUM(deferred), 0),
	COALESCE(SUM(hard), 0), COALESCE(SUM(late), 0), COALESCE(SUM(block), 0), COALESCE(SUM(complained), 0)`

// fields returns the destinations for a row's sums.
func (c *Counts) fields() []any {
	return []any{&c.Tries, &c.Unreached, &c.Delivered, &c.Deferred, &c.Hard, &c.Late, &c.Block, &c.Complained}
}

// ByLane returns the counts of lanes in buckets that begin in [since, until). Lanes without traffic
// are left out.
func ByLane(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lanes []id.Lane, since, until time.Time) (map[id.Lane]Counts, error) {
	all := map[id.Lane]Counts{}
	rows, err := db.Query(ctx, `SELECT lane_id, `+sums+` FROM traffic
		WHERE tenant_id = $1 AND bucket >= $2 AND bucket < $3 AND lane_id`+db.In(4)+`GROUP BY lane_id`,
		tenant, since.UnixMicro(), until.UnixMicro(), sqldb.List(db, lanes))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var lane id.Lane
		var c Counts
		err := scan(append([]any{&lane}, c.fields()...)...)
		all[lane] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of lanes: %w", err)
	}
	return all, nil
}

// OfDomain returns the counts of one domain since a time.
func OfDomain(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain, since time.Time) (Counts, error) {
	return OfDomainBetween(ctx, db, tenant, domain, since, since.AddDate(100, 0, 0))
}

// OfDomainBetween returns the counts of one domain in buckets that begin in [since, until).
func OfDomainBetween(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain, since, until time.Time) (Counts, error) {
	var c Counts
	err := db.QueryRow(ctx, `SELECT `+sums+` FROM traffic WHERE tenant_id = $1 AND domain_id = $2 AND bucket >= $3 AND bucket < $4`,
		tenant, domain, since.UnixMicro(), until.UnixMicro()).Scan(c.fields()...)
	if err != nil {
		return Counts{}, fmt.Errorf("sum up the traffic of a domain: %w", err)
	}
	return c, nil
}

// OfDomains returns the counts of each domain of a tenant with traffic since a time.
func OfDomains(ctx context.Context, db *sqldb.DB, tenant id.Tenant, since time.Time) (map[id.Domain]Counts, error) {
	all := map[id.Domain]Counts{}
	rows, err := db.Query(ctx, `
		SELECT domain_id, `+sums+` FROM traffic WHERE tenant_id = $1 AND bucket >= $2 AND domain_id <> $3 GROUP BY domain_id`,
		tenant, since.UnixMicro(), id.Domain{})
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var d id.Domain
		var c Counts
		err := scan(append([]any{&d}, c.fields()...)...)
		all[d] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of a tenant's domains: %w", err)
	}
	return all, nil
}

// Lane identifies a lane of any tenant.
type Lane struct {
	Tenant id.Tenant
	Lane   id.Lane
}

// Domain identifies a sending domain of any tenant.
type Domain struct {
	Tenant id.Tenant
	Domain id.Domain
}

// Lanes returns the buckets since a time of all lanes with traffic or attempts, ordered by time.
func Lanes(ctx context.Context, db *sqldb.DB, since time.Time) (map[Lane][]Bucket, error) {
	all := map[Lane][]Bucket{}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every lane */
		SELECT tenant_id, lane_id, bucket, `+sums+` FROM traffic
		WHERE bucket >= $1 GROUP BY tenant_id, lane_id, bucket ORDER BY bucket`, since.UnixMicro())
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var l Lane
		var b Bucket
		var at int64
		err := scan(append([]any{&l.Tenant, &l.Lane, &at}, b.fields()...)...)
		b.At = sqldb.Time(at)
		all[l] = append(all[l], b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the traffic of lanes: %w", err)
	}
	return all, nil
}

// ByDomain returns the counts since a time of each domain of any tenant with at least so many
// deliveries.
func ByDomain(ctx context.Context, db *sqldb.DB, since time.Time, deliveries int) (map[Domain]Counts, error) {
	all := map[Domain]Counts{}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every domain */
		SELECT tenant_id, domain_id, `+sums+` FROM traffic
		WHERE bucket >= $1 AND domain_id <> $3 GROUP BY tenant_id, domain_id HAVING SUM(delivered) >= $2`, since.UnixMicro(), deliveries, id.Domain{})
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var d Domain
		var c Counts
		err := scan(append([]any{&d.Tenant, &d.Domain}, c.fields()...)...)
		all[d] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of domains: %w", err)
	}
	return all, nil
}

// Windows returns how many messages of each domain of any tenant were accepted or permanently refused, in n
// windows of the same length that begin at from.
func Windows(ctx context.Context, db *sqldb.DB, from time.Time, length time.Duration, n int) (map[Domain][]int, error) {
	all := map[Domain][]int{}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every domain */
		SELECT tenant_id, domain_id, (bucket - $1) / $2, COALESCE(SUM(delivered + hard + block), 0) FROM traffic
		WHERE bucket >= $1 AND domain_id <> $3 GROUP BY tenant_id, domain_id, (bucket - $1) / $2`,
		from.UnixMicro(), length.Microseconds(), id.Domain{})
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var d Domain
		var window, sent int
		if err := scan(&d.Tenant, &d.Domain, &window, &sent); err != nil {
			return err
		}
		if all[d] == nil {
			all[d] = make([]int, n)
		}
		if window < n {
			all[d][window] += sent
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of domains by time: %w", err)
	}
	return all, nil
}
