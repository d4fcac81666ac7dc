package contact

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engagement is when a contact last clicked and opened; nil: never.
type Engagement struct{ Clicked, Opened *time.Time }

// Engagements returns when contacts last clicked and opened, those left out who
// did neither.
func Engagements(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]Engagement, error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id, last_email_clicked_at, last_email_opened_at FROM contact_activity
		WHERE tenant_id = $1 AND contact_id`+db.In(2)+` AND (last_email_clicked_at IS NOT NULL OR last_email_opened_at IS NOT NULL)`,
		tenant, sqldb.List(db, ids))
	all := map[id.Contact]Engagement{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var clicked, opened sql.NullInt64
		err := scan(&c, &clicked, &opened)
		all[c] = Engagement{sqldb.NullTime(clicked), sqldb.NullTime(opened)}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load when contacts were last engaged: %w", err)
	}
	return all, nil
}
