package journal

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Since returns the types of the entries of contacts after a position, except for those of mails that were sent and
// delivered and of the creation of contacts.
func Since(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact, pos int64) (map[id.Contact][]Type, error) {
	found := map[id.Contact][]Type{}
	if len(contacts) == 0 {
		return found, nil
	}
	inGroup, args := InGroup(db, tenant, tenant, sqldb.List(db, contacts), pos)
	rows, err := db.Query(ctx, `
		SELECT DISTINCT contact_id, type FROM journal
		WHERE tenant_id = $1`+inGroup+` AND contact_id`+db.In(2)+` AND pos > $3 AND `+timeline, args...)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var t Type
		err := scan(&c, sqldb.ToText(&t))
		found[c] = append(found[c], t)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what happened with contacts: %w", err)
	}
	return found, nil
}
