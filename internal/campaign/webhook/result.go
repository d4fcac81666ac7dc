package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Result is an attempt of a delivery under a lease.
type Result struct {
	Lease   Lease
	Item    Item
	Attempt Attempt
	Health  bool // also change the health of the endpoint; not needed for most successes
}

// Commit stores results in one transaction. Results under a lease that was lost are dropped. It
// returns the endpoints that it disabled.
func Commit(ctx context.Context, db *sqldb.DB, results []Result) (disabled map[id.Webhook]Reason, err error) {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Lease.Tenant, b.Lease.Tenant), id.Compare(a.Lease.Endpoint, b.Lease.Endpoint), a.Attempt.At.Compare(b.Attempt.At))
	})
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		disabled = map[id.Webhook]Reason{}
		for part := range runs(results, func(r Result) id.Tenant { return r.Lease.Tenant }) {
			if err := commitTenant(ctx, tx, part[0].Lease.Tenant, part, disabled); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store webhook results: %w", err)
	}
	return disabled, nil
}

func commitTenant(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, results []Result, disabled map[id.Webhook]Reason) error {
	t := tx.Table("id UUID", "endpoint_id UUID", "epoch BIGINT", "status TEXT", "due_at BIGINT", "attempted_at BIGINT",
		"response_code BIGINT", "response_ms BIGINT", "response_body TEXT", "error TEXT")
	for _, r := range results {
		a := r.Attempt
		status, due := r.Item.next(a)
		var code, ms any
		if a.Code != 0 {
			code, ms = a.Code, a.Took.Milliseconds()
		}
		t.Add(r.Item.ID, r.Lease.Endpoint, r.Lease.epoch, status, sqldb.NullMicros(due), a.At.UnixMicro(), code, ms, sqldb.Null(a.Body), sqldb.Null(a.Error))
	}
	// The join drops results under a lease that was lost: the process that has it now makes the attempt again,
	// with the same id, and its result is the one that counts. A delivery without due_at has ended meanwhile:
	// its endpoint was disabled, or its contact erased.
	_, err := tx.Exec(ctx, `
		UPDATE webhook_delivery SET status = v.status, due_at = v.due_at, attempted_at = v.attempted_at, attempts = webhook_delivery.attempts + 1,
			tries = webhook_delivery.tries + 1, response_code = v.response_code, response_ms = v.response_ms,
			response_body = v.response_body, error = v.error
		FROM `+t.As("v", 2)+` JOIN webhook_queue AS q ON q.tenant_id = $1 AND q.endpoint_id = v.endpoint_id AND q.epoch = v.epoch
		WHERE webhook_delivery.tenant_id = $1 AND webhook_delivery.id = v.id AND webhook_delivery.due_at IS NOT NULL`, t.Args(tenant)...)
	if err != nil {
		return err
	}
	for part := range runs(results, func(r Result) id.Webhook { return r.Lease.Endpoint }) {
		lease := part[len(part)-1].Lease // an older one of this process was lost
		reason, err := lease.setHealth(ctx, tx, healthOf(part))
		if err != nil {
			return err
		}
		if reason != "" {
			disabled[lease.Endpoint] = reason
		}
	}
	return nil
}

// runs yields the parts of a list whose elements have the same key.
func runs[T any, K comparable](list []T, key func(T) K) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := slices.IndexFunc(list, func(v T) bool { return key(v) != key(list[0]) })
			if n < 0 {
				n = len(list)
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// health is what attempts of an endpoint, ordered by time, say about it.
type health struct {
	change       bool
	lastSuccess  *time.Time
	failingSince *time.Time // the first failure after the last success
	lastFailure  *time.Time
	gone         bool
}

func healthOf(results []Result) health {
	var h health
	for _, r := range results {
		at := r.Attempt.At
		h.change = h.change || r.Health || !r.Attempt.Success()
		if r.Attempt.Success() {
			h.lastSuccess, h.failingSince = &at, nil
			continue
		}
		h.lastFailure = &at
		if h.failingSince == nil {
			h.failingSince = &at
		}
		h.gone = h.gone || r.Attempt.gone()
	}
	return h
}

// setHealth stores the health of an endpoint. It disables it if it is gone, or failing for too long,
// and returns the reason.
func (l Lease) setHealth(ctx context.Context, tx *sqldb.DB, h health) (Reason, error) {
	if !h.change {
		return "", nil
	}
	var failing *time.Time
	var active bool
	err := tx.QueryRow(ctx, `
		UPDATE webhook_endpoint SET last_success_at = COALESCE($4, last_success_at), last_failure_at = COALESCE($5, last_failure_at),
			failing_since = CASE WHEN $4 IS NOT NULL THEN $6 WHEN last_success_at > $6 THEN failing_since ELSE COALESCE(failing_since, $6) END
		WHERE tenant_id = $1 AND id = $2 AND EXISTS (
			SELECT 1 FROM webhook_queue AS q WHERE q.tenant_id = $1 AND q.endpoint_id = $2 AND q.epoch = $3)
		RETURNING failing_since, active`,
		l.Tenant, l.Endpoint, l.epoch, sqldb.NullMicros(h.lastSuccess), sqldb.NullMicros(h.lastFailure), sqldb.NullMicros(h.failingSince)).
		Scan(sqldb.ToNullTime(&failing), &active)
	if errors.Is(err, sqldb.ErrNoRows) {
		return "", nil
	}
	if err != nil || !active {
		return "", err
	}
	var reason Reason
	switch {
	case h.gone:
		reason = Gone
	case failing != nil && h.lastFailure != nil && h.lastFailure.Sub(*failing) >= disableAfter:
		reason = FailingReason
	default:
		return "", nil
	}
	_, err = tx.Exec(ctx, `
		UPDATE webhook_endpoint SET active = FALSE, disabled_reason = $3, notice_due = TRUE,
			revision = revision + 1, revised_at = COALESCE(last_failure_at, created_at), revised_by = NULL
		WHERE tenant_id = $1 AND id = $2`, l.Tenant, l.Endpoint, reason)
	return reason, err
}
