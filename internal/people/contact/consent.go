package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// SplitConsent replaces contacts' choices for a category by the same choices for each of
// the given email types, before the category is deleted. What contacts get does not change,
// so nothing is written to the journal.
func SplitConsent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, category id.Category, typeKeys []string, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		for {
			n, err := splitConsentPage(ctx, tx, tenant, category, typeKeys, now)
			if err != nil || n == 0 {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("split the consent to category %s: %w", category, err)
	}
	return nil
}

const splitPageSize = 500

func splitConsentPage(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, category id.Category, typeKeys []string, now time.Time) (int, error) {
	type consent struct {
		contact    id.Contact
		types      map[string]bool
		categories map[id.Category]bool
	}
	rows, err := tx.Query(ctx, `
		SELECT id, subscriptions, category_subscriptions FROM contact
		WHERE tenant_id = $1 AND category_subscriptions ->> CAST($2 AS TEXT) IS NOT NULL
		ORDER BY id LIMIT $3`+tx.ForUpdate(), tenant, category.String(), splitPageSize)
	page, err := sqldb.Collect(rows, err, func(row func(...any) error) (consent, error) {
		var c consent
		var types, categories string
		if err := row(&c.contact, &types, &categories); err != nil {
			return c, err
		}
		if err := json.Unmarshal([]byte(types), &c.types); err != nil {
			return c, err
		}
		err := json.Unmarshal([]byte(categories), &c.categories)
		return c, err
	})
	if err != nil || len(page) == 0 {
		return 0, err
	}
	t := tx.Table("id UUID", "subscriptions JSONB", "category_subscriptions JSONB")
	ids := make([]id.Contact, len(page))
	for i, c := range page {
		for _, key := range typeKeys {
			c.types[key] = c.categories[category]
		}
		delete(c.categories, category)
		types, err := json.Marshal(c.types)
		if err != nil {
			return 0, err
		}
		categories, err := json.Marshal(c.categories)
		if err != nil {
			return 0, err
		}
		t.Add(c.contact, string(types), string(categories))
		ids[i] = c.contact
	}
	if err := contactlog.Append(ctx, tx, tenant, ids); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE contact SET subscriptions = v.subscriptions, category_subscriptions = v.category_subscriptions, updated_at = $2,
			revision = contact.revision + 1, revised_by = $3
		FROM `+t.As("v", 4)+`
		WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now), revision.By(ctx))...)
	return len(page), err
}
