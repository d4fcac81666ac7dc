package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// mix is what many messages of a send have in common: the content, the identity, and the recipient's
// mailbox provider.
// Their rows refer to it by a number.
type mix struct {
	content  id.Content
	version  int
	variant  string // empty: no variants
	identity id.Identity
	provider mx.Provider // empty: unknown
}

func (m *Message) mix() mix {
	return mix{m.Content, m.ContentVersion, m.Variant, m.Identity, m.Provider}
}

// number returns a hash, which is the number of the mix unless another mix of the send already has
// it.
func (m mix) number() int64 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s %d %q %s %s", m.content, m.version, m.variant, m.identity, m.provider)
	return int64(h.Sum32() >> 1)
}

// mixNumbers returns the numbers of the mixes of messages. It assigns numbers to new mixes.
func mixNumbers(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, messages []Message) (map[mix]int64, error) {
	for {
		known, err := loadMixes(ctx, tx, tenant, send)
		if err != nil {
			return nil, err
		}
		numbers := make(map[mix]int64, len(known))
		for n, m := range known {
			numbers[m] = n
		}
		complete := true
		for i := range messages {
			m := messages[i].mix()
			if _, ok := numbers[m]; ok {
				continue
			}
			complete = false
			n := m.number()
			for _, taken := known[n]; taken; _, taken = known[n] {
				n++
			}
			known[n], numbers[m] = m, n
			// If another transaction inserts this number first, the next iteration reads its mix.
			_, err := tx.Exec(ctx, `
				INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, variant_id, identity_id, provider)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant_id, send_id, n) DO NOTHING`,
				tenant, send, n, m.content, m.version, sqldb.Null(m.variant), m.identity, sqldb.Null(m.provider))
			if err != nil {
				return nil, fmt.Errorf("store the mixes of a send: %w", err)
			}
		}
		if complete {
			return numbers, nil
		}
	}
}

// loadMixes returns the mixes of a send by number.
func loadMixes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[int64]mix, error) {
	rows, err := db.Query(ctx, `
		SELECT n, content_id, content_version, variant_id, identity_id, provider FROM outbox_mix WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	found := map[int64]mix{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var n int64
		var m mix
		var variant sql.NullString
		err := scan(&n, &m.content, &m.version, &variant, &m.identity, sqldb.ToText(&m.provider))
		m.variant = variant.String
		found[n] = m
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the mixes of a send: %w", err)
	}
	return found, nil
}

// mixCache keeps the mixes of sends in memory. A mix never changes.
type mixCache struct {
	sends cache.Cache[sendKey, map[int64]mix]
}

// fill sets the content, variant and identity of items of a send, which have only the number of
// their mix.
func (c *mixCache) fill(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, items []Item) error {
	key := sendKey{tenant, send}
	known, _ := c.sends.Get(key, time.Time{})
	for i := range items {
		m, ok := known[items[i].mix]
		if !ok {
			var err error
			if known, err = loadMixes(ctx, db, tenant, send); err != nil {
				return err
			}
			if m, ok = known[items[i].mix]; !ok {
				return fmt.Errorf("message %s refers to mix %d, which does not exist", items[i].ID, items[i].mix)
			}
			c.sends.Put(key, known, time.Time{}, 0)
		}
		it := &items[i]
		it.Content, it.ContentVersion, it.Variant, it.Identity = m.content, m.version, m.variant, m.identity
	}
	return nil
}
