package outbox

import (
	"context"
	"fmt"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// LastSenders returns from which identity each of the contacts heard last, or is
// about to hear, by mail of an email type; who never did is left out. Messages of
// the stream that asks do not count, nor those that nobody got.
func LastSenders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, asking string, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	last := make(map[id.Contact]id.Identity, len(contacts))
	if len(contacts) == 0 {
		return last, nil
	}
	rows, err := db.Query(ctx, `
		SELECT contact_id, identity_id FROM (
			SELECT m.contact_id, m.identity_id, ROW_NUMBER() OVER (PARTITION BY m.contact_id ORDER BY m.id DESC) AS nth
			FROM outbox AS m
			JOIN outbox_stream AS s ON s.tenant_id = m.tenant_id AND s.id = m.stream_id
			WHERE m.tenant_id = $1 AND m.contact_id`+db.In(4)+`AND m.stream_id <> $3 AND s.email_type_id = $2
				AND m.state NOT IN ('failed', 'skipped', 'held_back', 'cancelled')) AS heard
		WHERE nth = 1`, tenant, typ, asking, sqldb.List(db, contacts))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (struct{}, error) {
		var c id.Contact
		var i id.Identity
		err := scan(&c, &i)
		last[c] = i
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("find who wrote to contacts last: %w", err)
	}
	return last, nil
}
