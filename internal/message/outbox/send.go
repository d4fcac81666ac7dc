package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when the messages of a send may be claimed, or no longer may.
const Wake sqldb.Signal = "outbox"

// setPhase changes the phase of a send if it is one of from, and reports whether it was.
func setPhase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, to Phase, from ...Phase) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE send SET phase = $3 WHERE tenant_id = $1 AND id = $2 AND phase`+tx.In(4),
		tenant, send, to, sqldb.List(tx, from))
	if err != nil {
		return false, fmt.Errorf("set the phase of a send to %s: %w", to, err)
	}
	if n == 1 {
		tx.Notify(Wake)
	}
	return n == 1, nil
}

// Start opens a held or paused send. If it is sealed and no message waits, it ends.
func Start(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if ok, err := setPhase(ctx, tx, tenant, send, Open, Held, Paused); err != nil || !ok {
			return err
		}
		if err := enqueue(ctx, tx, tenant, send); err != nil {
			return err
		}
		return endIfOver(ctx, tx, tenant, send, now)
	})
}

// Pause pauses a send. Attempts in flight finish.
func Pause(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	_, err := setPhase(ctx, tx, tenant, send, Paused, Held, Open)
	return err
}

// Cancel cancels a send. Its messages are not claimed any more; those waiting are cancelled page by
// page (CancelWaiting). Attempts in flight finish, and then the send ends.
func Cancel(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if ok, err := setPhase(ctx, tx, tenant, send, Cancelled, Held, Open, Paused); err != nil || !ok {
			return err
		}
		if err := enqueue(ctx, tx, tenant, send); err != nil {
			return err
		}
		if n, err := CancelWaiting(ctx, tx, tenant, send, now); err != nil || n > 0 {
			return err
		}
		return endIfOver(ctx, tx, tenant, send, now)
	})
}

// Seal marks a send to which no messages will be added. A send that is never sealed, such as that
// of a step of a live sequence, has no end.
func Seal(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := tx.Exec(ctx, `UPDATE send SET sealed = TRUE WHERE tenant_id = $1 AND id = $2`, tenant, send)
		if err != nil {
			return fmt.Errorf("seal a send: %w", err)
		}
		return endIfOver(ctx, tx, tenant, send, now)
	})
}

// cancelPage is how many messages one CancelWaiting cancels.
const cancelPage = 5000

// CancelWaiting cancels up to a page of the waiting messages of a cancelled send, and returns how
// many it cancelled.
func CancelWaiting(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (int, error) {
	n := 0
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		// The phase is 'cancelled', so no attempt begins any more. Those that have begun end as what their
		// servers answer: a mail that arrived must not count as cancelled.
		inFlight, err := InFlight(ctx, tx, tenant, send)
		if err != nil {
			return err
		}
		due, first, err := lowMark(ctx, tx, tenant, send)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT m.id FROM outbox AS m
			JOIN send AS s ON s.tenant_id = m.tenant_id AND s.id = m.send_id AND s.phase = 'cancelled'
			WHERE m.tenant_id = $1 AND m.send_id = $2 AND m.state = 'queued' AND NOT m.id`+tx.In(6)+` AND (m.due_at, m.id) >= ($4, $5)
			ORDER BY m.due_at, m.id LIMIT $3`, tenant, send, cancelPage, due, first, sqldb.List(tx, inFlight))
		waiting, err := sqldb.Collect(rows, err, messageID)
		if err != nil || len(waiting) == 0 {
			n = 0
			return err
		}
		rows, err = tx.Query(ctx, `
			UPDATE outbox SET state = 'cancelled' WHERE tenant_id = $1 AND id`+tx.In(2)+` AND state = 'queued'
			RETURNING id, contact_id, deferred`, tenant, sqldb.List(tx, waiting))
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (it Item, err error) {
			it.Send = send
			err = scan(&it.ID, &it.Contact, &it.Deferred)
			return it, err
		})
		if err != nil {
			return err
		}
		n = len(list)
		s := Sums{Cancelled: n, Waiting: -n}
		noted := newNotes(tx)
		for _, it := range list {
			if it.Deferred {
				s.Deferred--
			}
			noted.add(Result{Item: it, State: MessageCancelled})
		}
		if err := noted.write(ctx, tx, tenant); err != nil {
			return err
		}
		return s.add(ctx, tx, tenant, send, now)
	})
	if err != nil {
		return 0, fmt.Errorf("cancel waiting messages: %w", err)
	}
	return n, nil
}

