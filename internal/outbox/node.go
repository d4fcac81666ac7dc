package outbox

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

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

// Leave ends the lease of a node that has released what it held.
func (n *Node) Leave(ctx context.Context) error {
	if err := n.GiveUp(ctx); err != nil {
		return err
	}
	_, err := n.DB.Exec(ctx, `DELETE FROM outbox_node WHERE owner = $1`, n.Owner)
	return err
}

// stretch is a claim and where it lies.
type stretch struct {
	tenant id.Tenant
	stream string
	claim  Claim
}

// holdings are the claims of a node: what of each is not dealt with yet, and
// which of them have changed and still stand in the database as they were.
type holdings struct {
	writing sync.Mutex // held by whoever writes changes

	mu      sync.Mutex
	open    map[Claim]*holding
	changed map[stretch]bool
}

type holding struct {
	stretch
	left map[id.Message]Position
}

func (h *holdings) add(s stretch, items []Item) {
	if len(items) == 0 {
		return
	}
	left := make(map[id.Message]Position, len(items))
	for _, it := range items {
		left[it.ID] = it.position()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[Claim]*holding{}
	}
	h.open[s.claim] = &holding{s, left}
}

// lose notes that a claim may stand in the database and be held by nobody, or not
// as it is held.
func (h *holdings) lose(s stretch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.change(s)
}

// changes returns the claims that have changed, as they are, and forgets that.
func (h *holdings) changes() []holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]holding, 0, len(h.changed))
	for s := range h.changed {
		now := holding{stretch: s}
		if held := h.open[s.claim]; held != nil {
			now.left = maps.Clone(held.left)
		}
		list = append(list, now)
	}
	clear(h.changed)
	return list
}

// change is lose for who holds h.mu.
func (h *holdings) change(s stretch) {
	if h.changed == nil {
		h.changed = map[stretch]bool{}
	}
	h.changed[s] = true
}

// drop takes messages out of the claims that hold them. Those that are claimable
// again must not wait for the rest of their claim.
func (h *holdings) drop(items iter.Seq[Item], claimable bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for it := range items {
		held := h.open[it.Claim]
		if held == nil {
			continue
		}
		delete(held.left, it.ID)
		if len(held.left) == 0 {
			delete(h.open, it.Claim)
		}
		if claimable || len(held.left) == 0 {
			h.change(held.stretch)
		}
	}
}

// Release puts claimed messages back as they are. They can be claimed again once
// the node has written so (GiveUp, and every claim).
func (n *Node) Release(items ...Item) { n.held.drop(slices.Values(items), true) }

// Held returns how many messages the node has claimed and neither settled nor
// put back.
func (n *Node) Held() (messages int) {
	n.held.mu.Lock()
	defer n.held.mu.Unlock()
	for _, h := range n.held.open {
		messages += len(h.left)
	}
	return messages
}

// GiveUp writes which claims the node has done with, and what was put back.
func (n *Node) GiveUp(ctx context.Context) error {
	n.held.writing.Lock()
	defer n.held.writing.Unlock()
	changed := n.held.changes()
	if len(changed) == 0 {
		return nil
	}
	gone := n.DB.Table("tenant_id TEXT", "stream_id TEXT", "id TEXT")
	kept := n.DB.Table("tenant_id TEXT", "stream_id TEXT", "id TEXT", "owner TEXT", "from_due BIGINT", "from_id TEXT", "to_due BIGINT", "to_id TEXT")
	some := false
	for _, h := range changed {
		gone.Add(h.tenant, h.stream, h.claim)
		for m, p := range h.left {
			some = true
			due := p.DueAt.UnixMicro()
			kept.Add(h.tenant, h.stream, h.claim, n.Owner, due, m, due, m)
		}
	}
	err := n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := tx.Exec(ctx, `
			DELETE FROM outbox_claim WHERE (tenant_id, stream_id, id) IN (SELECT v.tenant_id, v.stream_id, v.id FROM `+gone.As("v", 1)+`)`, gone.Args()...)
		if err != nil || !some {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO outbox_claim (tenant_id, stream_id, id, owner, from_due, from_id, to_due, to_id)
			SELECT v.tenant_id, v.stream_id, v.id, v.owner, v.from_due, v.from_id, v.to_due, v.to_id FROM `+kept.As("v", 1), kept.Args()...)
		return err
	})
	if err != nil {
		for _, h := range changed {
			n.held.lose(h.stretch)
		}
		return fmt.Errorf("give up claims: %w", err)
	}
	return nil
}

// Reap takes back what dead nodes hold: those whose lease has ended, and those
// that have none. With alone, which a program says that has the database to
// itself, every other node is dead. Messages whose attempt had not begun are
// claimable again; the others are uncertain, and get one more attempt. It returns
// how many there were of either kind.
func (n *Node) Reap(ctx context.Context, now time.Time, alone bool) (requeued, uncertain int, err error) {
	dead, err := n.deadOwners(ctx, n.DB, "", now, alone)
	if err != nil || len(dead) == 0 {
		return 0, 0, err
	}
	err = n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		requeued, uncertain = 0, 0
		// One of them may have come back to life meanwhile.
		dead, err := n.deadOwners(ctx, tx, tx.ForUpdate(), now, alone)
		if err != nil || len(dead) == 0 {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT tenant_id, stream_id, id, from_due, from_id, to_due, to_id FROM outbox_claim
			WHERE owner`+tx.In(1)+` ORDER BY tenant_id, stream_id, id`+tx.ForUpdate()+` /* all tenants: the node held anyone's */`, sqldb.List(tx, dead))
		claims, err := sqldb.Collect(rows, err, scanDeadClaim)
		if err != nil {
			return err
		}
		for _, c := range claims {
			free, under, err := c.takeBack(ctx, tx)
			if err != nil {
				return err
			}
			requeued, uncertain = requeued+free, uncertain+under
		}
		_, err = tx.Exec(ctx, `DELETE FROM outbox_node WHERE owner`+tx.In(1), sqldb.List(tx, dead))
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("take back what dead nodes hold: %w", err)
	}
	return requeued, uncertain, nil
}

