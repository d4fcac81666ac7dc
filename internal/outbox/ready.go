package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Ready is a stream to look at: it is open and has messages waiting, or it is
// cancelled and has some left to cancel.
type Ready struct {
	Tenant    id.Tenant
	Stream    id.Send
	Cancelled bool
	NextDue   time.Time // of the message that is due first; zero when none is queued
}

// ReadyStreams returns the streams to look at, in no order.
func ReadyStreams(ctx context.Context, db *sqldb.DB) ([]Ready, error) {
	rows, err := db.Query(ctx, `
		SELECT s.tenant_id, s.id, s.phase = 'cancelled',
			(SELECT m.due_at FROM outbox AS m WHERE m.tenant_id = s.tenant_id AND m.send_id = s.id AND m.state = 'queued' ORDER BY m.due_at, m.id LIMIT 1)
		FROM send AS s
		WHERE s.phase IN ('open', 'cancelled') AND s.waiting > 0 /* all tenants: the engine serves everyone */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Ready, error) {
		var r Ready
		var due sql.NullInt64
		err := scan(&r.Tenant, &r.Stream, &r.Cancelled, &due)
		if due.Valid {
			r.NextDue = sqldb.Time(due.Int64)
		}
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list streams with waiting messages: %w", err)
	}
	return list, nil
}
