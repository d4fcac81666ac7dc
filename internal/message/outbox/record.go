package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrGone means that the message does not exist.
var ErrGone = errors.New("no such message")

// Record is one message with its state and, if it has ended, its result.
type Record struct {
	Item
	State      State
	SentAt     *time.Time
	EndedAt    *time.Time
	BounceType string
	SkipReason string
	Error      string
}

// Bounce returns the class of a bounce as the API shows it: hard, soft or none. A block, which
// refuses the sender rather than the address, is shown as soft.
func (r Record) Bounce() reply.Class { return ShownBounce(r.BounceType) }

// ShownBounce is Record.Bounce for the class of a bounce.
func ShownBounce(class string) reply.Class {
	if c := reply.Class(class); c != reply.Block {
		return c
	}
	return reply.Soft
}

func scanRecord(scan func(...any) error) (Record, error) {
	var r Record
	var sent, ended, version sql.NullInt64
	var variant, bounce, skip, text sql.NullString
	it, err := scanItem(func(dest ...any) error {
		return scan(append(dest, &r.Content, &r.ContentVersion, &variant, &r.Identity, &version, &r.State, &sent, &ended, &bounce, &skip, &text)...)
	})
	it.Content, it.ContentVersion, it.Variant, it.Identity, it.ContactVersion = r.Content, r.ContentVersion, variant.String, r.Identity, version.Int64
	r.Item, r.SentAt, r.EndedAt = it, sqldb.NullTime(sent), sqldb.NullTime(ended)
	r.BounceType, r.SkipReason, r.Error = bounce.String, skip.String, text.String
	return r, err
}

const recordColumns = itemColumns + `, x.content_id, x.content_version, x.variant_id, x.identity_id, outbox.contact_version,
	outbox.state, outbox.sent_at, ` + endedAt + `, n.bounce_type, n.skip_reason, n.error`

// endedAt is the expression for the time at which a message ended, in a row joined with its note.
const endedAt = `COALESCE(n.ended_at, outbox.sent_at)`

// joinMix joins to rows of outbox the row of their mix, with the other columns of a Record.
const joinMix = ` JOIN outbox_mix AS x ON x.tenant_id = outbox.tenant_id AND x.send_id = outbox.send_id AND x.n = outbox.mix`

// Find returns one message. The error is ErrGone if it does not exist.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, message id.Message) (Record, error) {
	row := db.QueryRow(ctx, `SELECT `+recordColumns+` FROM outbox`+joinMix+joinNote+` WHERE outbox.tenant_id = $1 AND outbox.id = $2`, tenant, message)
	r, err := scanRecord(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Record{}, ErrGone
	}
	if err != nil {
		return Record{}, fmt.Errorf("find a message: %w", err)
	}
	return r, nil
}

// FindAll returns the messages that exist, by id.
func FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]Record, error) {
	rows, err := db.Query(ctx, `SELECT `+recordColumns+` FROM outbox`+joinMix+joinNote+` WHERE outbox.tenant_id = $1 AND outbox.id`+db.In(2),
		tenant, sqldb.List(db, messages))
	list, err := sqldb.Collect(rows, err, scanRecord)
	if err != nil {
		return nil, fmt.Errorf("find messages: %w", err)
	}
	found := make(map[id.Message]Record, len(list))
	for _, r := range list {
		found[r.ID] = r
	}
	return found, nil
}

// Variants returns the variants of messages that have one, by message.
func Variants(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]string, error) {
	found := map[id.Message]string{}
	if len(messages) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT outbox.id, x.variant_id FROM outbox`+joinMix+`
		WHERE outbox.tenant_id = $1 AND outbox.id`+db.In(2)+` AND x.variant_id IS NOT NULL`, tenant, sqldb.List(db, messages))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m id.Message
		var variant string
		err := scan(&m, &variant)
		found[m] = variant
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the variants of messages: %w", err)
	}
	return found, nil
}

// Addressee is the contact a message is for, and the time at which it was sent.
type Addressee struct {
	Send    id.Send
	Contact id.Contact
	SentAt  *time.Time
	Mix     int64 // number of the message's mix: see LoadMixes
}

// Addressees returns the addressees of the messages that exist, by message.
func Addressees(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]Addressee, error) {
	rows, err := db.Query(ctx, `SELECT id, send_id, contact_id, sent_at, mix FROM outbox WHERE tenant_id = $1 AND id`+db.In(2),
		tenant, sqldb.List(db, messages))
	found := make(map[id.Message]Addressee, len(messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var r Addressee
		var sent sql.NullInt64
		err = scan(&m, &r.Send, &r.Contact, &sent, &r.Mix)
		r.SentAt = sqldb.NullTime(sent)
		found[m] = r
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("load addressees: %w", err)
	}
	return found, nil
}
