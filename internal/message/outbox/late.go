package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ReportOpen is how long after its last message events count in the report of a send.
const ReportOpen = 60 * 24 * time.Hour

// Closed reports whether the report of a send is closed for an event at a time.
func Closed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, at time.Time) (bool, error) {
	list, err := ClosedSends(ctx, db, tenant, []id.Send{send})
	end, ok := list[send]
	return ok && at.After(end), err
}

// ClosedSends returns when the reports of sends are closed. Sends without sent messages are not in
// the result.
func ClosedSends(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]time.Time, error) {
	ends := make(map[id.Send]time.Time, len(sends))
	if len(sends) == 0 {
		return ends, nil
	}
	rows, err := db.Query(ctx, `
		SELECT id, last_send_at FROM send WHERE tenant_id = $1 AND id`+db.In(2)+` AND last_send_at IS NOT NULL`, tenant, sqldb.List(db, sends))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var last time.Time
		err := scan(&send, sqldb.ToTime(&last))
		ends[send] = last.Add(ReportOpen)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load when reports close: %w", err)
	}
	return ends, nil
}

// Bounce is a bounce that arrived after the acceptance of its message.
type Bounce struct {
	Message id.Message
	At      time.Time
	Refusal // its Class is hard, soft or block
}

// classSoft is the class of a bounce that may be temporary.
const classSoft = "soft"

// lateRefusal is the data of the journal entry of a bounce that arrived after the acceptance of its
// message.
type lateRefusal struct {
	Refusal
	Run *[]int64 `json:"run,omitempty"` // of a soft bounce: see softRuns; microseconds
}

// RecordBounces moves messages that were accepted to Bounced, and returns those that it moved. A
// message in another state does not change: its attempt is not settled yet, or it bounced before.
// If the report of the send is closed, only the journal gets the bounce.
func RecordBounces(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bounces []Bounce) ([]id.Message, error) {
	var moved []id.Message
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		moved = nil
		byID := make(map[id.Message]Bounce, len(bounces))
		var ids []id.Message
		for _, b := range bounces {
			if b.Class == "" {
				return errors.New("a bounce without a class")
			}
			if _, twice := byID[b.Message]; !twice {
				byID[b.Message] = b
				ids = append(ids, b.Message)
			}
		}
		accepted, err := lockAccepted(ctx, tx, tenant, ids)
		if err != nil || len(accepted) == 0 {
			return err
		}
		sends := make([]id.Send, len(accepted))
		for i, m := range accepted {
			sends[i] = m.Send
		}
		slices.SortFunc(sends, id.Compare)
		closed, err := ClosedSends(ctx, tx, tenant, slices.Compact(sends))
		if err != nil {
			return err
		}
		of, err := Sends(ctx, tx, tenant, slices.Compact(sends))
		if err != nil {
			return err
		}
		changes, noted := changes{}, newNotes(tx)
		var late []id.Message
		var soft []id.Contact // that bounced softly
		var entries []journal.Entry
		for _, m := range accepted {
			b := byID[m.ID]
			if !b.At.After(m.sentAt) { // a refusal during the attempt ends when it was sent
				b.At = m.sentAt.Add(time.Microsecond)
			}
			e, about := journal.Entry{
				Tenant: tenant, Type: journal.EmailBounced, Contact: m.Contact, Send: m.Send, Message: m.ID, At: b.At, Data: lateRefusal{Refusal: b.Refusal},
			}, true
			if of[m.Send].Source.Kind == KindSeedCopy {
				e, about = seedEntry(e, Bounced, b.Class)
			}
			if about {
				entries = append(entries, e)
			}
			if end, ok := closed[m.Send]; ok && b.At.After(end) {
				continue
			}
			late = append(late, m.ID)
			if about && b.Class == classSoft {
				soft = append(soft, m.Contact)
			}
			r := Result{
				Item: m.Item, State: Bounced, At: b.At, BounceType: b.Class, Category: b.Category, Code: b.Code, Enhanced: b.Enhanced, Error: b.Text,
			}
			noted.add(r)
			key := sendKey{tenant, m.Send}
			c := changes[key]
			c.Delivered--
			c.Bounced++
			c.addParts(m.mix, MixSums{Delivered: -1, Bounced: 1}, b.At, TimeSums{Bounced: 1})
			c.addBounce(r, 1)
			c.addParts(m.mix, MixSums{}, m.sentAt, TimeSums{Delivered: -1})
			changes[key] = c
		}
		moved = late
		_, err = tx.Exec(ctx, `UPDATE outbox SET state = 'bounced' WHERE tenant_id = $1 AND id`+tx.In(2), tenant, sqldb.List(tx, late))
		if err != nil {
			return err
		}
		if err := noted.write(ctx, tx, tenant); err != nil {
			return err
		}
		b := tx.Batch()
		changes.queue(b, tx)
		if err := b.Run(ctx); err != nil {
			return err
		}
		runs, err := softRuns(ctx, tx, tenant, soft)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if r, ok := e.Data.(lateRefusal); ok && r.Class == classSoft {
				run := append([]int64{}, runs[e.Contact]...)
				r.Run = &run
				entries[i].Data = r
			}
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err != nil {
		return nil, fmt.Errorf("record bounces: %w", err)
	}
	return moved, nil
}

