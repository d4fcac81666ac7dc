package sender

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/suppression"
	"github.com/packetboat/packetboat/internal/tenant"
)

// ContactTypes returns a tenant's email types and categories for package contact.
func ContactTypes(ctx context.Context, db *sqldb.DB, t id.Tenant) (contact.Types, error) {
	// Every write of contacts executes this, so it is a single statement. Rows without a type are
	// categories.
	rows, err := db.Query(ctx, `
		SELECT id, type_key, category_id, sort_order, display_name FROM email_type WHERE tenant_id = $1
		UNION ALL
		SELECT NULL, NULL, id, 0, NULL FROM email_category WHERE tenant_id = $1
		ORDER BY 4, 5, 1`, t)
	var types contact.Types
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (one contact.EmailType, err error) {
		var order int64
		var name string
		if err := row(&one.ID, sqldb.ToText(&one.Key), &one.Category, &order, sqldb.ToText(&name)); err != nil {
			return one, err
		}
		if one.ID.IsZero() {
			types.Categories = append(types.Categories, one.Category)
		} else {
			types.EmailTypes = append(types.EmailTypes, one)
		}
		return one, nil
	})
	if err != nil {
		return contact.Types{}, fmt.Errorf("read email types and categories: %w", err)
	}
	return types, nil
}

// ContactRules returns what package contact needs from other packages to write contacts: email
// types, the account's limit, and the suppression list.
func ContactRules(ctx context.Context, db *sqldb.DB, t id.Tenant) (contact.Rules, error) {
	types, err := ContactTypes(ctx, db, t)
	if err != nil {
		return contact.Rules{}, err
	}
	limit, err := tenant.ContactLimit(ctx, db, t)
	if err != nil {
		return contact.Rules{}, err
	}
	return contact.Rules{Types: types, Limit: limit, Listed: suppression.Listed}, nil
}
