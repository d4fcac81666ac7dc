package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Count is all sums of a send.
type Count struct {
	Sums
	LastSendAt time.Time // zero: nothing was sent
	byMix      map[int64]MixSums
	byTime     map[int64]TimeSums
	bounces    map[BounceValue]int
	byDay      map[LaneDay]int // sent messages that were planned for a day, by the lane that sent them
}

func newCount() Count {
	return Count{byMix: map[int64]MixSums{}, byTime: map[int64]TimeSums{}, bounces: map[BounceValue]int{}, byDay: map[LaneDay]int{}}
}

// CountPosition is a position in the messages of a send: after the message of a contact's visit.
type CountPosition struct {
	contact id.Contact
	visit   int64
}

// CountedMessage is a message that was counted.
type CountedMessage struct {
	ID  id.Message
	Mix int64 // its number: see LoadMixes
}

// StoredCount returns the sums of a send as they are stored.
func StoredCount(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Count, error) {
	c := newCount()
	p, err := Load(ctx, db, tenant, send)
	if err != nil {
		return c, err
	}
	c.Sums = p.Sums
	if p.LastSendAt != nil {
		c.LastSendAt = *p.LastSendAt
	}
	mixes, err := LoadMixes(ctx, db, tenant, send)
	if err != nil {
		return c, err
	}
	for _, m := range mixes {
		c.byMix[m.N] = m.MixSums
	}
	times, err := LoadTimes(ctx, db, tenant, send)
	if err != nil {
		return c, err
	}
	for at, s := range times {
		c.byTime[at.UnixMicro()] = s
	}
	if c.byDay, err = SentOn(ctx, db, tenant, send); err != nil {
		return c, err
	}
	rows, err := db.Query(ctx, `
		SELECT attribute, value, bounced FROM outbox_bounce_sum WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var v BounceValue
		var n int
		err := scan(sqldb.ToText(&v.Attribute), &v.Value, &n)
		c.bounces[v] = n
		return err
	})
	if err != nil {
		return c, fmt.Errorf("load the bounces of a send: %w", err)
	}
	return c, nil
}

// CountPage adds the next messages of a send, up to limit, to a Count, which begins as its zero
// value. It returns them; without any, all are counted.
func CountPage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, c *Count, after *CountPosition, limit int) ([]CountedMessage, error) {
	if c.byMix == nil {
		*c = newCount()
	}
	rows, err := db.Query(ctx, `
		SELECT m.contact_id, m.visit, m.id, m.mix, m.state, m.deferred, m.sent_at, m.email, m.lane_id, m.plan_day, n.ended_at, n.bounce_type, n.smtp_code, n.enhanced_code
		FROM outbox AS m LEFT JOIN outbox_note AS n ON n.tenant_id = m.tenant_id AND n.message_id = m.id
		WHERE m.tenant_id = $1 AND m.send_id = $2 AND m.contact_id >= $3 AND (m.contact_id, m.visit) > ($3, $4)
		ORDER BY m.contact_id, m.visit LIMIT $5`, tenant, send, after.contact, after.visit, limit)
	var page []CountedMessage
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m CountedMessage
		var r Result
		var sent, ended *time.Time
		var code sql.NullInt64
		err := scan(&after.contact, &after.visit, &m.ID, &m.Mix, sqldb.ToText(&r.State), &r.Item.Deferred, sqldb.ToNullTime(&sent), &r.Item.Email, &r.Item.Lane, sqldb.ToText(&r.Item.Day),
			sqldb.ToNullTime(&ended), sqldb.ToText(&r.BounceType), &code, sqldb.ToText(&r.Enhanced))
		r.Item.mix, r.Code = m.Mix, int(code.Int64)
		c.add(r, sent, ended)
		page = append(page, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the messages of a send: %w", err)
	}
	return page, nil
}

// add adds a message in its present state.
func (c *Count) add(r Result, sent, ended *time.Time) {
	c.Total++
	parts := change{byMix: c.byMix, byTime: c.byTime, bounces: c.bounces}
	var m MixSums
	if r.attemptedDelivery() {
		c.Sent++
		m.Sent = 1
		if r.Item.Day != "" {
			c.byDay[LaneDay{r.Item.Lane, r.Item.Day}]++
		}
		if sent != nil {
			parts.addParts(r.Item.mix, MixSums{}, *sent, TimeSums{Sent: 1})
			if sent.After(c.LastSendAt) {
				c.LastSendAt = *sent
			}
		}
	}
	at := cmp.Or(ended, sent)
	switch r.State {
	case Queued:
		c.Waiting++
		if r.Item.Deferred {
			c.Deferred++
		}
	case Sent, Delivered:
		c.Delivered++
		m.Delivered = 1
		if sent != nil {
			parts.addParts(r.Item.mix, MixSums{}, *sent, TimeSums{Delivered: 1})
		}
	case Bounced:
		c.Bounced++
		m.Bounced = 1
		parts.addBounce(r, 1)
		if at != nil {
			parts.addParts(r.Item.mix, MixSums{}, *at, TimeSums{Bounced: 1})
		}
	case Failed:
		c.Failed++
		if at != nil {
			parts.addParts(r.Item.mix, MixSums{}, *at, TimeSums{Failed: 1})
		}
	case Skipped:
		c.Skipped++
	case HeldBack:
		c.HeldBack++
	case MessageCancelled:
		c.Cancelled++
	}
	m.Total = 1
	c.byMix[r.Item.mix] = c.byMix[r.Item.mix].plus(m)
}

// Difference is a sum whose stored value differs from the counted one.
type Difference struct {
	Field           string
	Stored, Counted int64
}

// fields returns all sums by name.
func (c Count) fields() map[string]int64 {
	s := c.Sums
	all := map[string]int64{
		"total": int64(s.Total), "waiting": int64(s.Waiting), "deferred": int64(s.Deferred), "sent": int64(s.Sent), "delivered": int64(s.Delivered),
		"bounced": int64(s.Bounced), "failed": int64(s.Failed), "skipped": int64(s.Skipped), "held_back": int64(s.HeldBack), "cancelled": int64(s.Cancelled),
	}
	if !c.LastSendAt.IsZero() {
		all["last_send_at"] = c.LastSendAt.UnixMicro()
	}
	for n, m := range c.byMix {
		at := fmt.Sprintf("mix %d ", n)
		all[at+"total"], all[at+"sent"], all[at+"delivered"], all[at+"bounced"] = int64(m.Total), int64(m.Sent), int64(m.Delivered), int64(m.Bounced)
	}
	for begin, t := range c.byTime {
		at := sqldb.Time(begin).Format(time.RFC3339) + " "
		all[at+"sent"], all[at+"delivered"], all[at+"bounced"], all[at+"failed"] = int64(t.Sent), int64(t.Delivered), int64(t.Bounced), int64(t.Failed)
	}
	for v, n := range c.bounces {
		all[fmt.Sprintf("bounces by %s %q", v.Attribute, v.Value)] = int64(n)
	}
	for at, n := range c.byDay {
		all[fmt.Sprintf("sent by lane %s, planned for %s", at.Lane, at.Day)] = int64(n)
	}
	return all
}

// Diff returns the differences between stored sums and counted ones, by name.
func (c Count) Diff(counted Count) []Difference { return DiffFields(c.fields(), counted.fields()) }

// DiffFields returns the differences between stored and counted values by name. A missing value is 0.
func DiffFields(stored, counted map[string]int64) []Difference {
	names := maps.Clone(stored)
	maps.Copy(names, counted)
	var list []Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if stored[name] != counted[name] {
			list = append(list, Difference{name, stored[name], counted[name]})
		}
	}
	return list
}

// Correct adds the differences between stored and counted sums to the stored ones. Both are of one
// state of the database; changes since then are in the stored sums, and stay.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, stored, counted Count, now time.Time) error {
	s, n := counted.Sums, stored.Sums
	c := change{
		Sums: Sums{
			Waiting: s.Waiting - n.Waiting, Deferred: s.Deferred - n.Deferred, Sent: s.Sent - n.Sent, Delivered: s.Delivered - n.Delivered,
			Bounced: s.Bounced - n.Bounced, Failed: s.Failed - n.Failed, Skipped: s.Skipped - n.Skipped, HeldBack: s.HeldBack - n.HeldBack, Cancelled: s.Cancelled - n.Cancelled,
		},
		byMix: maps.Clone(counted.byMix), byTime: maps.Clone(counted.byTime), bounces: maps.Clone(counted.bounces),
	}
	for k, m := range stored.byMix {
		c.byMix[k] = c.byMix[k].plus(MixSums{-m.Total, -m.Sent, -m.Delivered, -m.Bounced})
	}
	for k, t := range stored.byTime {
		c.byTime[k] = c.byTime[k].Plus(TimeSums{-t.Sent, -t.Delivered, -t.Bounced, -t.Failed})
	}
	for k, b := range stored.bounces {
		c.bounces[k] -= b
	}
	days := map[sendDay]int{}
	for at, n := range counted.byDay {
		days[sendDay{tenant, send, at}] = n
	}
	for at, n := range stored.byDay {
		days[sendDay{tenant, send, at}] -= n
	}
	maps.DeleteFunc(days, func(_ sendDay, n int) bool { return n == 0 })
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		b := tx.Batch()
		changes{sendKey{tenant, send}: c}.queueParts(b, tx)
		if err := b.Run(ctx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			UPDATE send SET total = total + $3, last_send_at = CASE WHEN COALESCE(last_send_at, 0) = $4 THEN $5 ELSE last_send_at END
			WHERE tenant_id = $1 AND id = $2`, tenant, send, s.Total-n.Total, zeroMicros(stored.LastSendAt), nullTime(counted.LastSendAt))
		if err != nil {
			return err
		}
		if err := countDays(ctx, tx, days); err != nil {
			return err
		}
		after, err := c.write(ctx, tx, tenant, send, now)
		if err != nil || after.over || after.phase != Open && after.phase != Cancelled {
			return err
		}
		return enqueue(ctx, tx, tenant, send) // if messages wait of which the sums did not know
	})
	if err != nil {
		return fmt.Errorf("correct the sums of a send: %w", err)
	}
	return nil
}

func zeroMicros(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}

func nullTime(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// SendsAfter returns up to limit sends of a tenant after one of them, in the order of their ids.
func SendsAfter(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Send, limit int) ([]id.Send, error) {
	rows, err := db.Query(ctx, `SELECT id FROM send WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`, tenant, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s id.Send, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sends: %w", err)
	}
	return list, nil
}

// AcceptedFor returns how many messages to contacts were accepted, also if they bounced later.
func AcceptedFor(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact) (map[id.Contact]int, error) {
	rows, err := db.Query(ctx, `
		SELECT m.contact_id, COUNT(*) FROM outbox AS m LEFT JOIN outbox_note AS n ON n.tenant_id = m.tenant_id AND n.message_id = m.id
		WHERE m.tenant_id = $1 AND m.contact_id`+db.In(2)+` AND (m.state IN ('sent', 'delivered') OR m.state = 'bounced' AND n.ended_at > m.sent_at)
		GROUP BY m.contact_id`, tenant, sqldb.List(db, contacts))
	found := map[id.Contact]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var n int
		err := scan(&c, &n)
		found[c] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the messages of contacts: %w", err)
	}
	return found, nil
}
