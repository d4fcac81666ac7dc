package outbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// AddMessages adds messages to a send and returns how many it added. Messages for a contact and visit that
// the send already has are ignored, so that a page may be put again.
//
// AddMessages is fastest if the messages are in the order of their contacts and differ only in their
// recipients: then they are appended to each index. If two transactions put such pages into the
// same send concurrently, one of them may fail on PostgreSQL with a unique violation
// (sqldb.IsUniqueViolation), and can be retried.
func AddMessages(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, messages []Message) (int, error) {
	if len(messages) == 0 {
		return 0, nil
	}
	// Without ON CONFLICT a page that another transaction adds meanwhile fails by the unique key: the
	// key, not this check, keeps a contact from having two messages.
	fresh, err := appendsOnly(ctx, tx, tenant, send, messages)
	if err != nil {
		return 0, err
	}
	numbers, err := mixNumbers(ctx, tx, tenant, send, messages)
	if err != nil {
		return 0, err
	}
	w := newInsertion(tx, messages, numbers)
	if err := w.add(messages); err != nil {
		return 0, err
	}
	text, args := `
		INSERT INTO outbox (tenant_id, send_id, state, `+strings.Join(w.names, ", ")+`)
		SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, 'queued', `+strings.Join(w.from, ", ")+`
		FROM `+tx.Home(1)+` CROSS JOIN `+w.rows.As("v", 3+len(w.common)), w.rows.Args(append([]any{tenant, send}, w.common...)...)
	added, byMix := len(messages), map[int64]MixSums{}
	if fresh {
		for i := range messages {
			n := numbers[messages[i].mix()]
			byMix[n] = byMix[n].plus(MixSums{Total: 1})
		}
		var n int64
		if n, err = tx.Exec(ctx, text, args...); err == nil && n != int64(added) {
			err = fmt.Errorf("%d of %d were inserted", n, added)
		}
	} else {
		// RETURNING, since Citus reports all rows as inserted, also those that conflict.
		rows, failed := tx.Query(ctx, text+` WHERE true ON CONFLICT (tenant_id, send_id, contact_id, visit) DO NOTHING RETURNING mix`, args...)
		added = 0
		err = sqldb.Each(rows, failed, func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			byMix[n] = byMix[n].plus(MixSums{Total: 1})
			added++
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("put messages into the outbox: %w", err)
	}
	b := tx.Batch()
	addMixSums(b, tx, tenant, map[id.Send]map[int64]MixSums{send: byMix})
	if err := b.Run(ctx); err != nil {
		return 0, fmt.Errorf("count added messages: %w", err)
	}
	// The row of the send comes last, as in Commit. It counts what was inserted, not what was given,
	// since a page that is put again may add nothing.
	var phase Phase
	err = tx.QueryRow(ctx, `
		UPDATE send SET total = total + $3, waiting = waiting + $3, `+lowerMarkSQL(4)+` WHERE tenant_id = $1 AND id = $2 RETURNING phase`,
		tenant, send, added, firstDue(messages).UnixMicro()).Scan(&phase)
	if errors.Is(err, sqldb.ErrNoRows) {
		err = errors.New("the send does not exist")
	}
	if err != nil {
		return 0, fmt.Errorf("count added messages: %w", err)
	}
	if phase == Open && added > 0 { // a send that is not open is enqueued by Start
		tx.Notify(Wake)
		err = enqueue(ctx, tx, tenant, send)
	}
	return added, err
}

// firstDue returns the earliest due time of messages.
func firstDue(messages []Message) time.Time {
	first := messages[0].DueAt
	for i := range messages {
		if messages[i].DueAt.Before(first) {
			first = messages[i].DueAt
		}
	}
	return first
}

// appendsOnly reports whether the messages are for different contacts, in order, and the send has
// no message for a contact in their range. Then there are no conflicts, and the insert can do
// without ON CONFLICT, for which PostgreSQL checks each row first.
func appendsOnly(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, messages []Message) (bool, error) {
	for i := 1; i < len(messages); i++ {
		if id.Compare(messages[i].Contact, messages[i-1].Contact) <= 0 {
			return false, nil
		}
	}
	var some bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND contact_id >= $3 AND contact_id <= $4)`,
		tenant, send, messages[0].Contact, messages[len(messages)-1].Contact).Scan(&some)
	if err != nil {
		return false, fmt.Errorf("check for messages of the same contacts: %w", err)
	}
	return !some, nil
}

// column is a column whose value comes from the Message.
type column struct {
	name, typ string
	of        func(*Message) any
}

// maybeCommon are the columns that may have the same value in a whole page.
var maybeCommon = []column{
	{"visit", "INTEGER", func(m *Message) any { return int64(m.Visit) }},
	{"lane_id", "UUID", func(m *Message) any { return m.Lane }},
	{"due_at", "BIGINT", func(m *Message) any { return m.DueAt.UnixMicro() }},
	{"rank", "TEXT", func(m *Message) any { return sqldb.Null(m.Rank) }},
}

// insertion is a page of messages to insert. Values that all of them have in common are passed
// once, as parameters from $3 on; the others are in rows.
type insertion struct {
	names, from []string // columns of the table, and the expression for each
	common      []any
	varying     []column
	rows        *sqldb.Table
}

func newInsertion(tx *sqldb.DB, messages []Message, numbers map[mix]int64) *insertion {
	w := &insertion{names: []string{"id", "contact_id", "email"}, from: []string{"v.id", "v.contact_id", "v.email"}}
	columns := []string{"id UUID", "contact_id UUID", "email TEXT"}
	number := column{"mix", "INTEGER", func(m *Message) any { return numbers[m.mix()] }}
	for _, c := range append([]column{number}, maybeCommon...) {
		first, from := c.of(&messages[0]), "v."+c.name
		common := true
		for i := 1; common && i < len(messages); i++ {
			common = c.of(&messages[i]) == first
		}
		if common {
			w.common = append(w.common, first)
			from = tx.Param(2+len(w.common), c.typ)
		} else {
			w.varying, columns = append(w.varying, c), append(columns, c.name+" "+c.typ)
		}
		w.names, w.from = append(w.names, c.name), append(w.from, from)
	}
	w.rows = tx.Table(columns...)
	return w
}

// add adds the rows of messages, with new ids for those that have none.
func (w *insertion) add(messages []Message) error {
	const idBytes = 16
	random := make([]byte, idBytes*len(messages))
	_, _ = rand.Read(random) // never fails
	ids := bytes.NewReader(random)
	row := make([]any, 3+len(w.varying))
	for i := range messages {
		m := &messages[i]
		message := m.ID
		if message.IsZero() {
			var err error
			if message, err = id.From[id.Message](ids); err != nil {
				return err
			}
		}
		row[0], row[1], row[2] = message, m.Contact, m.Email
		for j, c := range w.varying {
			row[3+j] = c.of(m)
		}
		w.rows.Add(row...)
	}
	return nil
}
