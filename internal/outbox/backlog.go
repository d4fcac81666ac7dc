package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Backlog is what the open sends of an installation have still to deliver.
type Backlog struct {
	Waiting  int           // deferred messages, and those under way, among them
	Deferred int           // tried, and to be tried again
	Overdue  time.Duration // of the message that has been due longest
}

// LoadBacklog measures the backlog. It reads the sums of the open sends, and
// one row of each.
func LoadBacklog(ctx context.Context, db *sqldb.DB, now time.Time) (Backlog, error) {
	var b Backlog
	var due *int64
	err := db.QueryRow(ctx, `
		SELECT CAST(COALESCE(SUM(s.waiting), 0) AS BIGINT), CAST(COALESCE(SUM(s.deferred), 0) AS BIGINT), MIN(`+firstWaiting("due_at")+`)
		FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id WHERE s.phase = 'open' /* all tenants: the operator's measure */`).Scan(&b.Waiting, &b.Deferred, &due)
	if err != nil {
		return Backlog{}, fmt.Errorf("measure the backlog: %w", err)
	}
	if due != nil {
		b.Overdue = max(0, now.Sub(sqldb.Time(*due)))
	}
	return b, nil
}
