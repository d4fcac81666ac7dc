package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Seed puts n contacts into the tenant's list straight into the database, in
// far less time than n requests would take. Contact i has the address
// person<i>@<domain>, so that tests can compute who got mail.
func Seed(ctx context.Context, db *sqldb.DB, list string, n int, domain string) error {
	return SeedTenant(ctx, db, Tenant, list, n, domain)
}

// SeedTenant is Seed for any tenant.
func SeedTenant(ctx context.Context, db *sqldb.DB, slug, list string, n int, domain string) error {
	return seed(ctx, db, slug, list, n, func(int) string { return domain })
}

// SeedDomains is Seed with contacts at several domains: contact i is at the domain with the
// number i modulo their number.
func SeedDomains(ctx context.Context, db *sqldb.DB, list string, n int, domains []string) error {
	return seed(ctx, db, Tenant, list, n, func(i int) string { return domains[i%len(domains)] })
}

func seed(ctx context.Context, db *sqldb.DB, slug, list string, n int, domainOf func(i int) string) error {
	const page = 2000
	var tenant id.Tenant
	if err := db.QueryRow(ctx, `SELECT tenant_id FROM tenant WHERE slug = $1`, slug).Scan(&tenant); err != nil {
		return err
	}
	seg, err := segment.Find(ctx, db, tenant, list)
	if err != nil {
		return err
	}
	now := time.Now()
	for from := 0; from < n; from += page {
		t := db.Table("id UUID", "n BIGINT", "domain TEXT", "first_name TEXT", "city TEXT")
		for i := from; i < min(from+page, n); i++ {
			t.Add(id.Made[id.Contact](now), i, domainOf(i), firstNames[i%len(firstNames)], cities[i%len(cities)])
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return insertPage(ctx, tx, tenant, seg.ID, t, now) }); err != nil {
			return fmt.Errorf("seed contacts: %w", err)
		}
	}
	_, err = db.Exec(ctx, `
		INSERT INTO contact_search_queue (tenant_id, contact_id, search_text)
		SELECT tenant_id, id, search_text FROM contact WHERE tenant_id = $1 ON CONFLICT DO NOTHING`, tenant)
	if err != nil {
		return fmt.Errorf("seed the search index: %w", err)
	}
	if _, err := contact.CorrectCounts(ctx, db, tenant); err != nil {
		return err
	}
	_, err = segment.Recount(ctx, db, tenant, seg.ID, now)
	return err
}

func insertPage(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.Segment, t *sqldb.Table, now time.Time) error {
	for _, insert := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO contact (tenant_id, id, email, email_domain, first_name, city, custom_fields, tags, subscriptions,
			category_subscriptions, global_status, do_not_contact, prospect_score, customer_score, created_at, updated_at, search_text)
		SELECT ` + tx.Param(1, "INTEGER") + `, v.id, 'person' || v.n || '@' || v.domain, v.domain, v.first_name, v.city, '{}', '[]', '{}', '{}',
			'active', FALSE, 0, 0, CAST($2 AS BIGINT), CAST($2 AS BIGINT), 'person' || v.n || '@' || v.domain`, nil},
		{`INSERT INTO segment_member (tenant_id, segment_id, contact_id, added_at)
		SELECT ` + tx.Param(1, "INTEGER") + `, ` + tx.Param(3, "UUID") + `, v.id, CAST($2 AS BIGINT)`, []any{list}},
	} {
		args := append([]any{tenant, now.UnixMicro()}, insert.args...)
		if _, err := tx.Exec(ctx, insert.text+" FROM "+t.As("v", len(args)+1), t.Args(args...)...); err != nil {
			return err
		}
	}
	return nil
}

// Names and towns to personalise with.
var (
	firstNames = []string{"Ada", "Björn", "Chiara", "Dilnoza", "Emeka", "Fatima", "Goran", "Hana", "Iñigo", "Jun"}
	cities     = []string{"Aarhus", "Bergen", "Cádiz", "Dresden", "Esbjerg", "Faro", "Graz", "Heerlen"}
)
