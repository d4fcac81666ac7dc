package contact

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Origin is where a contact came from, and its tags.
type Origin struct {
	Source string
	Tags   []string
}

// Origins returns those of contacts.
func Origins(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]Origin, error) {
	found := make(map[id.Contact]Origin, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT id, source, tags FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) {
		var o Origin
		var tags []byte
		if err := row(&c, sqldb.ToText(&o.Source), &tags); err != nil {
			return c, err
		}
		err = json.Unmarshal(tags, &o.Tags)
		found[c] = o
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("read where contacts came from: %w", err)
	}
	return found, nil
}
