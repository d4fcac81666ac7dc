package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Addressee is whose mail a message is, and since when they have it.
type Addressee struct {
	Send    id.Send
	Contact id.Contact
	SentAt  *time.Time
}

// Addressees returns the addressees of those of the messages that exist.
func Addressees(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]Addressee, error) {
	rows, err := db.Query(ctx, `SELECT id, send_id, contact_id, sent_at FROM outbox WHERE tenant_id = $1 AND id`+db.In(2),
		tenant, sqldb.List(db, messages))
	found := make(map[id.Message]Addressee, len(messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var r Addressee
		var sent sql.NullInt64
		err = scan(&m, &r.Send, &r.Contact, &sent)
		r.SentAt = sqldb.NullTime(sent)
		found[m] = r
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("find addressees: %w", err)
	}
	return found, nil
}
