package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// A plan assigns due times in two steps. First the messages of each lane, best engaged recipients
// first, are read once and divided into slots, of which there are few. Then each message is
// assigned the time of its slot, in the order of the table, so that each page of the table is
// written once: messages that are neighbours in the plan are on different pages.

// Boundary is a position in the order of a planned send, after which a slot begins.
type Boundary struct {
	Rank string
	ID   id.Message
}

// Slot is a time at which messages of a lane are due: those after a boundary, up to that of the
// lane's next slot.
type Slot struct {
	Lane  id.Lane
	After Boundary // zero: begins with the first message
	Due   time.Time
	Day   spread.Day // empty: none, and its messages are held back
}

// Boundaries numbers the messages of a lane that are in scope from 1, best engaged recipients
// first, and returns the boundaries after the messages with the given numbers, in order; fewer if
// there are fewer messages.
func Boundaries(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, lane id.Lane, scope PlanScope, numbers []int) ([]Boundary, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	condition, args := "", []any{tenant, send, lane, numbers[len(numbers)-1]}
	if scope != (PlanScope{}) { // otherwise the index alone is read
		inFlight, err := InFlight(ctx, db, tenant, send)
		if err != nil {
			return nil, err
		}
		condition, args = ` AND `+inScope(db, 5), scope.args(db, inFlight, args...)
	}
	rows, err := db.Query(ctx, `
		SELECT rank, id FROM outbox
		WHERE tenant_id = $1 AND send_id = $2 AND lane_id = $3 AND rank IS NOT NULL AND state = 'queued'`+condition+`
		ORDER BY rank, id LIMIT $4`, args...)
	places := make([]Boundary, 0, len(numbers))
	if err == nil {
		defer rows.Close()
		for n := 1; len(places) < len(numbers) && rows.Next(); n++ {
			if n == numbers[len(places)] {
				var p Boundary
				err = rows.Scan(&p.Rank, &p.ID)
				places = append(places, p)
			}
		}
		if err == nil {
			err = rows.Err()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find boundaries in the order of a send: %w", err)
	}
	return places, nil
}

// CreateSlots stores the slots of a send, replacing earlier ones.
func CreateSlots(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, slots []Slot) error {
	if err := DropSlots(ctx, tx, tenant, send); err != nil || len(slots) == 0 {
		return err
	}
	t := tx.Table("lane_id UUID", "after_rank TEXT", "after_id UUID", "due_at BIGINT", "day TEXT")
	for _, s := range slots {
		t.Add(s.Lane, s.After.Rank, s.After.ID, s.Due.UnixMicro(), s.Day)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox_slot (tenant_id, send_id, lane_id, after_rank, after_id, due_at, day)
		SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.lane_id, v.after_rank, v.after_id, v.due_at, v.day FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(tenant, send)...)
	if err != nil {
		return fmt.Errorf("create the slots of a send: %w", err)
	}
	return nil
}

// DropSlots deletes the slots of a send.
func DropSlots(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	if _, err := tx.Exec(ctx, `DELETE FROM outbox_slot WHERE tenant_id = $1 AND send_id = $2`, tenant, send); err != nil {
		return fmt.Errorf("delete the slots of a send: %w", err)
	}
	return nil
}

// SlotTimes returns the times of a send's slots.
func SlotTimes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) (Times, error) {
	return timesOf(db.QueryRow(ctx, `
		SELECT MIN(CASE WHEN due_at > $3 THEN due_at END), MAX(CASE WHEN due_at > $3 THEN due_at END),
			COALESCE(MAX(CASE WHEN due_at <= $3 THEN 1 ELSE 0 END), 0) = 1
		FROM outbox_slot WHERE tenant_id = $1 AND send_id = $2 AND day <> ''`, tenant, send, now.UnixMicro()).Scan)
}

// slotOf returns an expression for columns of the slot of a row of outbox.
func slotOf(columns string) string {
	return `(SELECT ` + columns + ` FROM outbox_slot AS s
		WHERE s.tenant_id = $1 AND s.send_id = $2 AND s.lane_id = outbox.lane_id AND (s.after_rank, s.after_id) < (outbox.rank, outbox.id)
		ORDER BY s.after_rank DESC, s.after_id DESC LIMIT 1)`
}

