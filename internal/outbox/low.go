package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The order in which messages are claimed keeps those that have ended. So that
// nobody passes over them again and again, a send says from where on any of its
// messages waits (low_due, low_id). Who finds the first that waits raises it, unless
// low_turn has changed since before: who makes a message wait, or changes when it is
// due, lowers it if need be, and changes low_turn, in the same transaction.

// lowerMarkSQL is the part of an UPDATE of a send that lowers its mark below the time of
// parameter $n, in microseconds.
func lowerMarkSQL(n int) string {
	return fmt.Sprintf(`low_id = CASE WHEN $%[1]d <= low_due THEN NULL ELSE low_id END,
			low_due = CASE WHEN $%[1]d <= low_due THEN $%[1]d - 1 ELSE low_due END, low_turn = low_turn + 1`, n)
}

// lowerMark notes that messages of a send may wait that are due from a time on.
func lowerMark(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, due time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE send SET `+lowerMarkSQL(3)+` WHERE tenant_id = $1 AND id = $2`, tenant, send, micros(due))
	if err != nil {
		return fmt.Errorf("note from when on messages wait: %w", err)
	}
	return nil
}

// micros is a time in the database, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// lowMark returns the place before which no message of a send waits.
func lowMark(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (due int64, m id.Message, err error) {
	rows, err := db.Query(ctx, `SELECT low_due, low_id FROM send WHERE tenant_id = $1 AND id = $2`, tenant, send)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error { return scan(&due, &m) })
	if err != nil {
		return 0, m, fmt.Errorf("find from where on messages wait: %w", err)
	}
	return due, m, nil
}

// firstWaiting is the first message of send s that waits, as a column of it.
func firstWaiting(column string) string {
	return `(SELECT m.` + column + ` FROM outbox AS m WHERE m.tenant_id = s.tenant_id AND m.send_id = s.id AND m.state = 'queued'
			AND (m.due_at, m.id) >= (s.low_due, s.low_id) ORDER BY m.due_at, m.id LIMIT 1)`
}

// raise notes that no message waits before one, as was found when low_turn was turn.
func (r Ready) raise(ctx context.Context, db *sqldb.DB) error {
	_, err := db.Exec(ctx, `UPDATE send SET low_due = $3, low_id = $4 WHERE tenant_id = $1 AND id = $2 AND low_turn = $5`,
		r.Tenant, r.Send, r.NextDue.UnixMicro(), r.first, r.turn)
	if err != nil {
		return fmt.Errorf("note from where on messages wait: %w", err)
	}
	return nil
}