// Sums are the counts of a send's messages by state.
type Sums struct {
	Total     int
	Waiting   int // queued: not tried yet, in flight, or deferred
	Deferred  int // waiting for another attempt
	Sent      int // accepted, or refused for the address
	Delivered int
	Bounced   int
	Failed    int
	Skipped   int
	HeldBack  int
	Cancelled int
}

// Queued returns how many messages wait for the end of their first attempt.
func (s Sums) Queued() int { return s.Waiting - s.Deferred }

// add adds s to the sums of the send.
func (s Sums) add(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	if s == (Sums{}) {
		return nil
	}
	_, err := change{Sums: s}.write(ctx, tx, tenant, send, now)
	return err
}

// write applies a change, which may be empty, to its send, and ends the send if it is over.
func (c change) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (*sendState, error) {
	b := tx.Batch()
	s := c.queue(b, tenant, send)
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("add to a send's sums: %w", err)
	}
	if s.over {
		return s, endSend(ctx, tx, tenant, send, now)
	}
	return s, nil
}

// sendState is the state of a send after a change. The row of the send is locked until the
// transaction ends.
type sendState struct {
	phase Phase // empty: the send does not exist
	over  bool  // no message waits, and none will be added: the caller ends it
}

// queue adds a change of a send to a batch. The returned state is set when the batch has run.
func (c change) queue(b *sqldb.Batch, tenant id.Tenant, send id.Send) *sendState {
	s, set := c.Sums, ""
	args := []any{tenant, send, s.Waiting, s.Deferred, s.Sent, s.Delivered, s.Bounced, s.Failed, s.Skipped, s.Cancelled, sqldb.MicrosOrZero(c.lastSent), s.HeldBack}
	if !c.firstWait.IsZero() {
		set, args = ", "+lowerMarkSQL(13), append(args, sqldb.MicrosOrZero(c.firstWait))
	}
	var after sendState
	b.Queue(`
		UPDATE send SET waiting = waiting + $3, deferred = deferred + $4, sent = sent + $5,
			delivered = delivered + $6, bounced = bounced + $7, failed = failed + $8, skipped = skipped + $9,
			cancelled = cancelled + $10, held_back = held_back + $12,
			last_send_at = CASE WHEN $11 > COALESCE(last_send_at, 0) THEN $11 ELSE last_send_at END`+set+`
		WHERE tenant_id = $1 AND id = $2 RETURNING phase, `+overSQL,
		func(scan func(...any) error) error { return scan(&after.phase, &after.over) }, args...)
	return &after
}

// Progress is the sums and the phase of a send.
type Progress struct {
	Sums
	Phase      Phase
	Sealed     bool // no messages will be added
	OpenedAt   time.Time
	LastSendAt *time.Time // nil before the first message was sent
}

// Load returns the progress of a send; the zero Progress if it does not exist.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Progress, error) {
	all, err := LoadAll(ctx, db, tenant, []id.Send{send})
	return all[send], err
}

// LoadAll returns the progress of the sends that exist.
func LoadAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Progress, error) {
	rows, err := db.Query(ctx, `
		SELECT id, phase, sealed, opened_at, last_send_at, total, waiting, deferred, sent, delivered, bounced, failed, skipped, held_back, cancelled
		FROM send WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, sends))
	all := map[id.Send]Progress{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var p Progress
		var opened int64
		var last sql.NullInt64
		err := scan(&send, &p.Phase, &p.Sealed, &opened, &last, &p.Total, &p.Waiting, &p.Deferred, &p.Sent,
			&p.Delivered, &p.Bounced, &p.Failed, &p.Skipped, &p.HeldBack, &p.Cancelled)
		p.OpenedAt, p.LastSendAt = sqldb.Time(opened), sqldb.NullTime(last)
		all[send] = p
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load sends: %w", err)
	}
	return all, nil
}

// Live reports whether the send is in progress or paused.
func (p Progress) Live() bool { return p.Phase == Held || p.Phase == Open || p.Phase == Paused }

// Live reports whether a send is in progress or paused.
func Live(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (bool, error) {
	p, err := Load(ctx, db, tenant, send)
	return p.Live(), err
}
