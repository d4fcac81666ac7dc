package outbox

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
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

// EndLease ends the lease of a node that has released its claims.
func (n *Node) EndLease(ctx context.Context) error {
	if err := n.FlushReleased(ctx); err != nil {
		return err
	}
	_, err := n.DB.Exec(ctx, `DELETE FROM outbox_node WHERE owner = $1`, n.Owner)
	return err
}

// claimKey identifies a claim.
type claimKey struct {
	tenant id.Tenant
	send   id.Send
	claim  id.Claim
}

// openClaims are the claims of a node with their unsettled messages, and which of them differ from
// their rows in the database.
type openClaims struct {
	writing sync.Mutex // held while changes are written

	mu      sync.Mutex
	open    map[id.Claim]*openClaim
	changed map[claimKey]bool
}

type openClaim struct {
	claimKey
	left map[id.Message]Position
}

func (h *openClaims) add(s claimKey, items []Item) {
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
		h.open = map[id.Claim]*openClaim{}
	}
	h.open[s.claim] = &openClaim{s, left}
}

// markChanged marks a claim whose row in the database may differ from it, or may exist though the
// claim does not.
func (h *openClaims) markChanged(s claimKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.markChangedLocked(s)
}

// changes returns the marked claims and removes the marks.
func (h *openClaims) changes() []openClaim {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]openClaim, 0, len(h.changed))
	for s := range h.changed {
		now := openClaim{claimKey: s}
		if claim := h.open[s.claim]; claim != nil {
			now.left = maps.Clone(claim.left)
		}
		list = append(list, now)
	}
	clear(h.changed)
	return list
}

// markChangedLocked is markChanged for callers that have locked h.mu.
func (h *openClaims) markChangedLocked(s claimKey) {
	if h.changed == nil {
		h.changed = map[claimKey]bool{}
	}
	h.changed[s] = true
}

// remove removes messages from their claims. If they are claimable again, the claim's row must be
// changed before the rest of the claim ends.
func (h *openClaims) remove(items iter.Seq[Item], claimable bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for it := range items {
		claim := h.open[it.Claim]
		if claim == nil {
			continue
		}
		delete(claim.left, it.ID)
		if len(claim.left) == 0 {
			delete(h.open, it.Claim)
		}
		if claimable || len(claim.left) == 0 {
			h.markChangedLocked(claim.claimKey)
		}
	}
}

// Release puts claimed messages back without changing them. They can be claimed again when the node
// has written this (FlushReleased, and each claim).
func (n *Node) Release(items ...Item) { n.claims.remove(slices.Values(items), true) }

// Claimed returns how many messages the node has claimed and neither settled nor put back.
func (n *Node) Claimed() (messages int) {
	n.claims.mu.Lock()
	defer n.claims.mu.Unlock()
	for _, h := range n.claims.open {
		messages += len(h.left)
	}
	return messages
}

// FlushReleased writes the claims that have ended, and those with messages that were put back.
func (n *Node) FlushReleased(ctx context.Context) error {
	// One at a time: a second call that found no marks would return before the first has written, and
	// ClaimAfter would not find what was put back.
	n.claims.writing.Lock()
	defer n.claims.writing.Unlock()
	if err := n.deleteFinishedAttempts(ctx); err != nil {
		return err
	}
	changed := n.claims.changes()
	if len(changed) == 0 {
		return nil
	}
	err := n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		for tenant, own := range id.ByTenant(changed, func(h openClaim) id.Tenant { return h.tenant }) {
			if err := writeReleased(ctx, tx, n.Owner, tenant, own); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // or the messages would be hidden until this node ends
		for _, h := range changed {
			n.claims.markChanged(h.claimKey)
		}
		return fmt.Errorf("release claims: %w", err)
	}
	return nil
}

// writeReleased writes changed claims of a tenant: it deletes their rows, and inserts one for each
// message left.
func writeReleased(ctx context.Context, tx *sqldb.DB, owner string, tenant id.Tenant, changed []openClaim) error {
	gone := tx.Table("send_id UUID", "id UUID")
	for _, h := range changed {
		gone.Add(h.send, h.claim)
	}
	rows, err := tx.Query(ctx, `
		DELETE FROM outbox_claim WHERE tenant_id = $1 AND (send_id, id) IN (SELECT v.send_id, v.id FROM `+gone.As("v", 2)+`)
		RETURNING id`, gone.Args(tenant)...)
	existing, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c id.Claim, err error) { return c, scan(&c) })
	if err != nil {
		return err
	}
	// The messages that are left keep the id of their claim, so that intents for them still find it.
	rest := tx.Table("send_id UUID", "id UUID", "due BIGINT", "message_id UUID")
	for _, h := range changed {
		// It was revoked, or taken back by Reap. Inserted again, it would let attempts begin that another
		// node may make, too.
		if !slices.Contains(existing, h.claim) {
			continue
		}
		for m, p := range h.left {
			rest.Add(h.send, h.claim, p.DueAt.UnixMicro(), m)
		}
	}
	if rest.Len() == 0 {
		return nil
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO outbox_claim (tenant_id, send_id, id, owner, from_due, from_id, to_due, to_id)
		SELECT h.tenant_id, v.send_id, v.id, `+tx.Param(2, "TEXT")+`, v.due, v.message_id, v.due, v.message_id
		FROM `+tx.Home(1)+` CROSS JOIN `+rest.As("v", 3), rest.Args(tenant, owner)...)
	return err
}