// acceptedMessage is a message that was accepted.
type acceptedMessage struct {
	Item
	state  State
	sentAt time.Time
}

// lockAccepted returns those of the messages that were accepted, and locks them.
func lockAccepted(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Message) ([]acceptedMessage, error) {
	rows, err := tx.Query(ctx, `
		SELECT id, send_id, contact_id, email, mix, sent_at, state FROM outbox
		WHERE tenant_id = $1 AND id`+tx.In(2)+` AND state IN ('sent', 'delivered') ORDER BY id`+tx.ForUpdate(), tenant, sqldb.List(tx, ids))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m acceptedMessage, err error) {
		m.Tenant = tenant
		err = scan(&m.ID, &m.Send, &m.Contact, &m.Email, &m.mix, sqldb.ToTime(&m.sentAt), sqldb.ToText(&m.state))
		return m, err
	})
	return list, err
}

// maxRun is how many soft bounces of a run are counted.
const maxRun = 20

// softRuns returns the times of the last soft bounces in a row of contacts, the latest message first:
// those since the last message that was accepted and has not bounced. Refusals for policy neither count
// nor end a run. Where servers accept mail and report failures later, as relays do, only the messages
// know the run: each acceptance has ended the one that the contact's activity stores.
func softRuns(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact) (map[id.Contact][]int64, error) {
	runs := make(map[id.Contact][]int64, len(contacts))
	if len(contacts) == 0 {
		return runs, nil
	}
	slices.SortFunc(contacts, id.Compare)
	rows, err := tx.Query(ctx, `
		SELECT m.contact_id, m.state, n.bounce_type, n.ended_at FROM outbox m
			LEFT JOIN outbox_note n ON n.tenant_id = m.tenant_id AND n.message_id = m.id
		WHERE m.tenant_id = $1 AND m.contact_id`+tx.In(2)+` AND m.state IN ('sent', 'delivered', 'bounced') AND m.sent_at IS NOT NULL
		ORDER BY m.contact_id, m.sent_at DESC, m.id DESC`, tenant, sqldb.List(tx, slices.Compact(contacts)))
	ended := map[id.Contact]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var state State
		var class string
		var at sql.NullInt64
		if err := scan(&c, sqldb.ToText(&state), sqldb.ToText(&class), &at); err != nil {
			return err
		}
		switch {
		case ended[c]:
		case state != Bounced || len(runs[c]) == maxRun:
			ended[c] = true
		case class == classSoft:
			runs[c] = append(runs[c], at.Int64)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load soft bounces in a row: %w", err)
	}
	return runs, nil
}
