package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/spread"
	"packetboat/internal/sqldb"
)

// Item is a claimed message: whoever holds it decides what becomes of it.
type Item struct {
	Tenant         id.Tenant
	ID             id.Message
	Stream         string
	Contact        id.Contact
	Email          string
	Content        id.Content
	ContentVersion int
	Variant        string
	Identity       id.Identity
	Lane           id.MTAConfig
	Day            spread.Day // that the send's plan gave it; empty: not planned
	Nonce          string     // the random part of the Message-ID
	QueuedAt       time.Time
	DueAt          time.Time
	Epoch          int64      // of this claim
	Attempts       int        // begun before this claim
	Deferred       bool       // an earlier attempt was told to come again
	Answered       bool       // a server has answered an attempt; if none ever does, nobody refused the address
	FirstAt        *time.Time // Date of the first attempt, which later ones repeat; nil before it
}

// columns of an Item, in the order of scanItem.
const itemColumns = `outbox.tenant_id, outbox.id, outbox.stream_id, outbox.contact_id, outbox.email, outbox.content_id,
	outbox.content_version, outbox.variant_id, outbox.identity_id, outbox.lane_id, outbox.nonce, outbox.queued_at,
	outbox.due_at, outbox.epoch, outbox.attempts, outbox.deferred, outbox.answered, outbox.first_at, outbox.plan_day`

func scanItem(scan func(...any) error) (Item, error) {
	var it Item
	var variant, day sql.NullString
	var queued, due int64
	var first sql.NullInt64
	err := scan(&it.Tenant, &it.ID, &it.Stream, &it.Contact, &it.Email, &it.Content, &it.ContentVersion, &variant,
		&it.Identity, &it.Lane, &it.Nonce, &queued, &due, &it.Epoch, &it.Attempts, &it.Deferred, &it.Answered, &first, &day)
	it.FirstAt = sqldb.NullTime(first)
	it.Variant, it.Day, it.QueuedAt, it.DueAt = variant.String, spread.Day(day.String), sqldb.Time(queued), sqldb.Time(due)
	return it, err
}

// Node is one process that sends. It claims under its own name for as long as
// it renews its lease.
type Node struct {
	DB    *sqldb.DB
	Owner string // unique to this run of the process
}

// Renew extends the node's lease.
func (n *Node) Renew(ctx context.Context, until time.Time) error {
	_, err := n.DB.Exec(ctx, `
		INSERT INTO outbox_node (owner, until_at) VALUES ($1, $2)
		ON CONFLICT (owner) DO UPDATE SET until_at = excluded.until_at`, n.Owner, until.UnixMicro())
	if err != nil {
		return fmt.Errorf("renew the node's lease: %w", err)
	}
	return nil
}

// Leave ends the lease of a node that holds nothing.
func (n *Node) Leave(ctx context.Context) error {
	_, err := n.DB.Exec(ctx, `DELETE FROM outbox_node WHERE owner = $1`, n.Owner)
	return err
}

// Position is a place in the order in which a stream's messages are claimed.
type Position struct {
	DueAt time.Time
	ID    id.Message
}

// Last returns the position of the last of some claimed messages.
func Last(items []Item) Position {
	var p Position
	for _, it := range items {
		if it.DueAt.After(p.DueAt) || it.DueAt.Equal(p.DueAt) && it.ID > p.ID {
			p = Position{it.DueAt, it.ID}
		}
	}
	return p
}

// Claim takes up to limit due messages of a stream, oldest first. It takes none
// of a stream that is not open.
func (n *Node) Claim(ctx context.Context, tenant id.Tenant, stream string, limit int, now time.Time) ([]Item, error) {
	return n.ClaimAfter(ctx, tenant, stream, Position{}, limit, now)
}

