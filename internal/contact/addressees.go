package contact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Addressees returns contacts with what Refusal asks of them and nothing else:
// address, status and consents. It is for going through a whole audience, where
// the rest of each row would be read for nothing.
func Addressees(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	rows, err := db.Query(ctx, `
		SELECT id, email, global_status, do_not_contact, subscriptions, category_subscriptions
		FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Contact, error) {
		c := Contact{Tenant: tenant}
		var types, categories string
		if err := scan(&c.ID, &c.Email, &c.Status, &c.DoNotContact, &types, &categories); err != nil {
			return c, err
		}
		return c, errors.Join(unpack(types, &c.Subscriptions), unpack(categories, &c.CategorySubscriptions))
	})
	if err != nil {
		return nil, fmt.Errorf("load addressees: %w", err)
	}
	return list, nil
}

// unpack reads a column that is mostly an empty object.
func unpack(column string, v any) error {
	if column == "{}" {
		return nil
	}
	return json.Unmarshal([]byte(column), v)
}
