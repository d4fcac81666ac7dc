package sender

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ContactTypes returns a tenant's email types and categories for package contact.
func ContactTypes(ctx context.Context, db *sqldb.DB, t id.Tenant) (contact.Types, error) {
	b := db.Batch()
	types := queueContactTypes(b, t)
	if err := b.Run(ctx); err != nil {
		return contact.Types{}, fmt.Errorf("read email types and categories: %w", err)
	}
	return *types, nil
}

// queueContactTypes is ContactTypes as part of a batch, which fills the value that it returns.
func queueContactTypes(b *sqldb.Batch, t id.Tenant) *contact.Types {
	types := &contact.Types{}
	// Every write of contacts executes this, so it is a single statement. Rows without a type are
	// categories.
	b.Queue(`
		SELECT id, type_key, category_id, sort_order, display_name FROM email_type WHERE tenant_id = $1
		UNION ALL
		SELECT NULL, NULL, id, 0, NULL FROM email_category WHERE tenant_id = $1
		ORDER BY 4, 5, 1`, func(row func(...any) error) error {
		var one contact.EmailType
		var order int64
		var name string
		if err := row(&one.ID, sqldb.ToText(&one.Key), &one.Category, &order, sqldb.ToText(&name)); err != nil {
			return err
		}
		if one.ID.IsZero() {
			types.Categories = append(types.Categories, one.Category)
		} else {
			types.EmailTypes = append(types.EmailTypes, one)
		}
		return nil
	}, t)
	return types
}

// ContactRules returns what package contact needs from other packages to write contacts: email
// types, the account's limit, and the suppression list.
func ContactRules(ctx context.Context, db *sqldb.DB, t id.Tenant) (contact.Rules, error) {
	b := db.Batch()
	rules := QueueContactRules(b, t)
	if err := b.Run(ctx); err != nil {
		return contact.Rules{}, fmt.Errorf("read the rules of contacts: %w", err)
	}
	return rules()
}

// QueueContactRules is ContactRules as part of a batch. It returns a function to be called after
// the batch has run.
func QueueContactRules(b *sqldb.Batch, t id.Tenant) func() (contact.Rules, error) {
	types, limit := queueContactTypes(b, t), tenant.QueueContactLimit(b, t)
	return func() (contact.Rules, error) {
		most, err := limit()
		return contact.Rules{Types: *types, Limit: most, Listed: suppression.QueueListed}, err
	}
}
