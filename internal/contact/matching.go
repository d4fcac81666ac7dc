package contact

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Matching returns the next contacts after one that a selector means, in the
// order of their ids. Fewer than limit means that there are no more. Work that
// goes through everybody remembers the last id and nothing else: a contact is
// met once, whatever becomes of those before it.
func Matching(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Selector, after id.Contact, limit int) ([]id.Contact, error) {
	s, err := selection(db, tenant, q, nil)
	if err != nil {
		return nil, err
	}
	var list []id.Contact
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		rows, err := db.Query(ctx, `
			SELECT c.id FROM contact c `+s.joins.String()+`
			WHERE c.tenant_id = $1 AND c.id > `+s.arg(after)+s.conditions.String()+`
			ORDER BY c.id LIMIT `+s.arg(limit), s.args...)
		list, err = sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
			var c id.Contact
			return c, row(&c)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the contacts that match: %w", err)
	}
	return list, nil
}
