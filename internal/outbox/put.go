package outbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Put adds messages to a send, one for each contact and visit: a contact that has
// one already is passed over, so that a page put twice does no harm. It returns how
// many were added.
//
// A page is put fastest when its messages are in the order of their contacts, and
// say the same but for whom they are for: it then goes to the end of every index.
// If somebody else puts such a page into the same send at the same moment, one of
// the two gets a unique violation (sqldb.IsUniqueViolation) on PostgreSQL and may try again.
func Put(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, messages []Message) (int, error) {
	if len(messages) == 0 {
		return 0, nil
	}
	fresh, err := appendsOnly(ctx, tx, tenant, send, messages)
	if err != nil {
		return 0, err
	}
	numbers, err := numbersOf(ctx, tx, tenant, send, messages)
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
		FROM `+tx.Home(1)+` CROSS JOIN `+w.rows.As("v", 3+len(w.same)), w.rows.Args(append([]any{tenant, send}, w.same...)...)
	added := len(messages)
	if fresh {
		var n int64
		if n, err = tx.Exec(ctx, text, args...); err == nil && n != int64(added) {
			err = fmt.Errorf("%d of %d were inserted", n, added)
		}
	} else {
		// Not the number of rows: a database that distributes them says how many were offered.
		rows, failed := tx.Query(ctx, text+` WHERE true ON CONFLICT (tenant_id, send_id, contact_id, visit) DO NOTHING RETURNING id`, args...)
		var list []id.Message
		list, err = sqldb.Collect(rows, failed, messageID)
		added = len(list)
	}
	if err != nil {
		return 0, fmt.Errorf("put messages into the outbox: %w", err)
	}
	var phase Phase
	err = tx.QueryRow(ctx, `
		UPDATE send SET total = total + $3, waiting = waiting + $3, `+lowerMarkSQL(4)+` WHERE tenant_id = $1 AND id = $2 RETURNING phase`,
		tenant, send, added, firstDue(messages).UnixMicro()).Scan(&phase)
	if errors.Is(err, sqldb.ErrNoRows) {
		err = errors.New("there is no such send")
	}
	if err != nil {
		return 0, fmt.Errorf("count messages put: %w", err)
	}
	if phase == Open && added > 0 {
		tx.Notify(Wake)
		err = enqueue(ctx, tx, tenant, send)
	}
	return added, err
}

// firstDue returns when the first of some messages is due.
func firstDue(messages []Message) time.Time {
	first := messages[0].DueAt
	for i := range messages {
		if messages[i].DueAt.Before(first) {
			first = messages[i].DueAt
		}
	}
	return first
}

// appendsOnly reports whether the messages are for different contacts, in their order,
// and nobody between the first and the last of these has one in the send. Then
// none is to be passed over, and the database need not look for each, nor insert
// it provisionally, as PostgreSQL does.
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
		return false, fmt.Errorf("look for messages of the same contacts: %w", err)
	}
	return !some, nil
}

// column is one of those that a message decides.
type column struct {
	name, typ string
	of        func(*Message) any
}

// varying are the columns that may be the same in a whole page.
var varying = []column{
	{"visit", "INTEGER", func(m *Message) any { return int64(m.Visit) }},
	{"lane_id", "UUID", func(m *Message) any { return m.Lane }},
	{"due_at", "BIGINT", func(m *Message) any { return m.DueAt.UnixMicro() }},
	{"rank", "TEXT", func(m *Message) any { return sqldb.Null(m.Rank) }},
}

// insertion is a page on its way into the table. What all its messages have in
// common is handed over once, as parameters from $3 on.
type insertion struct {
	names, from []string // columns of the table, and where the value of each comes from
	same        []any
	differ      []column
	rows        *sqldb.Table
}

func newInsertion(tx *sqldb.DB, messages []Message, numbers map[mix]int64) *insertion {
	w := &insertion{names: []string{"id", "contact_id", "email"}, from: []string{"v.id", "v.contact_id", "v.email"}}
	columns := []string{"id UUID", "contact_id UUID", "email TEXT"}
	number := column{"mix", "INTEGER", func(m *Message) any { return numbers[m.mix()] }}
	for _, c := range append([]column{number}, varying...) {
		first, from := c.of(&messages[0]), "v."+c.name
		common := true
		for i := 1; common && i < len(messages); i++ {
			common = c.of(&messages[i]) == first
		}
		if common {
			w.same = append(w.same, first)
			from = tx.Param(2+len(w.same), c.typ)
		} else {
			w.differ, columns = append(w.differ, c), append(columns, c.name+" "+c.typ)
		}
		w.names, w.from = append(w.names, c.name), append(w.from, from)
	}
	w.rows = tx.Table(columns...)
	return w
}

// add gives each message an id unless it has one.
func (w *insertion) add(messages []Message) error {
	const idBytes = 16
	random := make([]byte, idBytes*len(messages))
	_, _ = rand.Read(random) // never fails
	ids := bytes.NewReader(random)
	row := make([]any, 3+len(w.differ))
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
		for j, c := range w.differ {
			row[3+j] = c.of(m)
		}
		w.rows.Add(row...)
	}
	return nil
}
