package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FromVisitor is the source of contacts that visitors of websites create by giving an address.
const FromVisitor = "identify"

// Unconfirmed returns up to limit contacts that visitors created before a time and that are pending
// still: no user, no program of the tenant and no click in a mail has confirmed that the address is the
// visitor's. It returns those after a contact, in the order of ids.
func Unconfirmed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, after id.Contact, limit int) ([]id.Contact, error) {
	rows, err := db.Query(ctx, `
		SELECT id FROM contact
		WHERE tenant_id = $1 AND global_status = 'pending' AND source = '`+FromVisitor+`' AND created_at < $2 AND id > $3 ORDER BY id LIMIT $4`,
		tenant, sqldb.Micros(before), after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c id.Contact, err error) {
		err = scan(&c)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("find unconfirmed contacts: %w", err)
	}
	return list, nil
}

// EraseUnconfirmed anonymises those of contacts that are unconfirmed still, and returns their number.
func EraseUnconfirmed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, stores []PersonalData, now time.Time) (int, error) {
	n := 0
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		// Since they were found, some may have been confirmed. The locks keep the others as they are.
		list, err := lockByID(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		var due []id.Contact
		for _, c := range list {
			if c.Status == Pending && c.Source != nil && *c.Source == FromVisitor {
				due = append(due, c.ID)
			}
		}
		if n = len(due); n == 0 {
			return nil
		}
		_, err = Anonymize(ctx, tx, tenant, due, stores, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("erase unconfirmed contacts: %w", err)
	}
	return n, nil
}
