package track

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// hitKey identifies a hit of a tenant.
type hitKey struct {
	message id.Message
	id      id.Hit
	at      int64
}

func scanHitKey(scan func(...any) error) (k hitKey, err error) {
	err = scan(&k.message, &k.id, &k.at)
	return k, err
}

// hitTable returns the keys as a table.
func hitTable(tx *sqldb.DB, list []hitKey) *sqldb.Table {
	t := tx.Table("message_id UUID", "id UUID")
	for _, k := range list {
		t.Add(k.message, k.id)
	}
	return t
}

// kinds are the kinds of hits, by which the index of their times begins.
var kinds = []string{"open", "click"}

// Prune deletes up to limit classified hits of a tenant from before a time, oldest first, in one
// transaction, and returns their number. The flags of their messages and all sums stay; from then on
// they do not change.
func Prune(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (n int, err error) {
	for _, kind := range kinds {
		if n > 0 {
			break
		}
		rows, err := db.Query(ctx, `
			SELECT message_id, id, at FROM hit WHERE tenant_id = $1 AND kind = $2 AND at < $3 AND class || '' <> 'pending'
			ORDER BY at LIMIT $4`, tenant, kind, before.UnixMicro(), limit)
		list, err := sqldb.Collect(rows, err, scanHitKey)
		if err != nil {
			return 0, fmt.Errorf("find old hits: %w", err)
		}
		if len(list) == 0 {
			continue
		}
		if n, err = pruneHits(ctx, db, tenant, list); err != nil {
			return 0, fmt.Errorf("delete old hits: %w", err)
		}
	}
	return n, nil
}

func pruneHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []hitKey) (n int, err error) {
	messages := map[id.Message]bool{}
	for _, k := range list {
		messages[k.message] = true
	}
	ids := slices.SortedFunc(maps.Keys(messages), id.Compare)
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n = 0
		if _, err := lockEngagements(ctx, tx, tenant, ids); err != nil {
			return err
		}
		t := hitTable(tx, list)
		rows, err := tx.Query(ctx, `
			DELETE FROM hit WHERE tenant_id = $1 AND class <> 'pending' AND (message_id, id) IN (SELECT v.message_id, v.id FROM `+t.As("v", 2)+`)
			RETURNING message_id`, t.Args(tenant)...)
		counts := map[id.Message]int{}
		err = sqldb.Each(rows, err, func(scan func(...any) error) error {
			var m id.Message
			err := scan(&m)
			counts[m]++
			n++
			return err
		})
		if err != nil {
			return err
		}
		pruned := tx.Table("message_id UUID", "n BIGINT")
		for _, m := range slices.SortedFunc(maps.Keys(counts), id.Compare) {
			pruned.Add(m, counts[m])
		}
		if pruned.Len() == 0 {
			return nil
		}
		_, err = tx.Exec(ctx, `
			UPDATE engagement SET pruned = engagement.pruned + v.n FROM `+pruned.As("v", 2)+`
			WHERE engagement.tenant_id = $1 AND engagement.message_id = v.message_id`, pruned.Args(tenant)...)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM hit_proof WHERE tenant_id = $1 AND message_id`+tx.In(2), tenant, sqldb.List(tx, ids))
		return err
	})
	return n, err
}

// ClearRequests removes the addresses and user agents of up to limit hits of a tenant from before a
// time, in one transaction, and returns the number of hits. Their class and rules stay, and so does the
// part of an agent that Derive needs (ImageProxy).
func ClearRequests(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (n int, err error) {
	for _, kind := range kinds {
		if n > 0 {
			break
		}
		if n, err = clearRequests(ctx, db, tenant, kind, before, limit); err != nil {
			return 0, fmt.Errorf("remove addresses of old hits: %w", err)
		}
	}
	return n, nil
}

func clearRequests(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind string, before time.Time, limit int) (n int, err error) {
	after := hitKey{at: -1 << 62}
	err = db.QueryRow(ctx, `SELECT at, id FROM hit_cleared WHERE tenant_id = $1 AND kind = $2`, tenant, kind).Scan(&after.at, &after.id)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT message_id, id, at FROM hit
		WHERE tenant_id = $1 AND kind = $2 AND at >= $3 AND (at, id) > ($3, $4) AND at < $5 ORDER BY at, id LIMIT $6`,
		tenant, kind, after.at, after.id, before.UnixMicro(), limit)
	list, err := sqldb.Collect(rows, err, scanHitKey)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		t := hitTable(tx, list)
		_, err := tx.Exec(ctx, `
			UPDATE hit SET ip = '', net = '', agent = `+keptAgent+`
			WHERE tenant_id = $1 AND (message_id, id) IN (SELECT v.message_id, v.id FROM `+t.As("v", 2)+`) AND (ip <> '' OR agent <> '')`, t.Args(tenant)...)
		if err != nil {
			return err
		}
		last := list[len(list)-1]
		_, err = tx.Exec(ctx, `
			INSERT INTO hit_cleared (tenant_id, kind, at, id) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, kind) DO UPDATE SET at = excluded.at, id = excluded.id`, tenant, kind, last.at, last.id)
		return err
	})
	return len(list), err
}

// Pruned returns the number of hits of a message that Prune has deleted.
func Pruned(ctx context.Context, db *sqldb.DB, tenant id.Tenant, message id.Message) (n int, err error) {
	err = db.QueryRow(ctx, `SELECT pruned FROM engagement WHERE tenant_id = $1 AND message_id = $2`, tenant, message).Scan(&n)
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count the deleted hits of a message: %w", err)
	}
	return n, nil
}
