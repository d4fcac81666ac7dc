package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Item is a message that a node has claimed.
type Item struct {
	Claim          id.Claim // that contains it; zero: none
	Tenant         id.Tenant
	ID             id.Message
	Send           id.Send
	Kind           Kind       // of the send; set in claimed messages only
	Contact        id.Contact // of a seed copy: the id of the seed (SeedOf)
	Visit          int        // see Message.Visit
	Email          string
	Content        id.Content
	ContentVersion int
	Variant        string
	Identity       id.Identity
	Lane           id.Lane
	Day            spread.Day // assigned by the send's plan; empty: not planned
	QueuedAt       time.Time
	DueAt          time.Time
	Epoch          int64      // of the row when it was claimed
	Attempts       int        // begun before this claim
	Deferred       bool       // an earlier attempt was deferred
	Answered       bool       // a server has answered an attempt; without an answer the address was not refused
	FirstAt        *time.Time // time of the first attempt, repeated as Date by later ones; nil before it
	ContactVersion int64      // that the attempt prints: see contact.AtVersion; 0: none, or not known

	mix int64 // number of the message's mix
}

// itemColumns are the columns of an Item, in the order of scanItem. Those of its mix are not
// included.
const itemColumns = `outbox.tenant_id, outbox.id, outbox.send_id, outbox.contact_id, outbox.visit, outbox.email, outbox.mix,
	outbox.lane_id, COALESCE(outbox.queued_at, outbox.due_at), outbox.due_at, outbox.epoch, outbox.attempts, outbox.deferred, outbox.answered, outbox.first_at, outbox.plan_day`

func scanItem(scan func(...any) error) (Item, error) {
	var it Item
	var day sql.NullString
	var queued, due int64
	var first sql.NullInt64
	err := scan(&it.Tenant, &it.ID, &it.Send, &it.Contact, &it.Visit, &it.Email, &it.mix,
		&it.Lane, &queued, &due, &it.Epoch, &it.Attempts, &it.Deferred, &it.Answered, &first, &day)
	it.FirstAt = sqldb.NullTime(first)
	it.Day, it.QueuedAt, it.DueAt = spread.Day(day.String), sqldb.Time(queued), sqldb.Time(due)
	return it, err
}

// Node is one process that sends. Its claims are valid while it renews its lease.
type Node struct {
	DB    *sqldb.DB
	Owner string // unique to this run of the process

	claims   openClaims
	attempts attemptTracker
	mixes    mixCache
	kinds    cache.Cache[sendKey, Kind]
}

// Position is a position in the order in which a send's messages are claimed.
type Position struct {
	DueAt time.Time
	ID    id.Message
}

func (it Item) position() Position { return Position{it.DueAt, it.ID} }

func (p Position) compare(o Position) int {
	return cmp.Or(p.DueAt.Compare(o.DueAt), id.Compare(p.ID, o.ID))
}

// Last returns the position of the last of some claimed messages.
func Last(items []Item) Position { return items[len(items)-1].position() }

// Claim claims up to limit due messages of a send, oldest first; none if the send is not open.
func (n *Node) Claim(ctx context.Context, tenant id.Tenant, send id.Send, limit int, now time.Time) ([]Item, error) {
	return n.ClaimAfter(ctx, tenant, send, Position{}, limit, now)
}

// ClaimAfter is Claim for messages after a position. A caller that claims batch after batch passes
// the end of the last one, so that claimed messages are not read again each time. If there is none
// after the position, messages before it may have been put back.
//
// A claim that seems to fail may have been committed. It is then deleted with the next claims that
// the node writes.
func (n *Node) ClaimAfter(ctx context.Context, tenant id.Tenant, send id.Send, after Position, limit int, now time.Time) ([]Item, error) {
	// A row of outbox_claim hides all messages between its ends, also those that this node has put
	// back. Unless it is shortened first, they are not found, and the send seems to have nothing due.
	if err := n.FlushReleased(ctx); err != nil {
		return nil, err
	}
	// Chosen before the transaction: if the answer to its commit is lost, the row may exist, and
	// markChanged below deletes it by this id. Otherwise the messages would be hidden until this node
	// ends.
	claim := id.New[id.Claim]()
	var items []Item
	err := n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		items = nil
		// Must be the first statement. Claims lock no messages, and two of them share no key: without
		// the lock, two nodes that read the same free messages would both send them. What is read
		// after it includes the claim that its previous holder committed.
		if err := lockTurn(ctx, tx, tenant, send); err != nil {
			return err
		}
		var err error
		if items, err = loadClaimable(ctx, tx, tenant, send, after, limit, now); err != nil || len(items) == 0 {
			return err
		}
		if items, err = excludeClaimed(ctx, tx, tenant, send, items); err != nil || len(items) == 0 {
			return err
		}
		if err := n.mixes.fill(ctx, tx, tenant, send, items); err != nil {
			return err
		}
		kind, err := n.kindOf(ctx, tx, tenant, send)
		if err != nil {
			return err
		}
		for i := range items {
			items[i].Kind = kind
		}
		first, last := items[0], items[len(items)-1]
		_, err = tx.Exec(ctx, `
			INSERT INTO outbox_claim (tenant_id, send_id, id, owner, from_due, from_id, to_due, to_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			tenant, send, claim, n.Owner, first.DueAt.UnixMicro(), first.ID, last.DueAt.UnixMicro(), last.ID)
		return err
	})
	if err != nil { // it may have been committed all the same
		n.claims.markChanged(claimKey{tenant, send, claim})
		return nil, fmt.Errorf("claim messages: %w", err)
	}
	for i := range items {
		items[i].Claim = claim
	}
	n.claims.add(claimKey{tenant, send, claim}, items)
	return items, nil
}

// lockTurn locks the send for claiming until tx ends.
func lockTurn(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox_turn (tenant_id, send_id, claims) VALUES ($1, $2, 1)
		ON CONFLICT (tenant_id, send_id) DO UPDATE SET claims = outbox_turn.claims + 1`, tenant, send)
	return err
}

