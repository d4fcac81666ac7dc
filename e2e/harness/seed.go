package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/segment"
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
		t := db.Table("id UUID", "n BIGINT", "first_name TEXT", "city TEXT")
		for i := from; i < min(from+page, n); i++ {
			t.Add(id.Made[id.Contact](now), i, firstNames[i%len(firstNames)], cities[i%len(cities)])
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return insertPage(ctx, tx, tenant, seg.ID, t, domain, now) }); err != nil {
			return fmt.Errorf("seed contacts: %w", err)
		}
	}
	_, err = db.Exec(ctx, `
		INSERT INTO contact_search_queue (tenant_id, contact_id, search_text)
		SELECT tenant_id, id, search_text FROM contact WHERE tenant_id = $1 ON CONFLICT DO NOTHING`, tenant)
	if err != nil {
		return fmt.Errorf("seed the search index: %w", err)
	}
	_, err = segment.Recount(ctx, db, tenant, seg.ID, now)
	return err
}

func insertPage(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.Segment, t *sqldb.Table, domain string, now time.Time) error {
	from := " FROM " + t.As("v", 4)
	for _, insert := range []struct {
		text   string
		second any
	}{
		{`INSERT INTO contact (tenant_id, id, email, email_domain, first_name, city, custom_fields, tags, subscriptions,
			category_subscriptions, global_status, do_not_contact, prospect_score, customer_score, created_at, updated_at, search_text)
		SELECT ` + tx.Param(1, "INTEGER") + `, v.id, 'person' || v.n || '@' || CAST($2 AS TEXT), CAST($2 AS TEXT), v.first_name, v.city, '{}', '[]', '{}', '{}',
			'active', FALSE, 0, 0, CAST($3 AS BIGINT), CAST($3 AS BIGINT), 'person' || v.n || '@' || CAST($2 AS TEXT)`, domain},
		{`INSERT INTO segment_member (tenant_id, segment_id, contact_id, added_at)
		SELECT ` + tx.Param(1, "INTEGER") + `, ` + tx.Param(2, "UUID") + `, v.id, CAST($3 AS BIGINT)`, list},
	} {
		if _, err := tx.Exec(ctx, insert.text+from, t.Args(tenant, insert.second, now.UnixMicro())...); err != nil {
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
