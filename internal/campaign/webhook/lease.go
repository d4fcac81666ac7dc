package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Lease is the exclusive right to deliver to an endpoint.
type Lease struct {
	Tenant   id.Tenant
	Endpoint id.Webhook
	Slow     bool   // the endpoint failed or was slow when it was last served
	URL      string // of calls; empty: deliveries to an endpoint
	epoch    int64
}

// Acquire leases up to limit endpoints with due deliveries to owner until a time, those first whose
// deliveries have been due longest: only slow ones, or only others.
func Acquire(ctx context.Context, db *sqldb.DB, owner string, limit int, slow bool, now, until time.Time) ([]Lease, error) {
	rows, err := db.Query(ctx, `
		/* all tenants: their endpoints share the workers */
		SELECT q.tenant_id, q.endpoint_id, q.slow, q.epoch, q.url FROM webhook_queue AS q
		WHERE q.next_due IS NOT NULL AND q.next_due <= $1 AND q.lease_until <= $1 AND q.slow = $2
		ORDER BY q.next_due LIMIT $3`, now.UnixMicro(), slow, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (l Lease, err error) {
		err = scan(&l.Tenant, &l.Endpoint, &l.Slow, &l.epoch, sqldb.ToText(&l.URL))
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("find webhook endpoints with due deliveries: %w", err)
	}
	// The epoch in the condition makes this safe without a lock on what was read above: only one process
	// finds it unchanged.
	own := list[:0]
	for _, l := range list {
		n, err := db.Exec(ctx, `
			UPDATE webhook_queue SET owner = $4, lease_until = $5, epoch = epoch + 1
			WHERE tenant_id = $1 AND endpoint_id = $2 AND epoch = $3 AND lease_until <= $6`,
			l.Tenant, l.Endpoint, l.epoch, owner, until.UnixMicro(), now.UnixMicro())
		if err != nil {
			return own, fmt.Errorf("lease a webhook endpoint: %w", err)
		}
		if n == 1 { // otherwise another process has leased it
			l.epoch++
			own = append(own, l)
		}
	}
	return own, nil
}

// Renew extends all leases of owner, and returns those it has.
func Renew(ctx context.Context, db *sqldb.DB, owner string, until time.Time) (map[Lease]bool, error) {
	rows, err := db.Query(ctx, `
		/* all tenants: the leases of one process */
		UPDATE webhook_queue SET lease_until = $2 WHERE owner = $1 AND owner <> '' RETURNING tenant_id, endpoint_id, epoch`, owner, until.UnixMicro())
	own := map[Lease]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var l Lease
		err := scan(&l.Tenant, &l.Endpoint, &l.epoch)
		own[l] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("renew leases of webhook endpoints: %w", err)
	}
	return own, nil
}

// Same returns the lease as Renew returns it.
func (l Lease) Same() Lease { return Lease{Tenant: l.Tenant, Endpoint: l.Endpoint, epoch: l.epoch} }

// ReleaseOthers ends the leases of all other processes. It is called if this process is the only one
// on the database, so that the others are dead.
func ReleaseOthers(ctx context.Context, db *sqldb.DB, owner string) error {
	_, err := db.Exec(ctx, `
		/* all tenants: the processes are dead */
		UPDATE webhook_queue SET owner = '', lease_until = 0 WHERE owner <> '' AND owner <> $1`, owner)
	if err != nil {
		return fmt.Errorf("release webhook endpoints of dead processes: %w", err)
	}
	return nil
}

// Release ends the lease. If a delivery is due and must is not set, it returns more without ending the
// lease. It sets when the endpoint is due next, and whether it is slow.
func (l Lease) Release(ctx context.Context, db *sqldb.DB, must, slow bool, now time.Time) (more bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		more = false
		var own int64
		err := tx.QueryRow(ctx, `
			SELECT epoch FROM webhook_queue WHERE tenant_id = $1 AND endpoint_id = $2 AND epoch = $3`+tx.ForUpdate(),
			l.Tenant, l.Endpoint, l.epoch).Scan(&own)
		if errors.Is(err, sqldb.ErrNoRows) { // another process has the lease
			return nil
		}
		if err != nil {
			return err
		}
		// The row is locked: deliveries that are added from now on make it due again afterwards.
		var next *time.Time
		err = tx.QueryRow(ctx, `
			SELECT MIN(due_at) FROM webhook_delivery WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at IS NOT NULL`,
			l.Tenant, l.Endpoint).Scan(sqldb.ToNullTime(&next))
		if err != nil {
			return err
		}
		if next != nil && !next.After(now) {
			if more = !must; more {
				_, err = tx.Exec(ctx, `UPDATE webhook_queue SET next_due = $3 WHERE tenant_id = $1 AND endpoint_id = $2`, l.Tenant, l.Endpoint, next.UnixMicro())
				return err
			}
			next = &now // behind the endpoints that are waiting
		}
		_, err = tx.Exec(ctx, `
			UPDATE webhook_queue SET owner = '', lease_until = 0, next_due = $3, slow = $4
			WHERE tenant_id = $1 AND endpoint_id = $2`, l.Tenant, l.Endpoint, sqldb.NullMicros(next), slow)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("release a webhook endpoint: %w", err)
	}
	return more, nil
}

