package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Reap takes back the claims and attempts of dead nodes: those whose lease has expired, and those
// that have none. If alone, because this process has the database to itself, every other node is
// dead. Messages whose attempt had not begun can be claimed again. The others are uncertain and are
// tried once more. It returns how many there were of each kind.
func (n *Node) Reap(ctx context.Context, now time.Time, alone bool) (requeued, uncertain int, err error) {
	dead, err := n.deadOwners(ctx, n.DB, "", now, alone)
	if err != nil || len(dead) == 0 {
		return 0, 0, err
	}
	err = n.DB.InTx(ctx, func(tx *sqldb.DB) error {
		requeued, uncertain = 0, 0
		// A node may have renewed its lease meanwhile.
		dead, err := n.deadOwners(ctx, tx, tx.ForUpdate(), now, alone)
		if err != nil || len(dead) == 0 {
			return err
		}
		claims, err := claimsOf(ctx, tx, dead)
		if err != nil {
			return err
		}
		// The order matters. While the claims are locked, no attempt begins under them: insertAttempts
		// of a node that is slow, not dead, waits for this transaction and then finds no claim. So each
		// message has either an attempt that is read here, or none.
		inFlight, err := reapAttempts(ctx, tx, dead)
		if err != nil {
			return err
		}
		for _, c := range claims {
			free, err := c.requeue(ctx, tx, inFlight)
			if err != nil {
				return err
			}
			requeued += free
		}
		uncertain = len(inFlight)
		_, err = tx.Exec(ctx, `DELETE FROM outbox_node WHERE owner`+tx.In(1), sqldb.List(tx, dead))
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("take back the claims of dead nodes: %w", err)
	}
	return requeued, uncertain, nil
}

// claimsOf returns the claims of nodes, and locks them.
func claimsOf(ctx context.Context, tx *sqldb.DB, owners []string) ([]deadClaim, error) {
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT tenant_id FROM outbox_claim WHERE owner`+tx.In(1)+` ORDER BY tenant_id /* all tenants: a node sends for all */`, sqldb.List(tx, owners))
	tenants, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) { return t, scan(&t) })
	if err != nil {
		return nil, err
	}
	var claims []deadClaim
	for _, t := range tenants {
		rows, err := tx.Query(ctx, `
			SELECT tenant_id, send_id, id, from_due, from_id, to_due, to_id FROM outbox_claim
			WHERE tenant_id = $1 AND owner`+tx.In(2)+` ORDER BY send_id, id`+tx.ForUpdate(), t, sqldb.List(tx, owners))
		if claims, err = sqldb.CollectInto(claims, rows, err, scanDeadClaim); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// reapAttempts ends the attempts of dead nodes, whose results are unknown, and returns their
// messages.
func reapAttempts(ctx context.Context, tx *sqldb.DB, dead []string) (map[id.Message]bool, error) {
	rows, err := tx.Query(ctx, `
		SELECT tenant_id, begun_at, messages FROM outbox_attempt WHERE owner`+tx.In(1)+` /* all tenants: a node sends for all */`, sqldb.List(tx, dead))
	type tenantAttempt struct {
		tenant id.Tenant
		attempt
		begunAt int64
	}
	var all []tenantAttempt
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var tenant id.Tenant
		var begun int64
		var b []byte
		if err := scan(&tenant, &begun, &b); err != nil {
			return err
		}
		list, err := decodeAttempts(b)
		for _, f := range list {
			all = append(all, tenantAttempt{tenant, f, begun})
		}
		return err
	})
	inFlight := map[id.Message]bool{}
	if err != nil {
		return inFlight, err
	}
	for tenant, own := range id.ByTenant(all, func(a tenantAttempt) id.Tenant { return a.tenant }) {
		t := tx.Table("id UUID", "epoch BIGINT", "lane_id UUID", "first_at BIGINT")
		for _, a := range own {
			t.Add(a.Message, a.Epoch, a.Lane, a.FirstAt)
		}
		// The row of a settled attempt stays until its node deletes it. That message has ended, or has
		// another epoch, and is not uncertain. first_at is set although no result is known, since the
		// repetition must have the same Date. What this attempt printed is not known.
		rows, err := tx.Query(ctx, `
			UPDATE outbox SET epoch = outbox.epoch + 1, uncertain = uncertain + 1, attempts = attempts + 1,
				first_at = COALESCE(outbox.first_at, v.first_at), lane_id = v.lane_id, contact_version = NULL
			FROM `+t.As("v", 2)+`
			WHERE outbox.tenant_id = $1 AND outbox.id = v.id AND outbox.epoch = v.epoch AND outbox.state = 'queued'
			RETURNING outbox.id`, t.Args(tenant)...)
		list, err := sqldb.Collect(rows, err, messageID)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			inFlight[m] = true
		}
		failed := newFailedAttempts(tx)
		for _, a := range own {
			if inFlight[a.Message] {
				failed.addUnknown(a.attempt, a.begunAt)
			}
		}
		if err := failed.write(ctx, tx, tenant); err != nil {
			return nil, err
		}
		_, err = tx.Exec(ctx, `DELETE FROM outbox_attempt WHERE tenant_id = $1 AND owner`+tx.In(2), tenant, sqldb.List(tx, dead))
		if err != nil {
			return nil, err
		}
	}
	return inFlight, nil
}

// deadClaim is a claim of a dead node.
type deadClaim struct {
	claimKey
	fromDue, toDue int64
	fromID, toID   id.Message
}

func scanDeadClaim(scan func(...any) error) (c deadClaim, err error) {
	err = scan(&c.tenant, &c.send, &c.claim, &c.fromDue, &c.fromID, &c.toDue, &c.toID)
	return c, err
}

// requeue deletes a claim and returns how many of its messages were not in flight. It increases
// their epochs, so that later writes of the claim's node do not change them.
func (c deadClaim) requeue(ctx context.Context, tx *sqldb.DB, inFlight map[id.Message]bool) (free int, err error) {
	rows, err := tx.Query(ctx, `
		UPDATE outbox SET epoch = epoch + 1
		WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND (due_at, id) >= ($3, $4) AND (due_at, id) <= ($5, $6)
		RETURNING id`, c.tenant, c.send, c.fromDue, c.fromID, c.toDue, c.toID)
	waiting, err := sqldb.Collect(rows, err, messageID)
	if err != nil {
		return 0, err
	}
	for _, m := range waiting {
		if !inFlight[m] { // reapAttempts has counted the others
			free++
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM outbox_claim WHERE tenant_id = $1 AND send_id = $2 AND id = $3`, c.tenant, c.send, c.claim)
	return free, err
}