// loadClaimable returns due messages of an open send that no node has claimed.
func loadClaimable(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, after Position, limit int, now time.Time) ([]Item, error) {
	from, first, behind := sqldb.MicrosOrZero(after.DueAt), after.ID, ">"
	if after == (Position{}) {
		var err error
		if from, first, err = lowMark(ctx, tx, tenant, send); err != nil {
			return nil, err
		}
		behind = ">="
	}
	rows, err := tx.Query(ctx, `
		SELECT `+itemColumns+` FROM outbox
		WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND due_at <= $3 AND (due_at, id) `+behind+` ($5, $6)
			AND EXISTS (SELECT 1 FROM send AS s WHERE s.tenant_id = $1 AND s.id = $2 AND s.phase = 'open')
			AND NOT EXISTS (SELECT 1 FROM outbox_claim AS c WHERE c.tenant_id = $1 AND c.send_id = $2
				AND (outbox.due_at, outbox.id) >= (c.from_due, c.from_id) AND (outbox.due_at, outbox.id) <= (c.to_due, c.to_id))
		ORDER BY due_at, id LIMIT $4`, tenant, send, now.UnixMicro(), limit, from, first)
	return sqldb.Collect(rows, err, scanItem)
}

// excludeClaimed cuts the list off before a message that lies after the beginning of another claim,
// or is in flight under a claim that was revoked, since a claim consists of all messages from its
// first to its last.
func excludeClaimed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, items []Item) ([]Item, error) {
	epochs, err := attemptEpochs(ctx, tx, tenant, send)
	if err != nil {
		return nil, err
	}
	inFlight := func(it Item) bool {
		epoch, ok := epochs[it.ID]
		return ok && epoch == it.Epoch
	}
	// A claim can be revoked while attempts run under it, for example when its send is planned again.
	// Their messages are still queued, but a server may be accepting them: claimed again, they are
	// sent twice.
	for len(items) > 0 && inFlight(items[0]) {
		items = items[1:]
	}
	if i := slices.IndexFunc(items, inFlight); i > 0 {
		items = items[:i]
	}
	rows, err := tx.Query(ctx, `SELECT from_due, from_id FROM outbox_claim WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	begins, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p Position, err error) {
		var due int64
		err = scan(&due, &p.ID)
		p.DueAt = sqldb.Time(due)
		return p, err
	})
	// The query has left out messages inside other claims, but not those behind them. A stretch that
	// spanned the claim of another node would take its messages along when Reap takes the stretch
	// back: that node's results would be void, and its messages sent twice.
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

// Delay changes the due times of claimed messages whose attempts have not begun to those in items,
// and puts them back.
func (n *Node) Delay(ctx context.Context, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	err := n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		for tenant, own := range id.ByTenant(items, func(it Item) id.Tenant { return it.Tenant }) {
			if err := delay(ctx, tx, tenant, own); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delay messages: %w", err)
	}
	n.claims.remove(slices.Values(items), false)
	return nil
}

// delay is Delay for items of one tenant.
func delay(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, items []Item) error {
	t := tx.Table("id UUID", "epoch BIGINT", "due_at BIGINT")
	first := map[id.Send]time.Time{}
	for _, it := range items {
		t.Add(it.ID, it.Epoch, it.DueAt.UnixMicro())
		if at, ok := first[it.Send]; !ok || it.DueAt.Before(at) {
			first[it.Send] = it.DueAt
		}
	}
	// From here on another node may claim these messages. The new epoch voids what this one may still
	// write about them, and a recorded attempt that did not begin.
	_, err := tx.Exec(ctx, `
		UPDATE outbox SET due_at = v.due_at, queued_at = COALESCE(outbox.queued_at, outbox.due_at), epoch = outbox.epoch + 1
		FROM `+t.As("v", 2)+`
		WHERE outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch AND outbox.state = 'queued'`, t.Args(tenant)...)
	if err != nil {
		return err
	}
	// Sends are locked in the order of their ids, as by Commit: two orders would deadlock.
	for _, send := range slices.SortedFunc(maps.Keys(first), id.Compare) {
		if err := lowerMark(ctx, tx, tenant, send, first[send]); err != nil {
			return err
		}
	}
	return nil
}
