package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FirstTime is the first time that something happened with a message.
type FirstTime struct {
	Message id.Message
	Type    Type
	At      time.Time
}

// FirstOf returns when entries of the types first occurred for each of the messages; contacts are
// their recipients. Only types that the index journal_contact includes are found, so not sending
// and delivery.
func FirstOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact, messages []id.Message, types ...Type) ([]FirstTime, error) {
	if len(messages) == 0 || len(types) == 0 {
		return nil, nil
	}
	inGroup, args := InGroup(db, tenant, tenant, sqldb.List(db, contacts), sqldb.List(db, messages), sqldb.List(db, types))
	rows, err := db.Query(ctx, `
		SELECT message_id, type, MIN(occurred_at) FROM journal
		WHERE tenant_id = $1`+inGroup+` AND contact_id`+db.In(2)+` AND message_id`+db.In(3)+` AND type`+db.In(4)+`
			AND contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created')
		GROUP BY message_id, type`, args...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m FirstTime, err error) {
		err = scan(&m.Message, &m.Type, sqldb.ToTime(&m.At))
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read first times from the journal: %w", err)
	}
	return list, nil
}