// deadOwners returns the nodes whose lease has expired, with their rows locked by the clause lock,
// and those that have claims or attempts but no lease.
func (n *Node) deadOwners(ctx context.Context, db *sqldb.DB, lock string, now time.Time, alone bool) ([]string, error) {
	owner := func(scan func(...any) error) (owner string, err error) { return owner, scan(&owner) }
	rows, err := db.Query(ctx, `SELECT owner FROM outbox_node WHERE owner <> $1 AND (until_at < $2 OR $3) ORDER BY owner`+lock,
		n.Owner, now.UnixMicro(), alone)
	ended, err := sqldb.Collect(rows, err, owner)
	if err != nil {
		return nil, fmt.Errorf("find dead nodes: %w", err)
	}
	rows, err = db.Query(ctx, `
		SELECT owner FROM outbox_claim WHERE owner <> $1 AND owner NOT IN (SELECT owner FROM outbox_node)
		UNION SELECT owner FROM outbox_attempt WHERE owner <> $1 AND owner NOT IN (SELECT owner FROM outbox_node)
		/* all tenants: a node sends for all */`, n.Owner)
	strays, err := sqldb.Collect(rows, err, owner)
	if err != nil {
		return nil, fmt.Errorf("find dead nodes: %w", err)
	}
	return append(ended, strays...), nil
}
