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
	c.shrink(nil) // changes make tables larger
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

// keep does what is due for a tenant. If the tenant has no turn soon, it is tried again later.
func (c *Cache) keep(ctx context.Context, db *sqldb.DB, tenant id.Tenant, k *kept) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	patience := time.AfterFunc(c.turnTime, stop)
	defer patience.Stop()
	if k.lock(waiting) != nil {
		return ctx.Err()
	}
	has, old := k.table != nil, k.table != nil && c.now().Sub(k.loaded) > keepLoaded
	k.unlock()
	attributes, due := c.takeDue(k, old)
	if !has && !due {
		return nil
	}
	begun := false
	err := db.Evaluate(waiting, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		if begun = patience.Stop(); !begun {
			stop()
			return waiting.Err()
		}
		ctx, cancel := context.WithTimeout(ctx, loadTime)
		defer cancel()
		if due {
			return c.load(ctx, db, tenant, k, attributes)
		}
		if err := k.lock(ctx); err != nil {
			return err
		}
		defer k.unlock()
		if k.table == nil {
			return nil
		}
		_, err := k.advance(ctx, db, tenant)
		return err
	})
	if !begun && waiting.Err() != nil {
		c.postpone(k, due)
		return ctx.Err()
	}
	return err
}

// takeDue returns the attributes to load, the last asked for first, and whether the table is due or old. It is then
// not due for a while.
func (c *Cache) takeDue(k *kept, old bool) (attributes []rule.Attribute, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if due, k.due = k.due || old, false; due {
		k.retryAt = c.now().Add(loadEvery)
	}
	for a := range k.asked {
		if a != rule.OnList {
			attributes = append(attributes, a)
		}
	}
	slices.SortFunc(attributes, func(a, b rule.Attribute) int { return k.asked[b].at.Compare(k.asked[a].at) })
	return attributes[:min(len(attributes), maxAttributes)], due
}

// postpone leaves what was due to the next look.
func (c *Cache) postpone(k *kept, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.due = k.due || due
}

// load reads a table within the evaluation db, unless the tenant is too small or too large. Without a new table the old
// one is forgotten, and it is not tried again for a while.
func (c *Cache) load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, k *kept, attributes []rule.Attribute) error {
	t, mark, err := c.read(ctx, db, tenant, attributes)
	if errors.Is(err, errTooLarge) {
		err = nil
	}
	if err == nil && t != nil {
		if err = c.install(ctx, k, t, mark); err == nil {
			c.shrink(k)
			return nil
		}
	}
	c.mu.Lock()
	k.retryAt = c.now().Add(retryAfter)
	c.mu.Unlock()
	if k.lock(context.WithoutCancel(ctx)) == nil {
		k.drop()
		k.unlock()
	}
	return err
}

// read reads a table within the evaluation db; nil if the tenant is too small or too large.
func (c *Cache) read(ctx context.Context, db *sqldb.DB, tenant id.Tenant, attributes []rule.Attribute) (*table, contactlog.Mark, error) {
	n, err := contact.CountByStatus(ctx, db, tenant)
	if err != nil {
		return nil, contactlog.Mark{}, err
	}
	contacts := n.Of(contact.Statuses()...)
	mark, ok, err := contactlog.Read(ctx, db, tenant)
	if err != nil || !ok || contacts < c.MinContacts || contacts*rowBytes(len(attributes)) > c.MaxMemory {
		return nil, contactlog.Mark{}, err
	}
	t, err := load(ctx, db, tenant, attributes, contacts, c.MaxMemory-mark.Size())
	return t, mark, err
}

// install replaces the table of a tenant.
func (c *Cache) install(ctx context.Context, k *kept, t *table, mark contactlog.Mark) error {
	if err := k.lock(ctx); err != nil {
		return err
	}
	defer k.unlock()
	k.table, k.mark, k.loaded = t, mark, c.now()
	k.measure()
	return nil
}

// shrink forgets the tables that were not used for longest, but not the last one that was loaded (nil: none was), until all
// together are small enough. Those that are in use stay.
func (c *Cache) shrink(last *kept) {
	c.mu.Lock()
	list := slices.SortedFunc(maps.Values(c.tenants), func(a, b *kept) int { return b.used.Compare(a.used) })
	c.mu.Unlock()
	if last != nil {
		list = slices.Insert(slices.DeleteFunc(list, func(k *kept) bool { return k == last }), 0, last)
	}
	left := c.MaxMemory
	for _, k := range list {
		free := k.tryLock()
		if free {
			k.measure()
		}
		left -= int(k.size.Load())
		if free && left < 0 && k != last {
			k.drop()
		}
		if free {
			k.unlock()
		}
	}
}