// ClaimAfter is Claim of messages behind a position. Whoever claims batch after
// batch says where the last one ended: what was claimed before leaves dead
// entries in the index, and from the beginning they would all be passed over
// again. When nothing is left behind the position, messages may have been put
// back before it.
func (n *Node) ClaimAfter(ctx context.Context, tenant id.Tenant, stream string, after Position, limit int, now time.Time) ([]Item, error) {
	from := int64(0)
	if !after.DueAt.IsZero() {
		from = after.DueAt.UnixMicro()
	}
	rows, err := n.DB.Query(ctx, `
		WITH due AS MATERIALIZED (
			SELECT tenant_id, id FROM outbox
			WHERE tenant_id = $1 AND stream_id = $2 AND state = 'queued' AND due_at <= $3
				AND (due_at, id) > ($6, $7)
				AND EXISTS (SELECT 1 FROM outbox_stream AS s WHERE s.tenant_id = $1 AND s.id = $2 AND s.phase = 'open')
			ORDER BY due_at, id LIMIT $4 `+n.DB.SkipLocked()+`)
		UPDATE outbox SET state = 'claimed', owner = $5, epoch = epoch + 1, attempt_at = NULL
		FROM due WHERE outbox.tenant_id = due.tenant_id AND outbox.id = due.id
		RETURNING `+itemColumns, tenant, stream, now.UnixMicro(), limit, n.Owner, from, after.ID)
	items, err := sqldb.Collect(rows, err, scanItem)
	if err != nil {
		return nil, fmt.Errorf("claim messages: %w", err)
	}
	return items, nil
}

// Release puts claimed messages back whose attempt has not begun. They are due
// when their DueAt says, which may be later than it was.
func (n *Node) Release(ctx context.Context, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	t := n.DB.Table("tenant_id TEXT", "id TEXT", "epoch BIGINT", "due_at BIGINT")
	for _, it := range items {
		t.Add(it.Tenant, it.ID, it.Epoch, it.DueAt.UnixMicro())
	}
	_, err := n.DB.Exec(ctx, `
		UPDATE outbox SET state = 'queued', owner = NULL, due_at = v.due_at
		FROM `+t.As("v", 1)+`
		WHERE outbox.tenant_id = v.tenant_id AND outbox.id = v.id AND outbox.epoch = v.epoch
			AND outbox.state = 'claimed' AND outbox.attempt_at IS NULL`, t.Args()...)
	if err != nil {
		return fmt.Errorf("release messages: %w", err)
	}
	return nil
}

// Unbegun returns the messages of a stream that the node has claimed and whose
// attempt has not begun.
func (n *Node) Unbegun(ctx context.Context, tenant id.Tenant, stream string) ([]Item, error) {
	rows, err := n.DB.Query(ctx, `
		SELECT `+itemColumns+` FROM outbox
		WHERE tenant_id = $1 AND stream_id = $2 AND owner = $3 AND state = 'claimed' AND attempt_at IS NULL`,
		tenant, stream, n.Owner)
	items, err := sqldb.Collect(rows, err, scanItem)
	if err != nil {
		return nil, fmt.Errorf("list claimed messages: %w", err)
	}
	return items, nil
}

// Ready is a stream to look at: it is open and has messages waiting, or it is
// cancelled and has some left to cancel.
type Ready struct {
	Tenant    id.Tenant
	Stream    string
	Cancelled bool
	NextDue   time.Time // of the message that is due first; zero when none is queued
}