// Overdue returns for how long the delivery of any tenant that is due longest has been due.
func Overdue(ctx context.Context, db *sqldb.DB, now time.Time) (time.Duration, error) {
	var first *time.Time
	err := db.QueryRow(ctx, `
		/* all tenants: a metric of the installation */
		SELECT MIN(q.next_due) FROM webhook_queue AS q WHERE q.next_due IS NOT NULL`).Scan(sqldb.ToNullTime(&first))
	if err != nil {
		return 0, fmt.Errorf("measure the queues of webhooks: %w", err)
	}
	if first == nil {
		return 0, nil
	}
	return max(now.Sub(*first), 0), nil
}

// Item is a delivery to attempt.
type Item struct {
	ID       id.Delivery
	Type     string
	Subject  id.Source // zero: none
	Body     string
	Tries    int // since it was created or replayed
	DueAt    time.Time
	Attempts int

	// Of a Call:
	Headers map[string]string
	Timeout time.Duration // of one attempt
}

// Due returns up to limit deliveries of the endpoint that are due, in the order of their attempts.
func (l Lease) Due(ctx context.Context, db *sqldb.DB, box *secret.Box, limit int, now time.Time) ([]Item, error) {
	rows, err := db.Query(ctx, `
		SELECT id, event_type, subject_id, body, tries, attempts, due_at, COALESCE(headers, '{}'), COALESCE(timeout_s, 0) FROM webhook_delivery
		WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at IS NOT NULL AND due_at <= $3
		ORDER BY due_at, id LIMIT $4`, l.Tenant, l.Endpoint, now.UnixMicro(), limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (i Item, err error) {
		var seconds int64
		var headers string
		err = scan(&i.ID, &i.Type, &i.Subject, &i.Body, &i.Tries, &i.Attempts, sqldb.ToTime(&i.DueAt), &headers, &seconds)
		if err == nil {
			i.Headers, err = openCallHeaders(box, l.Tenant, l.Endpoint, headers)
		}
		i.Timeout = time.Duration(seconds) * time.Second
		return i, err
	})
	if err != nil {
		return nil, fmt.Errorf("read due webhook deliveries: %w", err)
	}
	return list, nil
}

// endPage is how many deliveries one End ends or deletes.
const endPage = 1000

// End ends a page of the waiting deliveries of an endpoint that is disabled: they fail. Those of an
// endpoint that was deleted are deleted, and at last its queue. It reports whether there may be more.
func (l Lease) End(ctx context.Context, db *sqldb.DB, deleted bool) (more bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err := l.endPage(ctx, tx, deleted)
		more = n == endPage
		if err != nil || more || !deleted {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM webhook_queue WHERE tenant_id = $1 AND endpoint_id = $2 AND epoch = $3`, l.Tenant, l.Endpoint, l.epoch)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("end webhook deliveries: %w", err)
	}
	return more, nil
}

func (l Lease) endPage(ctx context.Context, tx *sqldb.DB, deleted bool) (int64, error) {
	if deleted {
		return tx.Exec(ctx, `
			DELETE FROM webhook_delivery WHERE tenant_id = $1 AND id IN (
				SELECT d.id FROM webhook_delivery AS d WHERE d.tenant_id = $1 AND d.endpoint_id = $2 ORDER BY d.id LIMIT $3)`,
			l.Tenant, l.Endpoint, endPage)
	}
	return tx.Exec(ctx, `
		UPDATE webhook_delivery SET status = 'failed', due_at = NULL, error = 'the endpoint was disabled'
		WHERE tenant_id = $1 AND id IN (
			SELECT d.id FROM webhook_delivery AS d WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.due_at IS NOT NULL
			ORDER BY d.due_at, d.id LIMIT $3)`,
		l.Tenant, l.Endpoint, endPage)
}
