package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/spread"
	"packetboat/internal/sqldb"
)

// Item is a message in the hands of a node, which decides what becomes of it.
type Item struct {
	Claim          id.Claim // that holds it; zero: none
	Tenant         id.Tenant
	ID             id.Message
	Stream         id.Send
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
	Epoch          int64      // of the row as it was claimed
	Attempts       int        // begun before this claim
	Deferred       bool       // an earlier attempt was told to come again
	Answered       bool       // a server has answered an attempt; if none ever does, nobody refused the address
	FirstAt        *time.Time // Date of the first attempt, which later ones repeat; nil before it
}

// columns of an Item, in the order of scanItem.
const itemColumns = `outbox.tenant_id, outbox.id, outbox.send_id, outbox.contact_id, outbox.email, outbox.content_id,
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

	held    holdings
	flights flights
}

// Position is a place in the order in which a stream's messages are claimed.
type Position struct {
	DueAt time.Time
	ID    id.Message
}

func (it Item) position() Position { return Position{it.DueAt, it.ID} }

func (p Position) compare(o Position) int {
	return cmp.Or(p.DueAt.Compare(o.DueAt), strings.Compare(p.ID.String(), o.ID.String()))
}

// Last returns the position of the last of some claimed messages.
func Last(items []Item) Position { return items[len(items)-1].position() }

// Claim takes up to limit due messages of a stream, oldest first. It takes none
// of a stream that is not open.
func (n *Node) Claim(ctx context.Context, tenant id.Tenant, stream id.Send, limit int, now time.Time) ([]Item, error) {
	return n.ClaimAfter(ctx, tenant, stream, Position{}, limit, now)
}

// ClaimAfter is Claim of messages behind a position. Whoever claims batch after
// batch says where the last one ended: what has left leaves dead entries in the
// index, and from the beginning they would all be passed over again. When
// nothing is left behind the position, messages may have been put back before it.
//
// A claim that seems to fail may have been made all the same. Then it is unmade
// with what the node writes next.
func (n *Node) ClaimAfter(ctx context.Context, tenant id.Tenant, stream id.Send, after Position, limit int, now time.Time) ([]Item, error) {
	if err := n.GiveUp(ctx); err != nil {
		return nil, err
	}
	claim := id.New[id.Claim]()
	var items []Item
	err := n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		items = nil
		if err := turn(ctx, tx, tenant, stream); err != nil {
			return err
		}
		var err error
		if items, err = free(ctx, tx, tenant, stream, after, limit, now); err != nil || len(items) == 0 {
			return err
		}
		if items, err = alone(ctx, tx, tenant, stream, items); err != nil || len(items) == 0 {
			return err
		}
		first, last := items[0], items[len(items)-1]
		_, err = tx.Exec(ctx, `
			INSERT INTO outbox_claim (tenant_id, send_id, id, owner, from_due, from_id, to_due, to_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			tenant, stream, claim, n.Owner, first.DueAt.UnixMicro(), first.ID, last.DueAt.UnixMicro(), last.ID)
		return err
	})
	if err != nil {
		n.held.lose(stretch{tenant, stream, claim})
		return nil, fmt.Errorf("claim messages: %w", err)
	}
	for i := range items {
		items[i].Claim = claim
	}
	n.held.add(stretch{tenant, stream, claim}, items)
	return items, nil
}

// turn waits until nobody else claims in the stream.
func turn(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream id.Send) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox_turn (tenant_id, send_id, claims) VALUES ($1, $2, 1)
		ON CONFLICT (tenant_id, send_id) DO UPDATE SET claims = outbox_turn.claims + 1`, tenant, stream)
	return err
}

// free returns due messages of an open stream that nobody has claimed.
func free(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream id.Send, after Position, limit int, now time.Time) ([]Item, error) {
	from := int64(0)
	if !after.DueAt.IsZero() {
		from = after.DueAt.UnixMicro()
	}
	rows, err := tx.Query(ctx, `
		SELECT `+itemColumns+` FROM outbox
		WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND due_at <= $3 AND (due_at, id) > ($5, $6)
			AND EXISTS (SELECT 1 FROM send AS s WHERE s.tenant_id = $1 AND s.id = $2 AND s.phase = 'open')
			AND NOT EXISTS (SELECT 1 FROM outbox_claim AS c WHERE c.tenant_id = $1 AND c.send_id = $2
				AND (outbox.due_at, outbox.id) >= (c.from_due, c.from_id) AND (outbox.due_at, outbox.id) <= (c.to_due, c.to_id))
		ORDER BY due_at, id LIMIT $4`, tenant, stream, now.UnixMicro(), limit, from, after.ID)
	return sqldb.Collect(rows, err, scanItem)
}

// alone cuts messages off where another claim begins, or one is under way whose
// claim was revoked: what lies between the first and the last of a claim belongs
// to whoever made it.
func alone(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream id.Send, items []Item) ([]Item, error) {
	epochs, err := noted(ctx, tx, tenant, stream)
	if err != nil {
		return nil, err
	}
	under := func(it Item) bool {
		epoch, ok := epochs[it.ID]
		return ok && epoch == it.Epoch
	}
	for len(items) > 0 && under(items[0]) {
		items = items[1:]
	}
	if i := slices.IndexFunc(items, under); i > 0 {
		items = items[:i]
	}
	rows, err := tx.Query(ctx, `SELECT from_due, from_id FROM outbox_claim WHERE tenant_id = $1 AND send_id = $2`, tenant, stream)
	begins, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p Position, err error) {
		var due int64
		err = scan(&due, &p.ID)
		p.DueAt = sqldb.Time(due)
		return p, err
	})
	for _, p := range begins {
		for i, it := range items {
			if i > 0 && it.position().compare(p) > 0 && items[0].position().compare(p) < 0 {
				items = items[:i]
				break
			}
		}
	}
	return items, err
}

// Delay puts claimed messages off whose attempt has not begun: they are due
// when their DueAt says.
func (n *Node) Delay(ctx context.Context, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	t := n.DB.Table("tenant_id INTEGER", "id UUID", "epoch BIGINT", "due_at BIGINT")
	for _, it := range items {
		t.Add(it.Tenant, it.ID, it.Epoch, it.DueAt.UnixMicro())
	}
	_, err := n.DB.Exec(ctx, `
		UPDATE outbox SET due_at = v.due_at, epoch = outbox.epoch + 1
		FROM `+t.As("v", 1)+`
		WHERE outbox.tenant_id = v.tenant_id AND outbox.id = v.id AND outbox.epoch = v.epoch
			AND `+stillQueued, t.Args()...)
	if err != nil {
		return fmt.Errorf("delay messages: %w", err)
	}
	n.held.drop(slices.Values(items), false)
	return nil
}
