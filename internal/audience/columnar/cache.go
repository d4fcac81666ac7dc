package columnar

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	minContacts   = 20_000    // of a tenant; SQL counts fewer as fast
	maxMemory     = 128 << 20 // bytes, of all tenants
	maxAttributes = 40        // of a tenant
	maxChanges    = 20_000    // contacts to be read again; with more, all are

	askedTwice = 10 * time.Minute // in which an attribute must be asked for twice to be loaded
	keepUnused = 30 * time.Minute
	keepLoaded = time.Hour
	lookEvery  = 30 * time.Second // less than contactlog.Keep
	loadEvery  = time.Minute      // at most, for each tenant
	retryAfter = 5 * time.Minute  // whether a tenant can be kept
	turnTime   = 5 * time.Second  // in which a tenant must have a turn, so that the next one has one
	loadTime   = 2 * time.Minute
)

// Cache has attributes of the contacts of tenants. There is one for a database in each process (Of).
type Cache struct {
	MinContacts int // of a tenant whose attributes are kept
	MaxMemory   int // bytes

	turnTime time.Duration // in which a tenant must have a turn
	mu       sync.Mutex
	now      func() time.Time // nil: no Loader works
	tenants  map[id.Tenant]*kept
	wake     chan struct{}
}

// kept is what is kept of a tenant. It may be locked before the cache, not after it.
type kept struct {
	asked   map[rule.Attribute]asked // guarded by the cache's mutex, as the next three
	used    time.Time
	due     bool      // the table is to be loaded
	retryAt time.Time // and not before

	locked chan struct{} // has one element while somebody uses the table
	table  *table        // nil: none
	mark   contactlog.Mark
	loaded time.Time
	size   atomic.Int64 // bytes, as last measured
}

func newKept() *kept { return &kept{asked: map[rule.Attribute]asked{}, locked: make(chan struct{}, 1)} }

// lock waits for others that use the table, until ctx ends.
func (k *kept) lock(ctx context.Context) error {
	select {
	case k.locked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *kept) tryLock() bool {
	select {
	case k.locked <- struct{}{}:
		return true
	default:
		return false
	}
}

func (k *kept) unlock() { <-k.locked }

// measure notes the memory that the tenant takes.
func (k *kept) measure() {
	if k.table == nil {
		k.size.Store(0)
		return
	}
	k.size.Store(int64(k.table.size() + k.mark.Size()))
}

// drop forgets the table.
func (k *kept) drop() {
	k.table, k.mark = nil, contactlog.Mark{}
	k.measure()
}

// asked is how often and when an attribute was last asked for.
type asked struct {
	times int
	at    time.Time
}

// Of returns the cache of a database. It is empty unless a Loader works.
func Of(db *sqldb.DB) *Cache {
	return sqldb.Attached(db, func() *Cache {
		return &Cache{MinContacts: minContacts, MaxMemory: maxMemory, turnTime: turnTime, tenants: map[id.Tenant]*kept{}, wake: make(chan struct{}, 1)}
	})
}

// Count counts the contacts for which a formula holds, within the evaluation db. ok is false if that is not possible
// now: the caller then counts with SQL.
func (c *Cache) Count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f rule.Formula) (n Counts, ok bool, err error) {
	if !db.InEvaluation() {
		return Counts{}, false, nil
	}
	attributes := attributesOf(f)
	k, often := c.ask(tenant, attributes)
	if k == nil {
		return Counts{}, false, nil
	}
	if err := k.lock(ctx); err != nil {
		return Counts{}, false, err
	}
	defer k.unlock()
	if k.table.has(attributes) {
		ok, err = k.advance(ctx, db, tenant)
		if err != nil {
			return Counts{}, false, err
		}
	}
	switch has := k.table.has(attributes); {
	case has && ok:
		return k.table.count(ctx, f)
	case has: // as of a later state
	case often && !k.table.refuses(attributes):
		c.request(k)
	}
	return Counts{}, false, nil
}

// advance brings the table to the state that the evaluation db sees. ok is false if that is an earlier one, or if too
// much has changed: then there is no table any more.
func (k *kept) advance(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (ok bool, err error) {
	changes, mark, standing, err := k.mark.Advance(ctx, db, tenant)
	if err != nil || standing == contactlog.Ahead {
		return false, err
	}
	if standing == contactlog.Lost || len(changes.Contacts)+len(changes.Addresses) > maxChanges || len(k.table.more) > maxChanges {
		k.drop()
		return false, nil
	}
	rows, err := k.table.changed(ctx, db, tenant, changes)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		k.table.set(r)
	}
	k.mark = mark
	return true, nil
}

// attributesOf returns the attributes of a formula that are kept as columns, each once.
func attributesOf(f rule.Formula) []rule.Attribute {
	var list []rule.Attribute
	if f.Test != nil && f.Test.Attribute != rule.OnList {
		list = append(list, f.Test.Attribute)
	}
	for _, part := range f.Parts {
		list = append(list, attributesOf(part)...)
	}
	slices.SortFunc(list, compare)
	return slices.Compact(list)
}

func compare(a, b rule.Attribute) int {
	if a.Custom != b.Custom {
		if a.Custom {
			return 1
		}
		return -1
	}
	return strings.Compare(a.Name, b.Name)
}

// ask notes that attributes are asked for, and reports whether all were asked for twice in a while. It returns nil if nothing
// is kept of any tenant.
func (c *Cache) ask(tenant id.Tenant, attributes []rule.Attribute) (k *kept, often bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || len(attributes) > maxAttributes {
		return nil, false
	}
	now := c.now()
	if k = c.tenants[tenant]; k == nil {
		k = newKept()
		c.tenants[tenant] = k
	}
	k.used = now
	often = true
	for _, a := range append(attributes[:len(attributes):len(attributes)], rule.OnList) { // every count depends on OnList
		n := k.asked[a]
		if now.Sub(n.at) > askedTwice {
			n.times = 0
		}
		k.asked[a] = asked{n.times + 1, now}
		often = often && n.times > 0
	}
	return k, often
}

// request makes a table due, unless a Loader has just tried, or none works.
func (c *Cache) request(k *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || k.due || c.now().Before(k.retryAt) {
		return
	}
	k.due = true
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
