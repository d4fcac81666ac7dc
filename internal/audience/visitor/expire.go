package visitor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// How long visitors are stored after their last request, and page views and events of
// unknown ones.
const (
	unknownLast = 30 * 24 * time.Hour
	linkedLast  = 400 * 24 * time.Hour
	keptLast    = 30 * 24 * time.Hour
)

// Limits of what is stored for a tenant, since anyone can send requests. Above them, what was
// seen longest ago is deleted. The limit of a visitor is exact.
const (
	maxKept     = 500 // page views and events of one unknown visitor
	maxVisitors = 1_000_000
	maxKeptAll  = 2_000_000

	maxKeptBytes      = 200 << 20 // of all that is kept, unless Engine.MaxKept is set
	maxKeptProperties = 2 << 10   // bytes of an event
)

// expireStep is the number of rows that a transaction deletes.
const expireStep = 1000

// limits are maxVisitors, maxKeptAll and maxKeptBytes; tests have smaller ones.
type limits struct{ visitors, kept, bytes int64 }

// Expire deletes what has expired or exceeds the limits, of all tenants, and erases contacts that nobody
// has confirmed.
func (e *Engine) Expire(ctx context.Context) error {
	return e.expire(ctx, limits{maxVisitors, maxKeptAll, cmp.Or(e.MaxKept, maxKeptBytes)})
}

func (e *Engine) expire(ctx context.Context, most limits) error {
	rows, err := e.DB.Query(ctx, `SELECT tenant_id FROM visitor_total ORDER BY tenant_id /* all tenants: one engine */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		err = scan(&t)
		return t, err
	})
	if err != nil {
		return fmt.Errorf("list tenants with visitors: %w", err)
	}
	for _, t := range list {
		for {
			more, err := e.expireSome(ctx, t, most)
			if err != nil {
				return fmt.Errorf("delete expired visitors of tenant %d: %w", t, err)
			}
			if !more {
				break
			}
			pause(ctx, 10*time.Millisecond) // let other writers in
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := e.eraseUnconfirmed(ctx, t); err != nil {
			return fmt.Errorf("erase unconfirmed contacts of tenant %d: %w", t, err)
		}
	}
	return nil
}

// expireSome deletes up to expireStep rows of each kind, and reports whether there may be
// more.
func (e *Engine) expireSome(ctx context.Context, t id.Tenant, most limits) (more bool, err error) {
	now := e.Now()
	err = e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		have, err := addTotals(ctx, tx, t, totals{})
		if err != nil {
			return err
		}
		x := &expiry{tx: tx, tenant: t}
		if err := x.visitors(ctx, ` contact_id IS NULL `, now.Add(-unknownLast), expireStep); err != nil {
			return err
		}
		if over := have.visitors + x.add.visitors - most.visitors; over > 0 {
			if err := x.visitors(ctx, ` contact_id IS NULL `, now, min(over, expireStep)); err != nil {
				return err
			}
		}
		if err := x.visitors(ctx, ` contact_id IS NOT NULL `, now.Add(-linkedLast), expireStep); err != nil {
			return err
		}
		if err := x.kept(ctx, now.Add(-keptLast), expireStep); err != nil {
			return err
		}
		if over := have.kept + x.add.kept - most.kept; over > 0 {
			if err := x.kept(ctx, now, min(over, expireStep)); err != nil {
				return err
			}
		}
		if over := have.bytes + x.add.bytes - most.bytes; over > 0 {
			n, err := x.oldest(ctx, over)
			if err != nil {
				return err
			}
			if err := x.kept(ctx, now, n); err != nil {
				return err
			}
		}
		if more = x.add != (totals{}); more {
			_, err = addTotals(ctx, tx, t, x.add)
		}
		return err
	})
	return more, err
}

// expiry is the state of a step.
type expiry struct {
	tx     *sqldb.DB
	tenant id.Tenant
	add    totals
}

// visitors deletes visitors of a condition that were not seen since a time, and what was kept
// of them.
func (x *expiry) visitors(ctx context.Context, condition string, before time.Time, limit int64) error {
	rows, err := x.tx.Query(ctx, `
		DELETE FROM visitor WHERE tenant_id = $1 AND id IN (
			SELECT id FROM visitor WHERE tenant_id = $1 AND `+condition+` AND seen_at < $2 ORDER BY seen_at LIMIT $3)
		RETURNING id`, x.tenant, sqldb.Micros(before), limit)
	gone, err := sqldb.Collect(rows, err, func(scan func(...any) error) (v id.Visitor, err error) {
		err = scan(&v)
		return v, err
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	n, bytes, err := deleteKept(ctx, x.tx, x.tenant, gone)
	x.add.visitors -= int64(len(gone))
	x.add.kept -= n
	x.add.bytes -= bytes
	return err
}

// deleteKept deletes what was kept of visitors, and returns the number of rows and of their bytes.
func deleteKept(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []id.Visitor) (n, bytes int64, err error) {
	rows, err := tx.Query(ctx, `DELETE FROM visitor_kept WHERE tenant_id = $1 AND visitor_id`+tx.In(2)+` RETURNING LENGTH(data)`, tenant, sqldb.List(tx, list))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var size int64
		err := scan(&size)
		n, bytes = n+1, bytes+size
		return err
	})
	return n, bytes, err
}

// oldest returns how many of the oldest kept requests have a number of bytes together, at most
// expireStep.
func (x *expiry) oldest(ctx context.Context, bytes int64) (n int64, err error) {
	rows, err := x.tx.Query(ctx, `
		SELECT LENGTH(data) FROM visitor_kept WHERE tenant_id = $1 ORDER BY at LIMIT $2`, x.tenant, expireStep)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var size int64
		err := scan(&size)
		if bytes > 0 {
			n++
		}
		bytes -= size
		return err
	})
	return n, err
}

// kept deletes kept page views and events from before a time, the oldest first.
func (x *expiry) kept(ctx context.Context, before time.Time, limit int64) error {
	rows, err := x.tx.Query(ctx, `
		DELETE FROM visitor_kept WHERE tenant_id = $1 AND (visitor_id, id) IN (
			SELECT visitor_id, id FROM visitor_kept WHERE tenant_id = $1 AND at < $2 ORDER BY at LIMIT $3)
		RETURNING visitor_id, LENGTH(data)`, x.tenant, sqldb.Micros(before), limit)
	byVisitor := map[id.Visitor]int64{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var v id.Visitor
		var size int64
		err := scan(&v, &size)
		byVisitor[v]++
		x.add.kept--
		x.add.bytes -= size
		return err
	})
	if err != nil || len(byVisitor) == 0 {
		return err
	}
	t := x.tx.Table("id UUID", "n BIGINT")
	for _, v := range slices.SortedFunc(maps.Keys(byVisitor), id.Compare) {
		t.Add(v, byVisitor[v])
	}
	_, err = x.tx.Exec(ctx, `
		UPDATE visitor SET kept = visitor.kept - v.n FROM `+t.As("v", 2)+`
		WHERE visitor.tenant_id = $1 AND visitor.id = v.id`, t.Args(x.tenant)...)
	return err
}