// deadClaim is a stretch that nobody holds any more.
type deadClaim struct {
	stretch
	fromDue, toDue int64
	fromID, toID   id.Message
}

func scanDeadClaim(scan func(...any) error) (c deadClaim, err error) {
	return c, scan(&c.tenant, &c.stream, &c.claim, &c.fromDue, &c.fromID, &c.toDue, &c.toID)
}

// takeBack ends a claim. The epoch of its messages moves on, so that nothing its
// node may still write means them.
func (c deadClaim) takeBack(ctx context.Context, tx *sqldb.DB) (free, under int, err error) {
	rows, err := tx.Query(ctx, `
		UPDATE outbox SET epoch = epoch + 1
		WHERE tenant_id = $1 AND stream_id = $2 AND state = 'queued' AND (due_at, id) >= ($3, $4) AND (due_at, id) <= ($5, $6)
		RETURNING attempt_at IS NOT NULL`, c.tenant, c.stream, c.fromDue, c.fromID, c.toDue, c.toID)
	began, err := sqldb.Collect(rows, err, func(scan func(...any) error) (b bool, err error) { return b, scan(&b) })
	if err != nil {
		return 0, 0, err
	}
	for _, b := range began {
		if b {
			under++
		} else {
			free++
		}
	}
	if under > 0 {
		_, err = tx.Exec(ctx, `
			UPDATE outbox SET uncertain = uncertain + 1, attempt_at = NULL
			WHERE tenant_id = $1 AND stream_id = $2 AND state = 'queued' AND attempt_at IS NOT NULL
				AND (due_at, id) >= ($3, $4) AND (due_at, id) <= ($5, $6)`, c.tenant, c.stream, c.fromDue, c.fromID, c.toDue, c.toID)
		if err != nil {
			return 0, 0, err
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM outbox_claim WHERE tenant_id = $1 AND stream_id = $2 AND id = $3`, c.tenant, c.stream, c.claim)
	return free, under, err
}

// deadOwners returns the nodes whose lease has ended, with their rows locked if
// asked to, and those that hold something and have no lease.
func (n *Node) deadOwners(ctx context.Context, db *sqldb.DB, lock string, now time.Time, alone bool) ([]string, error) {
	owner := func(scan func(...any) error) (owner string, err error) { return owner, scan(&owner) }
	rows, err := db.Query(ctx, `SELECT owner FROM outbox_node WHERE owner <> $1 AND (until_at < $2 OR $3) ORDER BY owner`+lock,
		n.Owner, now.UnixMicro(), alone)
	ended, err := sqldb.Collect(rows, err, owner)
	if err != nil {
		return nil, fmt.Errorf("find dead nodes: %w", err)
	}
	rows, err = db.Query(ctx, `
		SELECT DISTINCT owner FROM outbox_claim
		WHERE owner <> $1 AND owner NOT IN (SELECT owner FROM outbox_node) /* all tenants: the node held anyone's */`, n.Owner)
	strays, err := sqldb.Collect(rows, err, owner)
	if err != nil {
		return nil, fmt.Errorf("find dead nodes: %w", err)
	}
	return append(ended, strays...), nil
}
