package outage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// page is how many bounces one call of Settle moves for each outage.
const page = 500

// Settle moves bounces of outages: those that took effect since an outage began are withdrawn and held,
// and those of a decided one are applied or dropped. It moves a page for each outage and reports whether
// there are more. It may be interrupted, and called again, at any time.
func Settle(ctx context.Context, db *sqldb.DB, now time.Time) (more bool, err error) {
	list, err := List(ctx, db)
	if err != nil {
		return false, err
	}
	for _, o := range list {
		if o.Decision == Apply && o.DoneAt != nil && now.Sub(*o.DoneAt) > back { // no transaction holds more
			continue
		}
		withdrawn, settled := 0, 0
		if o.Decision != Apply {
			if withdrawn, err = withdraw(ctx, db, o, now); err != nil {
				return false, fmt.Errorf("withdraw bounces: %w", err)
			}
		}
		if o.Decision != "" && withdrawn == 0 {
			if settled, err = carryOut(ctx, db, o, now); err != nil {
				return false, fmt.Errorf("carry out the decision about an outage: %w", err)
			}
			if settled == 0 && o.DoneAt == nil {
				if _, err := db.Exec(ctx, `UPDATE outage SET done_at = $2 WHERE id = $1`, o.ID, now.UnixMicro()); err != nil {
					return false, fmt.Errorf("carry out the decision about an outage: %w", err)
				}
			}
		}
		more = more || withdrawn+settled > 0
	}
	return more, nil
}

// moved is a bounce to move.
type moved struct {
	message id.Message
	contact id.Contact
	send    id.Send
}

func scanMoved(scan func(...any) error) (m moved, err error) {
	err = scan(&m.message, &m.contact, &m.send)
	return m, err
}

// messagesOf reads a tenant and a message of each row, and returns the messages by tenant.
func messagesOf(rows *sqldb.Rows, err error) (map[id.Tenant][]id.Message, error) {
	found := map[id.Tenant][]id.Message{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var t id.Tenant
		var m id.Message
		err := scan(&t, &m)
		found[t] = append(found[t], m)
		return err
	})
	return found, err
}

// withdraw holds bounces that took effect since an outage began, and returns their number.
func withdraw(ctx context.Context, db *sqldb.DB, o Outage, now time.Time) (n int, err error) {
	until := now
	if end := o.end(); end != nil {
		until = *end
	}
	rows, err := db.Query(ctx, `/* all tenants: outages are the installation's */
		SELECT tenant_id, message_id FROM outage_bounce
		WHERE directory = $1 AND at >= $2 AND at <= $3 AND outage_id IS NULL LIMIT $4`, o.Directory, o.Since.UnixMicro(), until.UnixMicro(), page)
	found, err := messagesOf(rows, err)
	if err != nil {
		return 0, err
	}
	for _, t := range slices.Sorted(maps.Keys(found)) {
		err := move(ctx, db, t, journal.BounceWithdrawn, now, &n, `
			UPDATE outage_bounce SET outage_id = $2 WHERE tenant_id = $1 AND outage_id IS NULL AND message_id`+db.In(3)+`
			RETURNING message_id, contact_id, send_id`, t, o.ID, sqldb.List(db, found[t]))
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// carryOut removes held bounces of a decided outage, applies them if that is the decision, and returns
// their number.
func carryOut(ctx context.Context, db *sqldb.DB, o Outage, now time.Time) (n int, err error) {
	rows, err := db.Query(ctx, `/* all tenants: outages are the installation's */
		SELECT tenant_id, message_id FROM outage_bounce WHERE outage_id = $1 LIMIT $2`, o.ID, page)
	found, err := messagesOf(rows, err)
	if err != nil {
		return 0, err
	}
	what := journal.BounceApplied
	if o.Decision == Dismiss {
		what = ""
	}
	for _, t := range slices.Sorted(maps.Keys(found)) {
		err := move(ctx, db, t, what, now, &n, `
			DELETE FROM outage_bounce WHERE tenant_id = $1 AND outage_id = $2 AND message_id`+db.In(3)+`
			RETURNING message_id, contact_id, send_id`, t, o.ID, sqldb.List(db, found[t]))
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// move runs a statement that moves bounces of a tenant, and appends an entry for each of them in the
// same transaction, unless what is empty. It adds their number to n.
func move(ctx context.Context, db *sqldb.DB, tenant id.Tenant, what journal.Type, now time.Time, n *int, statement string, args ...any) error {
	var list []moved
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		rows, err := tx.Query(ctx, statement, args...)
		if list, err = sqldb.Collect(rows, err, scanMoved); err != nil || what == "" {
			return err
		}
		entries := make([]journal.Entry, len(list))
		for i, m := range list {
			entries[i] = effect(what, tenant, m.contact, m.send, m.message, now)
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err == nil {
		*n += len(list)
	}
	return err
}

// Prune deletes what has no effect any more. Call it after Settle.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) error {
	for _, old := range []struct {
		statement string
		before    time.Time
	}{
		{`DELETE FROM outage_traffic WHERE bucket < $1`, now.Add(-back - Window)},
		{`DELETE FROM outage_bounce WHERE at < $1 AND outage_id IS NULL /* all tenants: deletes by age */`, now.Add(-back - Window)},
		{`DELETE FROM outage WHERE done_at < $1`, now.Add(-keep)},
	} {
		if _, err := db.Exec(ctx, old.statement, old.before.UnixMicro()); err != nil {
			return fmt.Errorf("delete old outages: %w", err)
		}
	}
	return nil
}
