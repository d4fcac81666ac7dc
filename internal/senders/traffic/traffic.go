// Package traffic counts the recent traffic of lanes and sending domains, to evaluate their health:
// how often a relay was unreachable, how many messages of a domain bounced or caused complaints.
//
// Counts are stored per lane, domain and half minute, for two days. They are not for reports:
// senders add to them every few seconds, and counts not yet stored are lost in a crash. Reports about
// accepted messages are counted in the transaction that records them.
package traffic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Width is the length of one bucket.
const Width = 30 * time.Second

// Keep is the retention of counts.
const Keep = 48 * time.Hour

// Key identifies what is counted.
type Key struct {
	Tenant id.Tenant
	Lane   id.Lane
	Domain id.Domain // the sender's; zero if unknown
}

// Counts are counts of connections (the first two) and messages.
type Counts struct {
	Tries      int // connection attempts
	Unreached  int // of these: no connection, no session, or no login
	Delivered  int // accepted
	Deferred   int // temporarily refused
	Hard       int // hard bounces in place of an acceptance
	Late       int // hard bounces that were reported after the acceptance
	Block      int // refused by policy
	Complained int // reported as spam
}

// Plus returns the sum of both.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		c.Tries + o.Tries, c.Unreached + o.Unreached, c.Delivered + o.Delivered, c.Deferred + o.Deferred,
		c.Hard + o.Hard, c.Late + o.Late, c.Block + o.Block, c.Complained + o.Complained,
	}
}

// Bucket is the counts of one half minute.
type Bucket struct {
	At time.Time // when it begins
	Counts
}

// Sum returns the sum of the buckets that begin at or after since.
func Sum(buckets []Bucket, since time.Time) (sum Counts) {
	for _, b := range buckets {
		if !b.At.Before(since) {
			sum = sum.Plus(b.Counts)
		}
	}
	return sum
}

// Add adds to the counts of the current bucket, with one statement per tenant. Transactions that
// add to the same rows wait for each other. So senders call it every few seconds in a transaction of its
// own, rather than for each message, and others as the last step of a transaction.
func Add(ctx context.Context, db *sqldb.DB, at time.Time, counts map[Key]Counts) error {
	keys := slices.SortedFunc(maps.Keys(counts), compareKeys) // in the same order in all transactions, so that they do not deadlock
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
			if err := addTenant(ctx, tx, keys[from].Tenant, at, keys[from:to], counts); err != nil {
				return err
			}
			from = to
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add to the traffic counts: %w", err)
	}
	return nil
}

// addTenant adds to the counts of one tenant.
func addTenant(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, at time.Time, keys []Key, counts map[Key]Counts) error {
	t := tx.Table("lane_id UUID", "domain_id UUID", "tries BIGINT", "unreached BIGINT",
		"delivered BIGINT", "deferred BIGINT", "hard BIGINT", "late BIGINT", "block BIGINT", "complained BIGINT")
	for _, k := range keys {
		c := counts[k]
		t.Add(k.Lane, k.Domain, c.Tries, c.Unreached, c.Delivered, c.Deferred, c.Hard, c.Late, c.Block, c.Complained)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO traffic (tenant_id, lane_id, bucket, domain_id, tries, unreached, delivered, deferred, hard, late, block, complained)
		SELECT h.tenant_id, v.lane_id, $2, v.domain_id, v.tries, v.unreached, v.delivered, v.deferred, v.hard, v.late, v.block, v.complained
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, lane_id, bucket, domain_id) DO UPDATE SET
			tries = traffic.tries + excluded.tries, unreached = traffic.unreached + excluded.unreached,
			delivered = traffic.delivered + excluded.delivered, deferred = traffic.deferred + excluded.deferred,
			hard = traffic.hard + excluded.hard, late = traffic.late + excluded.late, block = traffic.block + excluded.block,
			complained = traffic.complained + excluded.complained`, t.Args(tenant, at.Truncate(Width).UnixMicro())...)
	return err
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), id.Compare(a.Lane, b.Lane), id.Compare(a.Domain, b.Domain))
}

// Prune deletes counts older than Keep.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) error {
	for _, table := range []string{"traffic", "traffic_provider"} {
		_, err := db.Exec(ctx, `/* all tenants: deletes by age */
			DELETE FROM `+table+` WHERE bucket < $1`, now.Add(-Keep).UnixMicro())
		if err != nil {
			return fmt.Errorf("delete old traffic: %w", err)
		}
	}
	return nil
}
