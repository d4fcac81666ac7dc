package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when messages may begin to leave, or must not any more.
const Wake sqldb.Signal = "outbox"

// move changes a send's phase if it is in one of the phases named, and reports
// whether it was.
func move(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, to Phase, from ...Phase) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE send SET phase = $3 WHERE tenant_id = $1 AND id = $2 AND phase`+tx.In(4),
		tenant, send, to, sqldb.List(tx, from))
	if err != nil {
		return false, fmt.Errorf("move a send to %s: %w", to, err)
	}
	if n == 1 {
		tx.Notify(Wake)
	}
	return n == 1, nil
}

// Start lets the messages of a held or paused send leave. A sealed send of which
// nothing waits ends.
func Start(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if ok, err := move(ctx, tx, tenant, send, Open, Held, Paused); err != nil || !ok {
			return err
		}
		if err := enqueue(ctx, tx, tenant, send); err != nil {
			return err
		}
		return endIfOver(ctx, tx, tenant, send, now)
	})
}

// Pause keeps the messages of a send back. Attempts under way finish.
func Pause(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	_, err := move(ctx, tx, tenant, send, Paused, Held, Open)
	return err
}

// Cancel stops a send: nothing of it is claimed any more, and what waits becomes
// cancelled, page by page (CancelWaiting). Attempts under way finish, and then it ends.
func Cancel(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if ok, err := move(ctx, tx, tenant, send, Cancelled, Held, Open, Paused); err != nil || !ok {
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

// Seal says that nothing more will be put into the send. One that is never sealed,
// such as that of a step of a live sequence, has no end.
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

// CancelWaiting turns up to a page of a cancelled send's waiting messages into
// cancelled ones, and reports how many there were.
func CancelWaiting(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (int, error) {
	n := 0
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		under, err := InFlight(ctx, tx, tenant, send)
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
			ORDER BY m.due_at, m.id LIMIT $3`, tenant, send, cancelPage, due, first, sqldb.List(tx, under))
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
			return it, scan(&it.ID, &it.Contact, &it.Deferred)
		})
		if err != nil {
			return err
		}
		n = len(list)
		s := Sums{Cancelled: n, Waiting: -n}
		said := newNotes(tx)
		for _, it := range list {
			if it.Deferred {
				s.Deferred--
			}
			said.add(Result{Item: it, State: Dropped})
		}
		if err := said.write(ctx, tx, tenant); err != nil {
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
	Waiting   int // queued: not tried yet, under way, or deferred
	Deferred  int // of those waiting, the ones told to come again later
	Sent      int // hand-off ended: accepted, or refused for this address
	Delivered int
	Bounced   int
	Failed    int
	Skipped   int
	HeldBack  int
	Cancelled int
}

// Queued returns how many wait for their first attempt to end.
func (s Sums) Queued() int { return s.Waiting - s.Deferred }

// add adds s to what the send has.
func (s Sums) add(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	if s == (Sums{}) {
		return nil
	}
	_, err := change{Sums: s}.write(ctx, tx, tenant, send, now)
	return err
}

// write adds a change to its send, be it of nothing. A send that is over with it ends.
func (c change) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (*standing, error) {
	b := tx.Batch()
	s := c.queue(b, tenant, send)
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("add to a send's sums: %w", err)
	}
	if s.over {
		return s, end(ctx, tx, tenant, send, now)
	}
	return s, nil
}

// standing is where a send stands after a change. Nobody changes its phase before the
// transaction ends.
type standing struct {
	phase Phase // empty: the send is gone
	over  bool  // nothing waits, and nothing more will be put: it is to end
}

// queue adds to a batch what adds a change to its send. The answer is known when the
// batch has run.
func (c change) queue(b *sqldb.Batch, tenant id.Tenant, send id.Send) *standing {
	s, set := c.Sums, ""
	args := []any{tenant, send, s.Waiting, s.Deferred, s.Sent, s.Delivered, s.Bounced, s.Failed, s.Skipped, s.Cancelled, micros(c.sent), s.HeldBack}
	if !c.wait.IsZero() {
		set, args = ", "+lowerMarkSQL(13), append(args, micros(c.wait))
	}
	var after standing
	b.Queue(`
		UPDATE send SET waiting = waiting + $3, deferred = deferred + $4, sent = sent + $5,
			delivered = delivered + $6, bounced = bounced + $7, failed = failed + $8, skipped = skipped + $9,
			cancelled = cancelled + $10, held_back = held_back + $12,
			last_send_at = CASE WHEN $11 > COALESCE(last_send_at, 0) THEN $11 ELSE last_send_at END`+set+`
		WHERE tenant_id = $1 AND id = $2 RETURNING phase, `+over,
		func(scan func(...any) error) error { return scan(&after.phase, &after.over) }, args...)
	return &after
}

// Progress is where a send stands.
type Progress struct {
	Sums
	Phase      Phase
	Sealed     bool // nothing more will be put
	OpenedAt   time.Time
	LastSendAt *time.Time // nil before the first hand-off
}

// Load returns where a send stands; the zero Progress when there is none.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Progress, error) {
	all, err := LoadAll(ctx, db, tenant, []id.Send{send})
	return all[send], err
}

// LoadAll returns where each of the sends stands; unknown ones are left out.
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

// Live reports whether the send is under way, be it paused.
func (p Progress) Live() bool { return p.Phase == Held || p.Phase == Open || p.Phase == Paused }

// Live reports whether a send is under way, be it paused; one that is gone is not.
func Live(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (bool, error) {
	p, err := Load(ctx, db, tenant, send)
	return p.Live(), err
}
