package visitor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// Wake is notified when requests were accepted.
const Wake sqldb.Signal = "visitors"

// acceptTogether is the maximal number of requests in a transaction.
const acceptTogether = 500

// Collector accepts requests: it makes them durable for the Engine, those that arrive at the
// same time in one transaction. Accept works while Run does.
type Collector struct {
	db    *sqldb.DB
	keys  *track.Keys
	group *groupcommit.Group[accepted]
}

// accepted is a request of a tenant's website.
type accepted struct {
	tenant id.Tenant
	id     id.VisitorRequest
	data   []byte
}

// NewCollector returns a collector that verifies binding tokens with keys.
func NewCollector(db *sqldb.DB, keys *track.Keys) *Collector {
	c := &Collector{db: db, keys: keys}
	c.group = groupcommit.New(acceptTogether, c.write)
	return c
}

// Run stores requests until ctx ends.
func (c *Collector) Run(ctx context.Context) error { return c.group.Run(ctx) }

// Accept stores a request and waits until it is durable. binding is the token in the page's
// URL; one that is not valid is ignored.
func (c *Collector) Accept(ctx context.Context, tenant id.Tenant, r Request, binding string) error {
	if binding != "" {
		if b, err := c.keys.VerifyBinding(binding, r.At); err == nil {
			r.claim(b, tenant)
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a visitor's request: %w", err)
	}
	return c.group.Within(ctx, accepted{tenant, id.Made[id.VisitorRequest](r.At), data})
}

func (c *Collector) write(ctx context.Context, batch []accepted) error {
	byTenant := map[id.Tenant]*sqldb.Table{}
	for _, a := range batch {
		t := byTenant[a.tenant]
		if t == nil {
			t = c.db.Table("id UUID", "data BYTEA")
			byTenant[a.tenant] = t
		}
		t.Add(a.id, a.data)
	}
	err := c.db.InTx(ctx, func(tx *sqldb.DB) error {
		b := tx.Batch()
		for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
			byTenant[tenant].QueueInsert(b, tx, "visitor_inbox", tenant)
		}
		tx.Notify(Wake)
		return b.Run(ctx)
	})
	if err != nil {
		return fmt.Errorf("accept requests of visitors: %w", err)
	}
	return nil
}
