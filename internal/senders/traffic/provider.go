package traffic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ProviderWidth is the length of one bucket of the traffic by provider.
const ProviderWidth = 5 * time.Minute

// ProviderKey identifies traffic to a provider.
type ProviderKey struct {
	Key
	Source   netip.Addr // the address of direct delivery; zero: none, or unknown
	Provider string     // a provider group, or OtherProviders
}

// OtherProviders is the provider of domains that belong to no provider group.
const OtherProviders = "other"

// ProviderCounts are counts of messages to a provider. Tries and Unreached are not counted.
type ProviderCounts struct {
	Counts
	Spam int // of Block: refused for the content or the reputation of the sender
	Auth int // refused because the sender was not authenticated
}

// Plus returns the sum of both.
func (c ProviderCounts) Plus(o ProviderCounts) ProviderCounts {
	return ProviderCounts{c.Counts.Plus(o.Counts), c.Spam + o.Spam, c.Auth + o.Auth}
}

// Attempts returns how many attempts a server answered.
func (c ProviderCounts) Attempts() int { return c.Delivered + c.Deferred + c.Hard + c.Block }

// AddByProvider adds to the counts of the current bucket, as Add does.
func AddByProvider(ctx context.Context, db *sqldb.DB, at time.Time, counts map[ProviderKey]ProviderCounts) error {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b ProviderKey) int { // in the same order in all transactions
		return cmp.Or(compareKeys(a.Key, b.Key), a.Source.Compare(b.Source), cmp.Compare(a.Provider, b.Provider))
	})
	if len(keys) == 0 {
		return nil
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		for rest := keys; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].Tenant == rest[0].Tenant {
				n++
			}
			if err := addByProvider(ctx, tx, rest[0].Tenant, at, rest[:n], counts); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add to the traffic by provider: %w", err)
	}
	return nil
}

func addByProvider(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, at time.Time, keys []ProviderKey, counts map[ProviderKey]ProviderCounts) error {
	t := tx.Table("lane_id UUID", "domain_id UUID", "source TEXT", "provider TEXT", "delivered BIGINT", "deferred BIGINT",
		"hard BIGINT", "late BIGINT", "block BIGINT", "complained BIGINT", "spam BIGINT", "auth BIGINT")
	for _, k := range keys {
		c := counts[k]
		t.Add(k.Lane, k.Domain, sourceText(k.Source), k.Provider, c.Delivered, c.Deferred, c.Hard, c.Late, c.Block, c.Complained, c.Spam, c.Auth)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO traffic_provider (tenant_id, lane_id, bucket, domain_id, source, provider, delivered, deferred, hard, late, block, complained, spam, auth)
		SELECT h.tenant_id, v.lane_id, $2, v.domain_id, v.source, v.provider, v.delivered, v.deferred, v.hard, v.late, v.block, v.complained, v.spam, v.auth
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, lane_id, bucket, domain_id, source, provider) DO UPDATE SET
			delivered = traffic_provider.delivered + excluded.delivered, deferred = traffic_provider.deferred + excluded.deferred,
			hard = traffic_provider.hard + excluded.hard, late = traffic_provider.late + excluded.late, block = traffic_provider.block + excluded.block,
			complained = traffic_provider.complained + excluded.complained, spam = traffic_provider.spam + excluded.spam,
			auth = traffic_provider.auth + excluded.auth`, t.Args(tenant, at.Truncate(ProviderWidth).UnixMicro())...)
	return err
}

func sourceText(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

const providerSums = `COALESCE(SUM(delivered), 0), COALESCE(SUM(deferred), 0), COALESCE(SUM(hard), 0), COALESCE(SUM(late), 0),
	COALESCE(SUM(block), 0), COALESCE(SUM(complained), 0), COALESCE(SUM(spam), 0), COALESCE(SUM(auth), 0)`

func (c *ProviderCounts) fields() []any {
	return []any{&c.Delivered, &c.Deferred, &c.Hard, &c.Late, &c.Block, &c.Complained, &c.Spam, &c.Auth}
}

// SourceProvider is a source address of a lane and a provider.
type SourceProvider struct {
	Source   netip.Addr // zero: unknown
	Provider string
}

// BySource returns the counts of a lane in buckets that begin in [since, until), by source address and
// provider.
func BySource(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lane id.Lane, since, until time.Time) (map[SourceProvider]ProviderCounts, error) {
	all := map[SourceProvider]ProviderCounts{}
	rows, err := db.Query(ctx, `SELECT source, provider, `+providerSums+` FROM traffic_provider
		WHERE tenant_id = $1 AND lane_id = $2 AND bucket >= $3 AND bucket < $4 GROUP BY source, provider`,
		tenant, lane, since.UnixMicro(), until.UnixMicro())
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var source string
		var k SourceProvider
		var c ProviderCounts
		if err := scan(append([]any{&source, &k.Provider}, c.fields()...)...); err != nil {
			return err
		}
		if source != "" {
			var err error
			if k.Source, err = netip.ParseAddr(source); err != nil {
				return err
			}
		}
		all[k] = all[k].Plus(c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of source addresses: %w", err)
	}
	return all, nil
}

// DomainProvider is a sending domain of any tenant and a provider.
type DomainProvider struct {
	Domain
	Provider string
}

// ByDomainAndProvider returns the counts since a time of the domains of all tenants.
func ByDomainAndProvider(ctx context.Context, db *sqldb.DB, since time.Time) (map[DomainProvider]ProviderCounts, error) {
	all := map[DomainProvider]ProviderCounts{}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every domain */
		SELECT tenant_id, domain_id, provider, `+providerSums+` FROM traffic_provider
		WHERE bucket >= $1 AND domain_id <> $2 GROUP BY tenant_id, domain_id, provider`, since.UnixMicro(), id.Domain{})
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var k DomainProvider
		var c ProviderCounts
		err := scan(append([]any{&k.Tenant, &k.Domain.Domain, &k.Provider}, c.fields()...)...)
		all[k] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of domains by provider: %w", err)
	}
	return all, nil
}

// OfDomainByProvider returns the counts of one domain since a time, by provider.
func OfDomainByProvider(ctx context.Context, db *sqldb.DB, d Domain, since time.Time) (map[string]ProviderCounts, error) {
	all := map[string]ProviderCounts{}
	rows, err := db.Query(ctx, `
		SELECT provider, `+providerSums+` FROM traffic_provider
		WHERE tenant_id = $1 AND domain_id = $2 AND bucket >= $3 GROUP BY provider`, d.Tenant, d.Domain, since.UnixMicro())
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var provider string
		var c ProviderCounts
		err := scan(append([]any{&provider}, c.fields()...)...)
		all[provider] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sum up the traffic of a domain by provider: %w", err)
	}
	return all, nil
}
