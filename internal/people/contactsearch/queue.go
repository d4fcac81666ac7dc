package contactsearch

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Enqueue queues contacts for the index. Each function that writes the column search_text
// calls it in the same transaction.
//
// A row that is queued already is updated too, so that the transaction waits for an indexer
// that is deleting it.
func Enqueue(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Entry) error {
	b := tx.Batch()
	QueueEntries(b, tx, tenant, list)
	if err := b.Run(ctx); err != nil {
		return fmt.Errorf("queue contacts for the search index: %w", err)
	}
	return nil
}

// QueueEntries is Enqueue as part of a batch of tx.
func QueueEntries(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, list []Entry) {
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b Entry) int { return id.Compare(a.Contact, b.Contact) }) // all transactions lock in this order
	t := tx.Table("contact_id UUID", "search_text TEXT")
	for _, w := range list {
		t.Add(w.Contact, w.Text)
	}
	b.Queue(`
		INSERT INTO contact_search_queue (tenant_id, contact_id, search_text)
		SELECT h.tenant_id, v.contact_id, v.search_text FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT (tenant_id, contact_id) DO UPDATE SET search_text = excluded.search_text`, nil, t.Args(tenant)...)
}

// Remove queues anonymised contacts for removal from the index.
func Remove(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) error {
	t := tx.Table("contact_id UUID")
	for _, c := range ids {
		t.Add(c)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_search_removed (tenant_id, contact_id)
		SELECT h.tenant_id, v.contact_id FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+`
		WHERE true ON CONFLICT DO NOTHING`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("remove contacts from the search index: %w", err)
	}
	return nil
}
