package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engines find sends that have work in send_ready, whose rows are few, however many
// sends are open: a send comes into it when messages begin to wait in it or when it
// is opened or cancelled, and goes out when ReadySends finds nothing of it waiting.
// Both hold the row of the send first, so no send with work is left out.

// enqueue notes that a send, whose row the transaction has changed, may have work.
func enqueue(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO send_ready (tenant_id, send_id) VALUES ($1, $2) ON CONFLICT (tenant_id, send_id) DO NOTHING`, tenant, send)
	if err != nil {
		return fmt.Errorf("note that a send has work: %w", err)
	}
	return nil
}

// dequeue takes a send out that has no work.
func dequeue(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var work bool
		err := tx.QueryRow(ctx, `
			SELECT waiting > 0 AND phase IN ('open', 'cancelled') FROM send WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(),
			tenant, send).Scan(&work)
		if errors.Is(err, sqldb.ErrNoRows) {
			err = nil
		}
		if err != nil || work {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM send_ready WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
		return err
	})
	if err != nil {
		return fmt.Errorf("note that a send has no work: %w", err)
	}
	return nil
}

// Ready is a send to look at: it is open and has messages waiting, or it is
// cancelled and has some left to cancel.
type Ready struct {
	Tenant    id.Tenant
	Send      id.Send
	Cancelled bool
	NextDue   time.Time // of the message that is due first; zero when none is queued

	work  bool
	first id.Message // the one that is due first
	low   Position   // before which none was known to wait
	turn  int64
}

// ReadySends returns the sends to look at, in no order. It notes from where on
// the messages of each wait.
func ReadySends(ctx context.Context, db *sqldb.DB) ([]Ready, error) {
	rows, err := db.Query(ctx, `
		SELECT s.tenant_id, s.id, s.phase = 'cancelled', s.waiting > 0 AND s.phase IN ('open', 'cancelled'), s.low_due, s.low_id, s.low_turn,
			`+firstWaiting("due_at")+`, `+firstWaiting("id")+`
		FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id /* all tenants: the engine serves everyone */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Ready, error) {
		var r Ready
		var due sql.NullInt64
		var lowDue int64
		err := scan(&r.Tenant, &r.Send, &r.Cancelled, &r.work, &lowDue, &r.low.ID, &r.turn, &due, &r.first)
		r.low.DueAt = sqldb.Time(lowDue)
		if due.Valid {
			r.NextDue = sqldb.Time(due.Int64)
		}
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sends with waiting messages: %w", err)
	}
	ready := list[:0]
	for _, r := range list {
		switch {
		case !r.work:
			err = dequeue(ctx, db, r.Tenant, r.Send)
		case !r.NextDue.IsZero() && r.low.compare(Position{r.NextDue, r.first}) != 0:
			err = r.raise(ctx, db)
		}
		if err != nil {
			return nil, err
		}
		if r.work {
			ready = append(ready, r)
		}
	}
	return ready, nil
}
