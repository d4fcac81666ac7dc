package sender

import (
	"context"

	"packetboat/internal/contact"
	"packetboat/internal/id"
	"packetboat/internal/sqldb"
	"packetboat/internal/suppression"
	"packetboat/internal/tenant"
)

// ContactTypes returns what package contact must know of a tenant's email types
// and categories.
func ContactTypes(ctx context.Context, db *sqldb.DB, t id.Tenant) (contact.Types, error) {
	var types contact.Types
	list, err := EmailTypes(ctx, db, t)
	if err != nil {
		return types, err
	}
	for _, e := range list {
		types.EmailTypes = append(types.EmailTypes, contact.EmailType{ID: e.ID, Key: e.Key, Category: e.Category})
	}
	categories, err := Categories(ctx, db, t)
	if err != nil {
		return types, err
	}
	for _, c := range categories {
		types.Categories = append(types.Categories, c.ID)
	}
	return types, nil
}

// ContactRules returns what a write of contacts must know from elsewhere: the
// email types, the account's limit, and the suppression list.
func ContactRules(ctx context.Context, db *sqldb.DB, t id.Tenant) (contact.Rules, error) {
	types, err := ContactTypes(ctx, db, t)
	if err != nil {
		return contact.Rules{}, err
	}
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return contact.Rules{}, err
	}
	return contact.Rules{Types: types, Limit: account.ContactLimit, Listed: suppression.Listed}, nil
}
