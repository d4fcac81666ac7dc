// Package traffic keeps what lanes and sending domains have carried of late, so
// that somebody can judge how they fare: how often a relay could not be
// reached, how many messages of a domain bounced or were complained of.
//
// Sums are kept per lane, domain and half minute, for two days. They are for
// judging, not for reports: whoever sends adds to them now and then, and what a
// crash loses of a moment's sums is missed by nobody.
package traffic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Width is how much time one bucket spans.
const Width = 30 * time.Second

// Keep is how long sums are kept.
const Keep = 48 * time.Hour

// Key says whose traffic it is.
type Key struct {
	Tenant id.Tenant
	Lane   id.MTAConfig
	Domain id.Domain // of the sender; zero when it is not known
}

// Counts are sums of what happened. The last five count messages.
type Counts struct {
	Tries      int // connections tried
	Unreached  int // of these: no connection, no session, or no login
	Delivered  int // accepted
	Deferred   int // put off by the server
	Hard       int // bounced for good
	Block      int // refused by policy
	Complained int // reported as spam
}

// Plus returns the sum of both.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		c.Tries + o.Tries, c.Unreached + o.Unreached, c.Delivered + o.Delivered, c.Deferred + o.Deferred,
		c.Hard + o.Hard, c.Block + o.Block, c.Complained + o.Complained,
	}
}

// Bucket is the sums of one half minute.
type Bucket struct {
	At time.Time // when it begins
	Counts
}

// Sum adds up the buckets that begin at since or later.
func Sum(buckets []Bucket, since time.Time) (sum Counts) {
	for _, b := range buckets {
		if !b.At.Before(since) {
			sum = sum.Plus(b.Counts)
		}
	}
	return sum
}

// Add adds to the sums of the moment, in one statement for each tenant. Processes that
// add to the same sums wait for each other, so this is called now and then, in a
// transaction of its own, and not with every message.
func Add(ctx context.Context, db *sqldb.DB, at time.Time, counts map[Key]Counts) error {
	keys := slices.SortedFunc(maps.Keys(counts), inOrder) // so that no two wait for each other in turn
	keys = slices.DeleteFunc(keys, func(k Key) bool { return counts[k] == Counts{} })
	if len(keys) == 0 {
		return nil
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		for from := 0; from < len(keys); {
			to := from + 1
			for to < len(keys) && keys[to].Tenant == keys[from].Tenant {
				to++
			}
			if err := addOf(ctx, tx, keys[from].Tenant, at, keys[from:to], counts); err != nil {
				return err
			}
			from = to
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add to the sums of traffic: %w", err)
	}
	return nil
}

// addOf adds to the sums of one tenant.
func addOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, at time.Time, keys []Key, counts map[Key]Counts) error {
	t := tx.Table("lane_id UUID", "domain_id UUID", "tries BIGINT", "unreached BIGINT",
		"delivered BIGINT", "deferred BIGINT", "hard BIGINT", "block BIGINT", "complained BIGINT")
	for _, k := range keys {
		c := counts[k]
		t.Add(k.Lane, k.Domain, c.Tries, c.Unreached, c.Delivered, c.Deferred, c.Hard, c.Block, c.Complained)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO traffic (tenant_id, lane_id, bucket, domain_id, tries, unreached, delivered, deferred, hard, block, complained)
		SELECT h.tenant_id, v.lane_id, $2, v.domain_id, v.tries, v.unreached, v.delivered, v.deferred, v.hard, v.block, v.complained
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, lane_id, bucket, domain_id) DO UPDATE SET
			tries = traffic.tries + excluded.tries, unreached = traffic.unreached + excluded.unreached,
			delivered = traffic.delivered + excluded.delivered, deferred = traffic.deferred + excluded.deferred,
			hard = traffic.hard + excluded.hard, block = traffic.block + excluded.block,
			complained = traffic.complained + excluded.complained`, t.Args(tenant, at.Truncate(Width).UnixMicro())...)
	return err
}

func inOrder(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), id.Compare(a.Lane, b.Lane), id.Compare(a.Domain, b.Domain))
}

// Prune forgets what is older than Keep.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `/* all tenants: old sums serve nobody */
		DELETE FROM traffic WHERE bucket < $1`, now.Add(-Keep).UnixMicro())
	if err != nil {
		return fmt.Errorf("forget old sums of traffic: %w", err)
	}
	return nil
}
