package visitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engine applies accepted requests, resolves the clicks of visitors, and deletes what has
// expired. One process at a time runs it; if two overlap, each request is applied once.
type Engine struct {
	DB  *sqldb.DB
	Box *secret.Box // opens the secrets with which tenants sign identities
	Log *slog.Logger
	Now func() time.Time

	// PersonalData is the data of contacts in other packages, for those that are erased because nobody
	// has confirmed them.
	PersonalData []contact.PersonalData

	MaxKept int64 // bytes of kept requests of a tenant; zero: the default

	maxPending, maxPendingDay int64 // replace the constants in tests
}

// Intervals of the engine's tasks.
const (
	inboxEvery  = 500 * time.Millisecond
	claimsEvery = 5 * time.Second
	expireEvery = 10 * time.Minute
)

const (
	inboxPage    = 500 // requests listed at a time
	applyAtOnce  = 100 // requests of a transaction
	tooOldToKeep = 24 * time.Hour
)

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	wake := e.DB.Subscribe(Wake)
	inbox, claims, expiry := time.NewTicker(inboxEvery), time.NewTicker(claimsEvery), time.NewTicker(expireEvery)
	defer inbox.Stop()
	defer claims.Stop()
	defer expiry.Stop()
	do := func(failed string, task func(context.Context) error) {
		if err := task(ctx); err != nil && ctx.Err() == nil {
			e.Log.Error(failed, "err", err)
			pause(ctx, inboxEvery)
		}
	}
	for {
		do("apply requests of visitors failed", e.Drain)
		select {
		case <-wake:
		case <-inbox.C:
		case <-claims.C:
			do("resolve clicks of visitors failed", e.ResolveClaims)
		case <-expiry.C:
			do("delete expired visitors failed", e.Expire)
		case <-ctx.Done():
			return nil
		}
	}
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// maxRounds bounds the rounds of Drain, so that the other tasks get their turn.
const maxRounds = 50

// Drain applies the requests in the inbox, in the order of each tenant. Tenants take turns, so
// that one with many requests does not hold up the others. Requests that fail stay there.
func (e *Engine) Drain(ctx context.Context) error {
	var errs []error
	tried := map[id.Tenant]id.VisitorRequest{} // the last request of each tenant
	for range maxRounds {
		n, err := e.round(ctx, tried)
		if err != nil {
			errs = append(errs, err)
		}
		if n == 0 || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// round applies a page of requests of each tenant, after those that were tried, and returns
// their number.
func (e *Engine) round(ctx context.Context, tried map[id.Tenant]id.VisitorRequest) (n int, err error) {
	var errs []error
	for t, more, err := e.nextTenant(ctx, 0); ; t, more, err = e.nextTenant(ctx, t) {
		if err != nil || !more {
			return n, errors.Join(append(errs, err)...)
		}
		rows, err := e.DB.Query(ctx, `SELECT id FROM visitor_inbox WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`, t, tried[t], inboxPage)
		page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (r id.VisitorRequest, err error) {
			err = scan(&r)
			return r, err
		})
		if err != nil {
			return n, errors.Join(append(errs, fmt.Errorf("list requests of visitors: %w", err))...)
		}
		for part := range slices.Chunk(page, applyAtOnce) {
			tried[t] = part[len(part)-1]
			n += len(part)
			if err := e.applyPart(ctx, t, part); err != nil {
				errs = append(errs, err)
			}
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
		}
	}
}

// nextTenant returns the first tenant after t with requests in the inbox.
func (e *Engine) nextTenant(ctx context.Context, t id.Tenant) (next id.Tenant, found bool, err error) {
	err = e.DB.QueryRow(ctx, `
		SELECT tenant_id FROM visitor_inbox WHERE tenant_id > $1
		ORDER BY tenant_id LIMIT 1 /* all tenants: one round through those with requests */`, t).Scan(&next)
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("find a tenant with requests of visitors: %w", err)
	}
	return next, true, nil
}

// mostWaiting is the largest number that Waiting returns.
const mostWaiting = 100_000

// Waiting counts the requests in the inbox, up to mostWaiting.
func Waiting(ctx context.Context, db *sqldb.DB) (int, error) {
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) FROM (SELECT 1 FROM visitor_inbox LIMIT $1) AS waiting /* all tenants: a metric */`, mostWaiting).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count requests of visitors: %w", err)
	}
	return n, nil
}

// applyPart applies some requests of a tenant. If that fails, each is applied alone; one that
// the database rejects, or that has failed for a day, is dropped.
func (e *Engine) applyPart(ctx context.Context, t id.Tenant, ids []id.VisitorRequest) error {
	err := e.DB.InTx(ctx, func(tx *sqldb.DB) error { return e.apply(ctx, tx, t, ids) })
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case len(ids) > 1:
		var errs []error
		for _, one := range ids {
			errs = append(errs, e.applyPart(ctx, t, []id.VisitorRequest{one}))
		}
		return errors.Join(errs...)
	case sqldb.IsInvalidData(err) || errors.Is(err, errRequest) || e.Now().Sub(id.Time(ids[0])) > tooOldToKeep:
		e.Log.Error("request of a visitor dropped", "tenant", t, "request", ids[0], "err", err)
		_, err := e.DB.Exec(ctx, `DELETE FROM visitor_inbox WHERE tenant_id = $1 AND id = $2`, t, ids[0])
		return err
	}
	return err
}

// errRequest means that a stored request cannot be decoded.
var errRequest = errors.New("not a request that this version can decode")

// stored is a request of the inbox.
type stored struct {
	id id.VisitorRequest
	Request
}

// apply deletes requests of a tenant from the inbox and applies them, in the transaction tx.
// Those that another process has deleted are skipped.
func (e *Engine) apply(ctx context.Context, tx *sqldb.DB, t id.Tenant, ids []id.VisitorRequest) error {
	rows, err := tx.Query(ctx, `DELETE FROM visitor_inbox WHERE tenant_id = $1 AND id`+tx.In(2)+` RETURNING id, data`, t, sqldb.List(tx, ids))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s stored, err error) {
		var data []byte
		if err := scan(&s.id, &data); err != nil {
			return s, err
		}
		if err := json.Unmarshal(data, &s.Request); err != nil {
			return s, fmt.Errorf("%w: %w", errRequest, err)
		}
		return s, nil
	})
	if err != nil {
		return fmt.Errorf("take requests of visitors: %w", err)
	}
	account, err := tenant.ByID(ctx, tx, t)
	if err != nil || account.Status == tenant.Deleted || len(list) == 0 {
		return err
	}
	slices.SortFunc(list, func(a, b stored) int { return id.Compare(a.id, b.id) })
	b := &batch{engine: e, tx: tx, account: account}
	return b.run(ctx, list)
}
