package contactsearch

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Await lets contacts whose search_text was just written wait for the index of
// the search. Whatever writes that column calls it in the same transaction.
//
// One that waits already is written all the same: that makes us wait for an
// indexer that is just taking it away.
func Await(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry) error {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) }) // one order of locks for all
	t := tx.Table("contact_id UUID", "search_text TEXT")
	for _, w := range list {
		t.Add(w.Contact, w.Text)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
		SELECT h.tenant_id, v.contact_id, v.search_text FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, contact_id) DO UPDATE SET search_text = excluded.search_text`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("tell the search index: %w", err)
	}
	return nil
}

// Forget has the index forget what it says of contacts that were just
// anonymised.
func Forget(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) error {
	t := tx.Table("contact_id UUID")
	for _, c := range ids {
		t.Add(c)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_search_forgotten (tenant_id, contact_id)
		SELECT h.tenant_id, v.contact_id FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT DO NOTHING`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("tell the search index: %w", err)
	}
	return nil
}
