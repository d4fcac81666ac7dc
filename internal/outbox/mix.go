package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// mix is what messages of a send have in common with many others of it. Their rows
// name it by a number.
type mix struct {
	content  id.Content
	version  int
	variant  string // empty: no variants
	identity id.Identity
}

func (m *Message) mix() mix { return mix{m.Content, m.ContentVersion, m.Variant, m.Identity} }

// number is the one that a mix has unless another mix of its send has it.
func (m mix) number() int64 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s %d %q %s", m.content, m.version, m.variant, m.identity)
	return int64(h.Sum32() >> 1)
}

// numbersOf returns the numbers of the mixes of messages, and gives numbers to those
// that have none yet.
func numbersOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, messages []Message) (map[mix]int64, error) {
	for {
		known, err := mixes(ctx, tx, tenant, send)
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
			// Another transaction may take the number first: then it is looked for again.
			_, err := tx.Exec(ctx, `
				INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, variant_id, identity_id)
				VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, send_id, n) DO NOTHING`,
				tenant, send, n, m.content, m.version, sqldb.Null(m.variant), m.identity)
			if err != nil {
				return nil, fmt.Errorf("note what messages have in common: %w", err)
			}
		}
		if complete {
			return numbers, nil
		}
	}
}

// mixes returns those of a send.
func mixes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[int64]mix, error) {
	rows, err := db.Query(ctx, `
		SELECT n, content_id, content_version, variant_id, identity_id FROM outbox_mix WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	found := map[int64]mix{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var n int64
		var m mix
		var variant sql.NullString
		err := scan(&n, &m.content, &m.version, &variant, &m.identity)
		m.variant = variant.String
		found[n] = m
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load what messages have in common: %w", err)
	}
	return found, nil
}

// keptMixes is of how many sends a node remembers the mixes.
const keptMixes = 256

// mixCache remembers mixes, which never change.
type mixCache struct {
	mu sync.Mutex
	of map[sendKey]map[int64]mix
}

// fill completes items of a send, which have the number of their mix alone.
func (c *mixCache) fill(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, items []Item) error {
	key := sendKey{tenant, send}
	c.mu.Lock()
	known := c.of[key]
	c.mu.Unlock()
	for i := range items {
		m, ok := known[items[i].mix]
		if !ok {
			var err error
			if known, err = mixes(ctx, db, tenant, send); err != nil {
				return err
			}
			if m, ok = known[items[i].mix]; !ok {
				return fmt.Errorf("message %s has nothing to say: no mix %d", items[i].ID, items[i].mix)
			}
			c.keep(key, known)
		}
		it := &items[i]
		it.Content, it.ContentVersion, it.Variant, it.Identity = m.content, m.version, m.variant, m.identity
	}
	return nil
}

func (c *mixCache) keep(key sendKey, known map[int64]mix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= keptMixes {
		c.of = map[sendKey]map[int64]mix{}
	}
	c.of[key] = known
}