// slotLanes returns the lanes that have slots, and those of them in which messages are held back.
func slotLanes(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) (lanes, unfit []id.Lane, err error) {
	rows, err := tx.Query(ctx, `
		SELECT lane_id, MAX(CASE WHEN day = '' THEN 1 ELSE 0 END) FROM outbox_slot
		WHERE tenant_id = $1 AND send_id = $2 GROUP BY lane_id`, tenant, send)
	lanes, err = sqldb.Collect(rows, err, func(scan func(...any) error) (lane id.Lane, err error) {
		var some int
		if err = scan(&lane, &some); some == 1 {
			unfit = append(unfit, lane)
		}
		return lane, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("load the slots of a send: %w", err)
	}
	return lanes, unfit, nil
}

// Batch is a part of a send whose messages are assigned due times together.
type Batch struct {
	Scope PlanScope  // other messages keep their times
	After id.Contact // it begins after this contact
	Limit int        // of messages
}

// AssignDueTimes assigns the messages of a batch the times of their slots, and holds back those
// whose slot has none. It revokes claims on the send. It returns the last contact of the batch, and
// whether there may be more after it.
func AssignDueTimes(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, p Batch, now time.Time) (last id.Contact, more bool, err error) {
	n := 0
	err = tx.QueryRow(ctx, `
		WITH m AS (
			SELECT contact_id FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND contact_id > $3
			ORDER BY contact_id LIMIT $4)
		SELECT (SELECT contact_id FROM m ORDER BY contact_id DESC LIMIT 1), (SELECT COUNT(*) FROM m)`, tenant, send, p.After, p.Limit).Scan(&last, &n)
	if err != nil {
		return id.Contact{}, false, fmt.Errorf("find messages to plan: %w", err)
	}
	if n == 0 {
		return p.After, false, nil
	}
	if err := revokeClaims(ctx, tx, tenant, send); err != nil {
		return id.Contact{}, false, fmt.Errorf("revoke claims of a planned send: %w", err)
	}
	inFlight, err := InFlight(ctx, tx, tenant, send)
	if err != nil {
		return id.Contact{}, false, err
	}
	lanes, unfit, err := slotLanes(ctx, tx, tenant, send)
	if err != nil {
		return id.Contact{}, false, err
	}
	if len(unfit) > 0 {
		rows, err := tx.Query(ctx, `
			UPDATE outbox SET state = 'held_back', plan_day = NULL, epoch = epoch + 1
			WHERE `+inBatch+` AND lane_id`+tx.In(5)+` AND `+slotOf("s.day")+` = '' AND `+inScope(tx, 6)+`
			RETURNING id, contact_id`,
			p.Scope.args(tx, inFlight, tenant, send, p.After, last, sqldb.List(tx, unfit))...)
		noted := newNotes(tx)
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (it Item, err error) {
			err = scan(&it.ID, &it.Contact)
			it.Send = send
			noted.add(Result{Item: it, State: HeldBack, At: now})
			return it, err
		})
		if err == nil {
			err = noted.write(ctx, tx, tenant)
		}
		if err != nil {
			return id.Contact{}, false, fmt.Errorf("hold messages back: %w", err)
		}
		held := len(list)
		if err := (Sums{HeldBack: held, Waiting: -held}).add(ctx, tx, tenant, send, now); err != nil {
			return id.Contact{}, false, err
		}
	}
	// Messages that were held back are not queued any more.
	_, err = tx.Exec(ctx, `
		UPDATE outbox SET (due_at, plan_day) = `+slotOf("s.due_at, s.day")+`, queued_at = COALESCE(queued_at, due_at), epoch = epoch + 1
		WHERE `+inBatch+` AND lane_id`+tx.In(5)+` AND `+inScope(tx, 6),
		p.Scope.args(tx, inFlight, tenant, send, p.After, last, sqldb.List(tx, lanes))...)
	if err != nil {
		return id.Contact{}, false, fmt.Errorf("assign due times: %w", err)
	}
	if err := lowerMark(ctx, tx, tenant, send, time.Time{}); err != nil {
		return id.Contact{}, false, err
	}
	return last, n == p.Limit, nil
}

// inBatch is the condition that a message of a planned send is for a contact after $3, up to $4.
const inBatch = `tenant_id = $1 AND send_id = $2 AND contact_id > $3 AND contact_id <= $4 AND rank IS NOT NULL AND state = 'queued'`
