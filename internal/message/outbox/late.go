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
		moved = nil // a transaction that is retried counts again
		first, ids, err := firstOfEach(bounces)
		if err != nil {
			return err
		}
		// A report of the same message in another transaction waits here. It then finds the message
		// bounced, and counts nothing.
		accepted, err := lockAccepted(ctx, tx, tenant, ids)
		if err != nil || len(accepted) == 0 {
			return err
		}
		late, err := newLateBounces(ctx, tx, tenant, accepted)
		if err != nil {
			return err
		}
		for _, m := range accepted {
			late.add(m, first[m.ID])
		}
		moved = late.moved
		return late.write(ctx, tx)
	})
	if err != nil {
		return nil, fmt.Errorf("record bounces: %w", err)
	}
	return moved, nil
}

// firstOfEach returns the first bounce of each message, and the messages in the order of the list.
func firstOfEach(bounces []Bounce) (map[id.Message]Bounce, []id.Message, error) {
	first := make(map[id.Message]Bounce, len(bounces))
	var ids []id.Message
	for _, b := range bounces {
		if b.Class == "" {
			return nil, nil, errors.New("a bounce without a class")
		}
		if _, twice := first[b.Message]; !twice {
			first[b.Message] = b
			ids = append(ids, b.Message)
		}
	}
	return first, ids, nil
}

// lateBounces is what the bounces of accepted messages change.
type lateBounces struct {
	tenant  id.Tenant
	sends   map[id.Send]Send
	closed  map[id.Send]time.Time // when their reports close
	moved   []id.Message          // to Bounced
	soft    []id.Contact          // that bounced softly
	notes   *notes
	changes changes
	entries []journal.Entry
}

func newLateBounces(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, accepted []acceptedMessage) (*lateBounces, error) {
	list := make([]id.Send, len(accepted))
	for i, m := range accepted {
		list[i] = m.Send
	}
	slices.SortFunc(list, id.Compare)
	list = slices.Compact(list)
	closed, err := ClosedSends(ctx, tx, tenant, list)
	if err != nil {
		return nil, err
	}
	sends, err := Sends(ctx, tx, tenant, list)
	if err != nil {
		return nil, err
	}
	return &lateBounces{tenant: tenant, sends: sends, closed: closed, notes: newNotes(tx), changes: changes{}}, nil
}

// add adds the bounce of a message.
func (l *lateBounces) add(m acceptedMessage, b Bounce) {
	// Recount takes a note that ends when its message was sent, or before, for a refusal during the
	// attempt. The clock of a relay may be slow.
	if !b.At.After(m.sentAt) {
		b.At = m.sentAt.Add(time.Microsecond)
	}
	entry, reportable := journal.Entry{
		Tenant: l.tenant, Type: journal.EmailBounced, Contact: m.Contact, Send: m.Send, Message: m.ID, At: b.At, Data: lateRefusal{Refusal: b.Refusal},
	}, true
	if l.sends[m.Send].Source.Kind == KindSeedCopy {
		entry, reportable = seedEntry(entry, Bounced, b.Class)
	}
	// The address is bad however late the report is, so followers hear of it in any case. Only the
	// figures of a closed report stay as they were shown.
	if reportable {
		l.entries = append(l.entries, entry)
	}
	if end, ok := l.closed[m.Send]; ok && b.At.After(end) {
		return
	}
	l.moved = append(l.moved, m.ID)
	if reportable && b.Class == classSoft {
		l.soft = append(l.soft, m.Contact)
	}
	l.count(m, Result{
		Item: m.Item, State: Bounced, At: b.At, BounceType: b.Class, Category: b.Category, Code: b.Code, Enhanced: b.Enhanced, Error: b.Text,
	})
}

// count moves a message in the sums of its send from delivered to bounced.
func (l *lateBounces) count(m acceptedMessage, r Result) {
	l.notes.add(r)
	key := sendKey{l.tenant, m.Send}
	c := l.changes[key]
	c.Delivered--
	c.Bounced++
	c.addParts(m.mix, MixSums{Delivered: -1, Bounced: 1}, r.At, TimeSums{Bounced: 1})
	c.addBounce(r, 1)
	// The acceptance was counted in the interval of its own time, which may be another one.
	c.addParts(m.mix, MixSums{}, m.sentAt, TimeSums{Delivered: -1})
	l.changes[key] = c
}

// write stores the bounces.
func (l *lateBounces) write(ctx context.Context, tx *sqldb.DB) error {
	_, err := tx.Exec(ctx, `UPDATE outbox SET state = 'bounced' WHERE tenant_id = $1 AND id`+tx.In(2), l.tenant, sqldb.List(tx, l.moved))
	if err != nil {
		return err
	}
	if err := l.notes.write(ctx, tx, l.tenant); err != nil {
		return err
	}
	// Messages are locked before their send, as by Commit: the other order would deadlock with it.
	b := tx.Batch()
	l.changes.queue(b, tx)
	if err := b.Run(ctx); err != nil {
		return err
	}
	// A run includes the bounces of this transaction, so it is read after their notes are written.
	runs, err := softRuns(ctx, tx, l.tenant, l.soft)
	if err != nil {
		return err
	}
	for i, e := range l.entries {
		if r, ok := e.Data.(lateRefusal); ok && r.Class == classSoft {
			run := append([]int64{}, runs[e.Contact]...)
			r.Run = &run
			l.entries[i].Data = r
		}
	}
	// Last: from its first entry on, this transaction holds up all followers of the tenant's group.
	return journal.Append(ctx, tx, l.entries...)
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
