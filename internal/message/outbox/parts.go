package outbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The sums of a send are also stored in parts: by mix, and by time. They change in the same
// transactions as the sums of the send, before those, and in the same order in all transactions.

// MixSums are the counts of the messages of a mix.
type MixSums struct {
	Total, Sent, Delivered, Bounced int
}

func (s MixSums) plus(o MixSums) MixSums {
	return MixSums{s.Total + o.Total, s.Sent + o.Sent, s.Delivered + o.Delivered, s.Bounced + o.Bounced}
}

// TimeSums are the counts of the messages whose attempts ended within a time. A message that
// bounced after its acceptance is counted as sent when it was accepted, and as bounced when it
// bounced; it is not counted as delivered.
type TimeSums struct {
	Sent, Delivered, Bounced, Failed int
}

// Plus returns the sum of s and o.
func (s TimeSums) Plus(o TimeSums) TimeSums {
	return TimeSums{s.Sent + o.Sent, s.Delivered + o.Delivered, s.Bounced + o.Bounced, s.Failed + o.Failed}
}

// Interval is the length of the intervals of TimeSums. The offsets of all time zones are multiples of
// it, so that hours and days of each zone consist of whole intervals.
const Interval = 15 * time.Minute

// IntervalOf returns the beginning of the interval of a time.
func IntervalOf(at time.Time) time.Time { return at.UTC().Truncate(Interval) }

// countParts adds a result to the sums by mix and by time.
func (c *change) countParts(r Result) {
	var m MixSums
	var t TimeSums
	if r.attemptedDelivery() {
		m.Sent, t.Sent = 1, 1
	}
	switch r.State {
	case Delivered, Sent:
		m.Delivered, t.Delivered = 1, 1
	case Bounced:
		m.Bounced, t.Bounced = 1, 1
		c.addBounce(r, 1)
	case Failed:
		t.Failed = 1
	default:
		return
	}
	c.addParts(r.Item.mix, m, r.At, t)
}

// addParts adds to the sums of a mix, and of the interval of a time.
func (c *change) addParts(n int64, m MixSums, at time.Time, t TimeSums) {
	if c.byMix == nil {
		c.byMix, c.byTime = map[int64]MixSums{}, map[int64]TimeSums{}
	}
	begin := IntervalOf(at).UnixMicro()
	c.byMix[n], c.byTime[begin] = c.byMix[n].plus(m), c.byTime[begin].Plus(t)
}

// queueParts adds statements to a batch that change the sums by mix and by time.
func (c changes) queueParts(b *sqldb.Batch, tx *sqldb.DB) {
	tenants := map[id.Tenant]bool{}
	for at := range c {
		tenants[at.tenant] = true
	}
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		byMix, byTime, bounces := map[id.Send]map[int64]MixSums{}, map[id.Send]map[int64]TimeSums{}, map[id.Send]map[BounceValue]int{}
		for at, ch := range c {
			if at.tenant == tenant {
				byMix[at.id], byTime[at.id], bounces[at.id] = ch.byMix, ch.byTime, ch.bounces
			}
		}
		addMixSums(b, tx, tenant, byMix)
		addTimeSums(b, tx, tenant, byTime)
		addBounceSums(b, tx, tenant, bounces)
	}
}

func addMixSums(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, sums map[id.Send]map[int64]MixSums) {
	t := tx.Table("send_id UUID", "n INTEGER", "total BIGINT", "sent BIGINT", "delivered BIGINT", "bounced BIGINT")
	for _, send := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		for _, n := range slices.Sorted(maps.Keys(sums[send])) {
			if s := sums[send][n]; s != (MixSums{}) {
				t.Add(send, n, s.Total, s.Sent, s.Delivered, s.Bounced)
			}
		}
	}
	if t.Len() == 0 {
		return
	}
	b.Queue(`
		INSERT INTO outbox_mix_sum (tenant_id, send_id, n, total, sent, delivered, bounced)
		SELECT h.tenant_id, v.send_id, v.n, v.total, v.sent, v.delivered, v.bounced FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, send_id, n) DO UPDATE SET total = outbox_mix_sum.total + excluded.total, sent = outbox_mix_sum.sent + excluded.sent,
			delivered = outbox_mix_sum.delivered + excluded.delivered, bounced = outbox_mix_sum.bounced + excluded.bounced`, nil, t.Args(tenant)...)
}

func addTimeSums(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, sums map[id.Send]map[int64]TimeSums) {
	t := tx.Table("send_id UUID", "at BIGINT", "sent BIGINT", "delivered BIGINT", "bounced BIGINT", "failed BIGINT")
	for _, send := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		for _, at := range slices.Sorted(maps.Keys(sums[send])) {
			if s := sums[send][at]; s != (TimeSums{}) {
				t.Add(send, at, s.Sent, s.Delivered, s.Bounced, s.Failed)
			}
		}
	}
	if t.Len() == 0 {
		return
	}
	b.Queue(`
		INSERT INTO outbox_time_sum (tenant_id, send_id, at, sent, delivered, bounced, failed)
		SELECT h.tenant_id, v.send_id, v.at, v.sent, v.delivered, v.bounced, v.failed FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, send_id, at) DO UPDATE SET sent = outbox_time_sum.sent + excluded.sent, delivered = outbox_time_sum.delivered + excluded.delivered,
			bounced = outbox_time_sum.bounced + excluded.bounced, failed = outbox_time_sum.failed + excluded.failed`, nil, t.Args(tenant)...)
}

// Mix is what many messages of a send have in common, and their sums.
type Mix struct {
	N        int64
	Variant  string // empty: none
	Identity id.Identity
	Provider mx.Provider // of the recipients; empty: unknown
	MixSums
}

// LoadMixes returns the mixes of a send with their sums.
func LoadMixes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]Mix, error) {
	rows, err := db.Query(ctx, `
		SELECT x.n, COALESCE(x.variant_id, ''), x.identity_id, COALESCE(x.provider, ''),
			COALESCE(s.total, 0), COALESCE(s.sent, 0), COALESCE(s.delivered, 0), COALESCE(s.bounced, 0)
		FROM outbox_mix AS x LEFT JOIN outbox_mix_sum AS s ON s.tenant_id = x.tenant_id AND s.send_id = x.send_id AND s.n = x.n
		WHERE x.tenant_id = $1 AND x.send_id = $2 ORDER BY x.n`, tenant, send)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m Mix, err error) {
		err = scan(&m.N, &m.Variant, &m.Identity, sqldb.ToText(&m.Provider), &m.Total, &m.Sent, &m.Delivered, &m.Bounced)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("load the mixes of a send: %w", err)
	}
	return list, nil
}

// LoadTimes returns the sums of a send by the beginning of the interval.
func LoadTimes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[time.Time]TimeSums, error) {
	rows, err := db.Query(ctx, `
		SELECT at, sent, delivered, bounced, failed FROM outbox_time_sum WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	found := map[time.Time]TimeSums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at time.Time
		var s TimeSums
		err := scan(sqldb.ToTime(&at), &s.Sent, &s.Delivered, &s.Bounced, &s.Failed)
		found[at] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the sums of a send by time: %w", err)
	}
	return found, nil
}
