package outbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// nonceBytes is the random part of a Message-ID: 64 bits.
const nonceBytes = 8

// Put adds messages to a stream, one for each contact: a contact that has one
// already is passed over, so that a page put twice does no harm. It returns how
// many were added.
//
// A page is put fastest when its messages are in the order of their contacts, and
// say the same but for whom they are for: it then goes to the end of every index.
// If somebody else puts such a page into the same stream at the same moment, one of
// the two gets a unique violation (sqldb.Unique) on PostgreSQL and may try again.
func Put(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream id.Send, messages []Message) (int, error) {
	if len(messages) == 0 {
		return 0, nil
	}
	pass := " WHERE true ON CONFLICT (tenant_id, send_id, contact_id) DO NOTHING"
	fresh, err := beyond(ctx, tx, tenant, stream, messages)
	if err != nil {
		return 0, err
	}
	if fresh {
		pass = ""
	}
	w := newWriting(tx, messages)
	if err := w.add(messages); err != nil {
		return 0, err
	}
	added, err := tx.Exec(ctx, `
		INSERT INTO outbox (tenant_id, send_id, state, queued_at, `+strings.Join(w.names, ", ")+`)
		SELECT `+tx.Param(1, "INTEGER")+`, `+tx.Param(2, "UUID")+`, 'queued', `+w.due+`, `+strings.Join(w.from, ", ")+`
		FROM `+w.rows.As("v", 3+len(w.same))+pass, w.rows.Args(append([]any{tenant, stream}, w.same...)...)...)
	if err != nil {
		return 0, fmt.Errorf("put messages into the outbox: %w", err)
	}
	_, err = tx.Exec(ctx, `
		UPDATE send SET total = total + $3, waiting = waiting + $3 WHERE tenant_id = $1 AND id = $2`,
		tenant, stream, added)
	if err != nil {
		return 0, fmt.Errorf("count messages put: %w", err)
	}
	return int(added), nil
}

// beyond reports whether the messages are for different contacts, in their order,
// and nobody between the first and the last of these has one in the stream. Then
// none is to be passed over, and the database need not look for each, nor insert
// it provisionally, as PostgreSQL does.
func beyond(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream id.Send, messages []Message) (bool, error) {
	for i := 1; i < len(messages); i++ {
		if id.Compare(messages[i].Contact, messages[i-1].Contact) <= 0 {
			return false, nil
		}
	}
	var some bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND contact_id >= $3 AND contact_id <= $4)`,
		tenant, stream, messages[0].Contact, messages[len(messages)-1].Contact).Scan(&some)
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
	{"content_id", "UUID", func(m *Message) any { return m.Content }},
	{"content_version", "BIGINT", func(m *Message) any { return int64(m.ContentVersion) }},
	{"variant_id", "TEXT", func(m *Message) any { return sqldb.Null(m.Variant) }},
	{"identity_id", "UUID", func(m *Message) any { return m.Identity }},
	{"lane_id", "UUID", func(m *Message) any { return m.Lane }},
	{"due_at", "BIGINT", func(m *Message) any { return m.DueAt.UnixMicro() }},
	{"rank", "TEXT", func(m *Message) any { return sqldb.Null(m.Rank) }},
}

// writing is a page on its way into the table. What all its messages have in
// common is handed over once, as parameters from $3 on.
type writing struct {
	names, from []string // columns of the table, and where the value of each comes from
	due         string   // where that of due_at comes from
	same        []any
	differ      []column
	rows        *sqldb.Table
}

func newWriting(tx *sqldb.DB, messages []Message) *writing {
	w := &writing{names: []string{"id", "contact_id", "email", "nonce"}, from: []string{"v.id", "v.contact_id", "v.email", "v.nonce"}}
	columns := []string{"id UUID", "contact_id UUID", "email TEXT", "nonce TEXT"}
	for _, c := range varying {
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
		if c.name == "due_at" {
			w.due = from
		}
	}
	w.rows = tx.Table(columns...)
	return w
}

// add gives each message a nonce, and an id unless it has one.
func (w *writing) add(messages []Message) error {
	const idBytes = 16
	random := make([]byte, (nonceBytes+idBytes)*len(messages))
	_, _ = rand.Read(random) // never fails
	ids := bytes.NewReader(random[nonceBytes*len(messages):])
	nonces := hex.EncodeToString(random[:nonceBytes*len(messages)])
	row := make([]any, 4+len(w.differ))
	for i := range messages {
		m := &messages[i]
		message := m.ID
		if message.IsZero() {
			var err error
			if message, err = id.From[id.Message](ids); err != nil {
				return err
			}
		}
		row[0], row[1], row[2], row[3] = message, m.Contact, m.Email, nonces[2*nonceBytes*i:2*nonceBytes*(i+1)]
		for j, c := range w.differ {
			row[4+j] = c.of(m)
		}
		w.rows.Add(row...)
	}
	return nil
}
