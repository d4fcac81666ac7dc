package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Messages that have ended stay in the order in which messages are claimed. To avoid reading them
// again and again, a send stores the position of the first message that may wait (low_due, low_id).
// ReadySends raises this mark to the first waiting message it found, unless low_turn has changed
// since. A transaction that makes a message wait, or changes its due time, lowers the mark if
// necessary and increases low_turn.

// lowerMarkSQL returns the assignments of an UPDATE of send that lower the mark below the time of
// parameter $n, in microseconds.
func lowerMarkSQL(n int) string {
	return fmt.Sprintf(`low_id = CASE WHEN $%[1]d <= low_due THEN NULL ELSE low_id END,
			low_due = CASE WHEN $%[1]d <= low_due THEN $%[1]d - 1 ELSE low_due END, low_turn = low_turn + 1`, n)
}

// lowerMark lowers the mark of a send: messages may wait that are due at or after a time.
func lowerMark(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, due time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE send SET `+lowerMarkSQL(3)+` WHERE tenant_id = $1 AND id = $2`, tenant, send, sqldb.MicrosOrZero(due))
	if err != nil {
		return fmt.Errorf("lower the mark of a send: %w", err)
	}
	return nil
}

// lowMark returns the mark of a send: no message before this position waits.
func lowMark(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (due int64, m id.Message, err error) {
	rows, err := db.Query(ctx, `SELECT low_due, low_id FROM send WHERE tenant_id = $1 AND id = $2`, tenant, send)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error { return scan(&due, &m) })
	if err != nil {
		return 0, m, fmt.Errorf("load the mark of a send: %w", err)
	}
	return due, m, nil
}

// firstWaiting returns an expression for a column of the first waiting message of send s.
func firstWaiting(column string) string {
	return `(SELECT m.` + column + ` FROM outbox AS m WHERE m.tenant_id = s.tenant_id AND m.send_id = s.id AND m.state = 'queued'
			AND (m.due_at, m.id) >= (s.low_due, s.low_id) ORDER BY m.due_at, m.id LIMIT 1)`
}

// raiseMark sets the mark of a send to the message that was found first, if low_turn has not
// changed since.
func (r Ready) raiseMark(ctx context.Context, db *sqldb.DB) error {
	_, err := db.Exec(ctx, `UPDATE send SET low_due = $3, low_id = $4 WHERE tenant_id = $1 AND id = $2 AND low_turn = $5`,
		r.Tenant, r.Send, r.NextDue.UnixMicro(), r.firstID, r.markVersion)
	if err != nil {
		return fmt.Errorf("raise the mark of a send: %w", err)
	}
	return nil
}
