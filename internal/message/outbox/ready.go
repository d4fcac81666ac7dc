package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engines read the sends that have work from send_ready, which has few rows, however many sends are
// open. A send is inserted when messages are added that wait, and when it is opened or cancelled;
// it is deleted when ReadySends finds no waiting message. Both lock the row of the send first, so
// no send with work is missing.

// enqueue inserts a send, whose row the transaction has changed, into send_ready.
func enqueue(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO send_ready (tenant_id, send_id) VALUES ($1, $2) ON CONFLICT (tenant_id, send_id) DO NOTHING`, tenant, send)
	if err != nil {
		return fmt.Errorf("enqueue a send: %w", err)
	}
	return nil
}

// dequeue deletes a send from send_ready if it has no work.
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
		return fmt.Errorf("dequeue a send: %w", err)
	}
	return nil
}

// Ready is a send with work: it is open and has waiting messages, or it is cancelled and has some
// left to cancel.
type Ready struct {
	Tenant    id.Tenant
	Send      id.Send
	Cancelled bool
	NextDue   time.Time // of the first waiting message; zero if there is none

	hasWork     bool
	firstID     id.Message // the first waiting message
	mark        Position   // no message before it waits
	markVersion int64
}

// ReadySends returns the sends with work, in no order. It raises the mark of each to its first
// waiting message (low.go).
func ReadySends(ctx context.Context, db *sqldb.DB) ([]Ready, error) {
	rows, err := db.Query(ctx, `
		SELECT s.tenant_id, s.id, s.phase = 'cancelled', s.waiting > 0 AND s.phase IN ('open', 'cancelled'), s.low_due, s.low_id, s.low_turn,
			`+firstWaiting("due_at")+`, `+firstWaiting("id")+`
		FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id /* all tenants: the engine serves all tenants */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Ready, error) {
		var r Ready
		var due sql.NullInt64
		var lowDue int64
		err := scan(&r.Tenant, &r.Send, &r.Cancelled, &r.hasWork, &lowDue, &r.mark.ID, &r.markVersion, &due, &r.firstID)
		r.mark.DueAt = sqldb.Time(lowDue)
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
		case !r.hasWork:
			err = dequeue(ctx, db, r.Tenant, r.Send)
		case !r.NextDue.IsZero() && r.mark.compare(Position{r.NextDue, r.firstID}) != 0:
			err = r.raiseMark(ctx, db)
		}
		if err != nil {
			return nil, err
		}
		if r.hasWork {
			ready = append(ready, r)
		}
	}
	return ready, nil
}

// Backlog is the messages that the open sends of an installation have yet to deliver.
type Backlog struct {
	Waiting  int           // including deferred messages and those in flight
	Deferred int           // waiting for another attempt
	Overdue  time.Duration // of the message that has been due the longest
}

// LoadBacklog returns the backlog. It reads the sums of the open sends, and one message of each.
func LoadBacklog(ctx context.Context, db *sqldb.DB, now time.Time) (Backlog, error) {
	var b Backlog
	var due *int64
	err := db.QueryRow(ctx, `
		SELECT CAST(COALESCE(SUM(s.waiting), 0) AS BIGINT), CAST(COALESCE(SUM(s.deferred), 0) AS BIGINT), MIN(`+firstWaiting("due_at")+`)
		FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id WHERE s.phase = 'open' /* all tenants: a metric of the installation */`).Scan(&b.Waiting, &b.Deferred, &due)
	if err != nil {
		return Backlog{}, fmt.Errorf("load the backlog: %w", err)
	}
	if due != nil {
		b.Overdue = max(0, now.Sub(sqldb.Time(*due)))
	}
	return b, nil
}
