package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Ready is a send to look at: it is open and has messages waiting, or it is
// cancelled and has some left to cancel.
type Ready struct {
	Tenant    id.Tenant
	Send      id.Send
	Cancelled bool
	NextDue   time.Time // of the message that is due first; zero when none is queued

	first id.Message // the one that is due first
	low   Position   // before which none was known to wait
	turn  int64
}

// ReadySends returns the sends to look at, in no order. It notes from where on
// the messages of each wait.
func ReadySends(ctx context.Context, db *sqldb.DB) ([]Ready, error) {
	rows, err := db.Query(ctx, `
		SELECT s.tenant_id, s.id, s.phase = 'cancelled', s.low_due, s.low_id, s.low_turn, `+firstWaiting("due_at")+`, `+firstWaiting("id")+`
		FROM send AS s
		WHERE s.phase IN ('open', 'cancelled') AND s.waiting > 0 /* all tenants: the engine serves everyone */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Ready, error) {
		var r Ready
		var due sql.NullInt64
		var lowDue int64
		err := scan(&r.Tenant, &r.Send, &r.Cancelled, &lowDue, &r.low.ID, &r.turn, &due, &r.first)
		r.low.DueAt = sqldb.Time(lowDue)
		if due.Valid {
			r.NextDue = sqldb.Time(due.Int64)
		}
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sends with waiting messages: %w", err)
	}
	for _, r := range list {
		if r.NextDue.IsZero() || r.low.compare(Position{r.NextDue, r.first}) == 0 {
			continue
		}
		if err := r.raise(ctx, db); err != nil {
			return nil, err
		}
	}
	return list, nil
}
