// Package mailbox keeps what MTA configs of type sink accepted, so that a
// newcomer or a test can look at mail that left for no server.
//
// A message is stored as it came, byte for byte. What lists show is read from
// its header once, when it is stored; its parts are decoded each time it is
// opened. The newest 10,000 of each config are kept, and none for longer than
// seven days. Whether a message was read is known per tenant, not per person.
package mailbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// What is kept.
const (
	KeepNewest = 10_000
	KeepFor    = 7 * 24 * time.Hour
)

// ErrNotFound reports a message that is not, or no longer, in the mailbox.
var ErrNotFound = fault.New(fault.NotFound, "NOT_FOUND", "no such message")

// Message is one caught mail, as lists show it.
type Message struct {
	ID         id.SinkMessage
	Lane       id.Lane
	MailFrom   string // envelope
	To         string // envelope
	Author     string // the From header, decoded
	Subject    string // decoded
	Size       int
	ReceivedAt time.Time
	Read       bool // a member of the tenant has opened it
}

// Delivery is a message that a sink accepts.
type Delivery struct {
	Tenant id.Tenant
	Lane   id.Lane
	Send   id.Send // the send that the message belongs to, or empty
	From   string  // envelope
	To     string  // envelope
	Raw    []byte
}

// Deliver stores a message. A sink does this instead of sending.
func Deliver(ctx context.Context, tx *sqldb.DB, d Delivery, now time.Time) error {
	author, subject := headline(d.Raw)
	_, err := tx.Exec(ctx, `
		INSERT INTO sink_message (tenant_id, id, mta_config_id, send_id, mail_from, rcpt_to, author, subject, folded, size, raw, received_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		d.Tenant, id.New[id.SinkMessage](), d.Lane, d.Send, d.From, d.To, author, subject,
		fold(strings.Join([]string{subject, author, d.To, d.From}, "\n")), len(d.Raw), d.Raw, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("store a message in the mailbox: %w", err)
	}
	return nil
}

// Query chooses what List returns.
type Query struct {
	Lane   id.Lane   // empty: all of the tenant's
	Send   *id.Send  // of this send; a pointer to "" means of no send; nil: all
	Search string    // part of the subject or of an address, in any case
	After  *Position // the last message of the page before
	Limit  int
}

// Position is a message's place in a list, newest first.
type Position struct {
	At time.Time
	ID id.SinkMessage
}

// List returns messages, newest first, and whether more follow.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Query) (list []Message, more bool, err error) {
	where, args := `tenant_id = $1`, []any{tenant, q.Limit + 1}
	param := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if !q.Lane.IsZero() {
		where += ` AND mta_config_id = ` + param(q.Lane)
	}
	if q.Send != nil {
		where += ` AND send_id = ` + param(*q.Send)
	}
	if q.Search != "" {
		where += ` AND folded LIKE ` + param("%"+sqldb.EscapeLike(fold(q.Search))+"%") + ` ESCAPE '\'`
	}
	if q.After != nil {
		where += ` AND (received_at, id) < (` + param(q.After.At.UnixMicro()) + `, ` + param(q.After.ID) + `)`
	}
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM sink_message WHERE `+where+` ORDER BY received_at DESC, id DESC LIMIT $2`, args...)
	list, err = sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, false, fmt.Errorf("list the mailbox: %w", err)
	}
	if len(list) > q.Limit {
		return list[:q.Limit], true, nil
	}
	return list, false, nil
}

// Raw returns a message with its bytes as they were handed over. An empty lane
// means any of the tenant's.
func Raw(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lane id.Lane, message id.SinkMessage) (Message, []byte, error) {
	var m Message
	var raw []byte
	err := db.QueryRow(ctx, `
		SELECT `+columns+`, raw FROM sink_message WHERE tenant_id = $1 AND id = $2 AND ($4 OR mta_config_id = $3)`,
		tenant, message, lane, lane.IsZero()).Scan(dest(&m, &raw)...)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Message{}, nil, ErrNotFound
	}
	if err != nil {
		return Message{}, nil, fmt.Errorf("read a message of the mailbox: %w", err)
	}
	return m, raw, nil
}

// Get returns a message and its parts. An empty lane means any of the tenant's.
func Get(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lane id.Lane, message id.SinkMessage) (Message, Parts, error) {
	m, raw, err := Raw(ctx, db, tenant, lane, message)
	if err != nil {
		return Message{}, Parts{}, err
	}
	return m, Read(raw), nil
}

// Clear removes all messages of one MTA config.
func Clear(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lane id.Lane) error {
	if _, err := db.Exec(ctx, `DELETE FROM sink_message WHERE tenant_id = $1 AND mta_config_id = $2`, tenant, lane); err != nil {
		return fmt.Errorf("clear the mailbox: %w", err)
	}
	return nil
}

// pruneBatch bounds one deletion, so that writers wait for none of them long.
const pruneBatch = 500

// Prune removes what is older than KeepFor or not among the KeepNewest of its
// config, one batch of it; more says that there may be another.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) (more bool, err error) {
	old, err := db.Exec(ctx, `
		/* all tenants: every tenant's old mail is removed */
		DELETE FROM sink_message WHERE (tenant_id, id) IN (
			SELECT tenant_id, id FROM sink_message WHERE received_at < $1 LIMIT $2)`,
		now.Add(-KeepFor).UnixMicro(), pruneBatch)
	if err != nil {
		return false, fmt.Errorf("remove old mail: %w", err)
	}
	surplus, err := pruneSurplus(ctx, db)
	if err != nil {
		return false, fmt.Errorf("remove surplus mail: %w", err)
	}
	return old == pruneBatch || surplus, nil
}

// pruneSurplus removes a batch of what each config has beyond KeepNewest.
func pruneSurplus(ctx context.Context, db *sqldb.DB) (more bool, err error) {
	type box struct {
		tenant id.Tenant
		lane   id.Lane
	}
	rows, err := db.Query(ctx, `
		/* all tenants: each config has a surplus of its own */
		SELECT tenant_id, mta_config_id FROM sink_message GROUP BY tenant_id, mta_config_id HAVING COUNT(*) > $1`, KeepNewest)
	full, err := sqldb.Collect(rows, err, func(scan func(...any) error) (b box, err error) {
		err = scan(&b.tenant, &b.lane)
		return b, err
	})
	for _, b := range full {
		n, err := db.Exec(ctx, `
			DELETE FROM sink_message WHERE tenant_id = $1 AND id IN (
				SELECT id FROM sink_message WHERE tenant_id = $1 AND mta_config_id = $2 AND (received_at, id) < (
					SELECT received_at, id FROM sink_message WHERE tenant_id = $1 AND mta_config_id = $2
					ORDER BY received_at DESC, id DESC LIMIT 1 OFFSET $3)
				LIMIT $4)`,
			b.tenant, b.lane, KeepNewest-1, pruneBatch)
		if err != nil {
			return false, err
		}
		more = more || n == pruneBatch
	}
	return more, err
}

const columns = `id, mta_config_id, mail_from, rcpt_to, author, subject, size, received_at, read_at IS NOT NULL`

func dest(m *Message, more ...any) []any {
	return append([]any{&m.ID, &m.Lane, &m.MailFrom, &m.To, &m.Author, &m.Subject, &m.Size, sqldb.ToTime(&m.ReceivedAt), &m.Read}, more...)
}

func scan(scan func(...any) error) (Message, error) {
	var m Message
	err := scan(dest(&m)...)
	return m, err
}

// fold returns s as searches compare it.
func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }
