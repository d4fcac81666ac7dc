package event

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// key is the hash of an idempotency key; zero for none.
type key = id.UUID[idempotency]

type idempotency struct{}

// maxExpired is how many expired keys a transaction deletes at most.
const maxExpired = 1000

// hashKey returns the key for a text.
func hashKey(s string) key {
	if s = strings.TrimSpace(norm.NFC.String(s)); s == "" {
		return key{}
	}
	sum := sha256.Sum256([]byte(s))
	return key(sum[:16])
}

// queueReplays reads the results stored for keys, as part of a batch, which fills the map that it
// returns.
func queueReplays(b *sqldb.Batch, tx *sqldb.DB, t id.Tenant, keys []key, now time.Time) map[key]Result {
	if len(keys) == 0 {
		return nil
	}
	found := map[key]Result{}
	b.Queue(`
		SELECT key, event_id, contact_id, COALESCE(warnings, '[]') FROM event_key
		WHERE tenant_id = $1 AND key`+tx.In(2)+` AND expires_at > $3`, func(scan func(...any) error) error {
		var k key
		var r Result
		var warnings string
		if err := scan(&k, &r.ID, &r.Contact, &warnings); err != nil {
			return err
		}
		found[k] = r
		if err := json.Unmarshal([]byte(warnings), &r.Warnings); err != nil {
			return fmt.Errorf("warnings of event %s: %w", r.ID, err)
		}
		if len(r.Warnings) == 0 {
			r.Warnings = nil
		}
		found[k] = r
		return nil
	}, t, sqldb.List(tx, keys), sqldb.Micros(now))
	return found
}

// reserveKeys stores the results of events with keys. Of events with the same key, only the first
// one that can be recorded is recorded, and the others get its result. Where another transaction
// has stored the key meanwhile, the result is that of its event.
func (w *work) reserveKeys(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	owners := map[key]*prepared{}
	var keys []key
	for _, e := range w.events {
		if e.key.IsZero() || e.result.ID != e.id {
			continue
		}
		if first := owners[e.key]; first != nil {
			e.same, e.result = first, Result{}
			continue
		}
		owners[e.key] = e
		keys = append(keys, e.key)
	}
	if len(keys) == 0 {
		return nil
	}
	// All transactions insert in the same order, so that two of them cannot deadlock.
	slices.SortFunc(keys, id.Compare)
	stored, err := w.storeKeys(ctx, tx, owners, keys, now)
	if err != nil {
		return fmt.Errorf("store idempotency keys of events: %w", err)
	}
	keys = slices.DeleteFunc(keys, func(k key) bool { return stored[k] })
	if len(keys) == 0 {
		return nil
	}
	b := tx.Batch()
	replays := queueReplays(b, tx, w.tenant, keys, now)
	if err := b.Run(ctx); err != nil {
		return err
	}
	for _, k := range keys {
		r, ok := replays[k]
		if !ok {
			return fmt.Errorf("an idempotency key of an event was neither stored nor found")
		}
		owners[k].result = r
	}
	return nil
}

// storeKeys inserts keys with their results, and returns which were inserted. It also deletes keys
// of the tenant that have expired.
func (w *work) storeKeys(ctx context.Context, tx *sqldb.DB, owners map[key]*prepared, keys []key, now time.Time) (map[key]bool, error) {
	if _, err := pruneKeys(ctx, tx, w.tenant, maxExpired, now); err != nil {
		return nil, err
	}
	table := tx.Table("key UUID", "event_id UUID", "contact_id UUID", "warnings JSONB")
	for _, k := range keys {
		var warnings any
		if list := owners[k].warnings; len(list) > 0 {
			text, err := json.Marshal(list)
			if err != nil {
				return nil, err
			}
			warnings = string(text)
		}
		table.Add(k, owners[k].id, owners[k].result.Contact, warnings)
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO event_key (tenant_id, key, event_id, contact_id, warnings, expires_at)
		SELECT h.tenant_id, v.key, v.event_id, v.contact_id, v.warnings, `+tx.Param(2, "BIGINT")+`
		FROM `+tx.Home(1)+` CROSS JOIN `+table.As("v", 4)+` WHERE true
		ON CONFLICT (tenant_id, key) DO UPDATE SET
			event_id = excluded.event_id, contact_id = excluded.contact_id, warnings = excluded.warnings, expires_at = excluded.expires_at
		WHERE event_key.expires_at <= $3 RETURNING key`,
		table.Args(w.tenant, sqldb.Micros(now.Add(keyLife)), sqldb.Micros(now))...)
	stored := map[key]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var k key
		err := scan(&k)
		stored[k] = true
		return err
	})
	return stored, err
}

// Prune deletes up to limit idempotency keys of a tenant that expired before a time, and returns how
// many it deleted. Recording events with keys does the same, so it is for tenants that stopped doing
// so.
func Prune(ctx context.Context, db *sqldb.DB, t id.Tenant, before time.Time, limit int) (int, error) {
	n, err := pruneKeys(ctx, db, t, limit, before)
	return int(n), err
}

// pruneKeys deletes up to limit expired keys of a tenant, and returns how many it deleted.
func pruneKeys(ctx context.Context, tx *sqldb.DB, t id.Tenant, limit int, now time.Time) (int64, error) {
	n, err := tx.Exec(ctx, `
		DELETE FROM event_key WHERE tenant_id = $1 AND key IN (
			SELECT k.key FROM event_key AS k WHERE k.tenant_id = $1 AND k.expires_at <= $2 ORDER BY k.expires_at LIMIT $3)`,
		t, sqldb.Micros(now), limit)
	if err != nil {
		return 0, fmt.Errorf("delete expired idempotency keys of events: %w", err)
	}
	return n, nil
}