// ReadyStreams returns the streams to look at, in no order.
func ReadyStreams(ctx context.Context, db *sqldb.DB) ([]Ready, error) {
	rows, err := db.Query(ctx, `
		SELECT s.tenant_id, s.id, s.phase = 'cancelled',
			(SELECT MIN(m.due_at) FROM outbox AS m WHERE m.tenant_id = s.tenant_id AND m.stream_id = s.id AND m.state = 'queued')
		FROM outbox_stream AS s
		WHERE s.phase IN ('open', 'cancelled') AND s.waiting > 0 /* all tenants: the engine serves everyone */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Ready, error) {
		var r Ready
		var due sql.NullInt64
		err := scan(&r.Tenant, &r.Stream, &r.Cancelled, &due)
		if due.Valid {
			r.NextDue = sqldb.Time(due.Int64)
		}
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list streams with waiting messages: %w", err)
	}
	return list, nil
}

// Reap takes back what dead nodes hold: those whose lease has ended, and those
// that have none. With alone, which a program says that has the database to
// itself, every other node is dead. Messages whose attempt had not begun are
// queued again; the others are uncertain, and are queued for one more attempt.
// It returns how many there were of either kind.
func (n *Node) Reap(ctx context.Context, now time.Time, alone bool) (requeued, uncertain int, err error) {
	dead, err := n.deadOwners(ctx, now, alone)
	if err != nil || len(dead) == 0 {
		return 0, 0, err
	}
	err = n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		a, err := tx.Exec(ctx, `
			UPDATE outbox SET state = 'queued', owner = NULL
			WHERE state = 'claimed' AND attempt_at IS NULL AND owner`+tx.In(1)+` /* all tenants: the node held anyone's */`,
			sqldb.List(tx, dead))
		if err != nil {
			return err
		}
		b, err := tx.Exec(ctx, `
			UPDATE outbox SET state = 'queued', owner = NULL, uncertain = uncertain + 1
			WHERE state = 'claimed' AND attempt_at IS NOT NULL AND owner`+tx.In(1)+` /* all tenants: the node held anyone's */`,
			sqldb.List(tx, dead))
		if err != nil {
			return err
		}
		requeued, uncertain = int(a), int(b)
		_, err = tx.Exec(ctx, `DELETE FROM outbox_node WHERE owner`+tx.In(1), sqldb.List(tx, dead))
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("take back what dead nodes hold: %w", err)
	}
	return requeued, uncertain, nil
}

func (n *Node) deadOwners(ctx context.Context, now time.Time, alone bool) ([]string, error) {
	rows, err := n.DB.Query(ctx, `
		SELECT owner FROM outbox_node WHERE owner <> $1 AND (until_at < $2 OR $3)
		UNION
		SELECT DISTINCT owner FROM outbox
		WHERE owner IS NOT NULL AND owner <> $1 AND owner NOT IN (SELECT owner FROM outbox_node) /* all tenants: the node held anyone's */`,
		n.Owner, now.UnixMicro(), alone)
	dead, err := sqldb.Collect(rows, err, func(scan func(...any) error) (owner string, err error) {
		return owner, scan(&owner)
	})
	if err != nil {
		return nil, fmt.Errorf("find dead nodes: %w", err)
	}
	return dead, nil
}

// ErrGone says that no such message exists.
var ErrGone = errors.New("no such message")

// Record is one message with what became of it.
type Record struct {
	Item
	State      State
	SentAt     *time.Time
	EndedAt    *time.Time
	BounceType string
	SkipReason string
	Error      string
}

func scanRecord(scan func(...any) error) (Record, error) {
	var r Record
	var sent, ended sql.NullInt64
	var bounce, skip, text sql.NullString
	it, err := scanItem(func(dest ...any) error {
		return scan(append(dest, &r.State, &sent, &ended, &bounce, &skip, &text)...)
	})
	r.Item, r.SentAt, r.EndedAt = it, sqldb.NullTime(sent), sqldb.NullTime(ended)
	r.BounceType, r.SkipReason, r.Error = bounce.String, skip.String, text.String
	return r, err
}

const recordColumns = itemColumns + `, outbox.state, outbox.sent_at, outbox.ended_at, outbox.bounce_type, outbox.skip_reason, outbox.error`

// Find returns one message, or ErrGone.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, message id.Message) (Record, error) {
	row := db.QueryRow(ctx, `SELECT `+recordColumns+` FROM outbox WHERE tenant_id = $1 AND id = $2`, tenant, message)
	r, err := scanRecord(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Record{}, ErrGone
	}
	if err != nil {
		return Record{}, fmt.Errorf("find a message: %w", err)
	}
	return r, nil
}

// FindAll returns those of the messages that exist.
func FindAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]Record, error) {
	rows, err := db.Query(ctx, `SELECT `+recordColumns+` FROM outbox WHERE tenant_id = $1 AND id`+db.In(2),
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
