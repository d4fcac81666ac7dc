package columnar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Loader loads the attributes that are asked for into the cache of a database, and keeps them up to date. There is one in a
// process.
type Loader struct {
	DB  *sqldb.DB
	Log *slog.Logger
	Now func() time.Time
}

// Run works until ctx ends; the cache is then empty.
func (l *Loader) Run(ctx context.Context) error {
	c := Of(l.DB)
	defer c.begin(nil)
	return poll.Loop{Poll: l.Tick, Every: lookEvery, Wake: c.wake, Log: l.Log, Failed: "load attributes of contacts failed"}.Run(ctx)
}

// Tick loads the tables that are due, brings the others up to date, and forgets those that were not used for a while.
func (l *Loader) Tick(ctx context.Context) (more bool, err error) {
	c := Of(l.DB)
	c.begin(l.Now)
	var errs []error
	for tenant, k := range c.used() {
		if err := c.keep(ctx, l.DB, tenant, k); err != nil {
			errs = append(errs, fmt.Errorf("tenant %s: %w", tenant, err))
		}
	}
	return false, errors.Join(errs...)
}

// begin sets the clock of the cache; nil empties it.
func (c *Cache) begin(now func() time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now = now; now == nil {
		clear(c.tenants)
	}
}

// used forgets what was not used for a while, and returns the rest.
func (c *Cache) used() map[id.Tenant]*kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for tenant, k := range c.tenants {
		if now.Sub(k.used) > keepUnused {
			delete(c.tenants, tenant)
			continue
		}
		maps.DeleteFunc(k.asked, func(_ rule.Attribute, n asked) bool { return now.Sub(n.at) > keepUnused })
	}
	return maps.Clone(c.tenants)
}

// keep does what is due for a tenant.
func (c *Cache) keep(ctx context.Context, db *sqldb.DB, tenant id.Tenant, k *kept) error {
	k.mu.Lock()
	has, old := k.table != nil, k.table != nil && c.now().Sub(k.loaded) > keepLoaded
	k.mu.Unlock()
	attributes, due := c.takeDue(k, old)
	if !has && !due {
		return nil
	}
	return db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		if due {
			return c.load(ctx, db, tenant, k, attributes)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.table == nil {
			return nil
		}
		_, err := k.advance(ctx, db, tenant)
		return err
	})
}

// takeDue returns the attributes to load, the last asked for first, and whether the table is due or old.
func (c *Cache) takeDue(k *kept, old bool) (attributes []rule.Attribute, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	due, k.due = k.due || old, false
	for a := range k.asked {
		if a != rule.OnList {
			attributes = append(attributes, a)
		}
	}
	slices.SortFunc(attributes, func(a, b rule.Attribute) int { return k.asked[b].at.Compare(k.asked[a].at) })
	return attributes[:min(len(attributes), maxAttributes)], due
}

// load reads a table within the evaluation db, unless the tenant is too small or too large.
func (c *Cache) load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, k *kept, attributes []rule.Attribute) error {
	n, err := contact.CountByStatus(ctx, db, tenant)
	if err != nil {
		return err
	}
	contacts := n.Of(contact.Statuses()...)
	mark, ok, err := contactlog.Read(ctx, db, tenant)
	if err != nil {
		return err
	}
	if !ok || contacts < c.MinContacts || contacts*rowBytes(len(attributes)) > c.MaxMemory {
		c.install(k, nil, mark)
		return nil
	}
	t, err := load(ctx, db, tenant, attributes, contacts)
	if err != nil {
		return err
	}
	c.install(k, t, mark)
	c.shrink(k)
	return nil
}

// install replaces the table of a tenant; nil: it is not tried again for a while.
func (c *Cache) install(k *kept, t *table, mark contactlog.Mark) {
	k.mu.Lock()
	k.table, k.mark, k.loaded = t, mark, c.now()
	k.mu.Unlock()
	if t == nil {
		c.mu.Lock()
		k.retryAt = c.now().Add(retryAfter)
		c.mu.Unlock()
	}
}

// shrink forgets the tables that were not used for longest, but not the last one that was loaded, until all together are small enough.
func (c *Cache) shrink(last *kept) {
	c.mu.Lock()
	list := slices.SortedFunc(maps.Values(c.tenants), func(a, b *kept) int { return b.used.Compare(a.used) })
	c.mu.Unlock()
	last.mu.Lock()
	left := c.MaxMemory
	if last.table != nil {
		left -= last.table.size()
	}
	last.mu.Unlock()
	for _, k := range list {
		if k == last {
			continue
		}
		k.mu.Lock()
		if k.table != nil {
			if left -= k.table.size(); left < 0 {
				k.table = nil
			}
		}
		k.mu.Unlock()
	}
}
