package contact

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Addressees returns contacts with what Refusal asks of them and nothing else:
// address, status and consents. It is for going through a whole audience, where
// the rest of each row would be read for nothing.
func Addressees(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	rows, err := db.Query(ctx, `
		SELECT id, email, global_status, do_not_contact, subscriptions, category_subscriptions
		FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	var c Contact // whose columns are read, again and again
	dest := []any{
		&c.ID, &c.Email, sqldb.ToText(&c.Status), &c.DoNotContact,
		unpacked{&c.Subscriptions}, unpacked{&c.CategorySubscriptions},
	}
	list, err := sqldb.CollectInto(make([]Contact, 0, len(ids)), rows, err, func(scan func(...any) error) (Contact, error) {
		c = Contact{Tenant: tenant}
		err := scan(dest...)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("load addressees: %w", err)
	}
	return list, nil
}
