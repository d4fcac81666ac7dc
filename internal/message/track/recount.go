package track

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Count is all sums of the engagement with a send.
type Count struct {
	// Pruned means that hits of the send were deleted by age. Then the sums by time, attribute and
	// link cannot be counted, and those of flags are counted by the stored flags.
	Pruned bool

	Rows []RowDifference // messages whose own row differs from their hits

	flags map[int64]Sums // by mix
	sums  *ofSend
}

// RowDifference is a message whose row has other flags than its hits, or another mix.
type RowDifference struct {
	Message         outbox.CountedMessage
	Stored, Counted Flags
}

// StoredCount returns the sums of a send as they are stored.
func StoredCount(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Count, error) {
	var c Count
	var err error
	if c.flags, err = LoadSumsByMix(ctx, db, tenant, send); err != nil {
		return c, err
	}
	c.sums = newOfSend()
	times, err := LoadTimes(ctx, db, tenant, send)
	if err != nil {
		return c, err
	}
	for at, t := range times {
		c.sums.times[at.UnixMicro()] = t
	}
	if c.sums.attributes, err = LoadAttributes(ctx, db, tenant, send); err != nil {
		return c, err
	}
	c.sums.links, err = LoadLinks(ctx, db, tenant, send)
	return c, err
}

// CountMessages adds messages of a send to a Count, which begins as its zero value.
func CountMessages(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c *Count, messages []outbox.CountedMessage) error {
	if c.flags == nil {
		c.flags, c.sums = map[int64]Sums{}, newOfSend()
	}
	ids, mixes := make([]id.Message, len(messages)), make(map[id.Message]int64, len(messages))
	for i, m := range messages {
		ids[i], mixes[m.ID] = m.ID, m.Mix
	}
	rows, err := loadCounted(ctx, db, tenant, ids)
	if err != nil || len(rows) == 0 {
		return err
	}
	engaged := slices.SortedFunc(maps.Keys(rows), id.Compare)
	hits, err := HitsOf(ctx, db, tenant, engaged)
	if err != nil {
		return err
	}
	byMessage := map[id.Message][]Hit{}
	for _, h := range hits {
		byMessage[h.Message] = append(byMessage[h.Message], h)
	}
	for _, m := range engaged {
		c.add(m, rows[m], mixes[m], byMessage[m])
	}
	return nil
}

// countedRow is the row of a message as it is counted.
type countedRow struct {
	engagement
	hits                       int
	unsubscribedAt, complained *time.Time
}

func loadCounted(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]*countedRow, error) {
	rows, err := db.Query(ctx, `
		SELECT message_id, send_id, flags, mix, country, hits, unsubscribed_at, complained_at FROM engagement
		WHERE tenant_id = $1 AND message_id`+db.In(2), tenant, sqldb.List(db, messages))
	found := map[id.Message]*countedRow{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m id.Message
		var r countedRow
		err := scan(&m, &r.send, &r.flags, &r.mix, sqldb.ToText(&r.country), &r.hits, sqldb.ToNullTime(&r.unsubscribedAt), sqldb.ToNullTime(&r.complained))
		r.old = r.flags
		found[m] = &r
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the engagement of messages: %w", err)
	}
	return found, nil
}

// flagsOf returns the flags of a message with these hits, and whether some of its hits are missing;
// then they are those of its row.
func (r *countedRow) flagsOf(hits []Hit) (f Flags, pruned bool) {
	if len(hits) < r.hits {
		return r.flags, true
	}
	return Derive(hits) | r.flags&notFromHits, false
}

func (c *Count) add(m id.Message, r *countedRow, mix int64, hits []Hit) {
	flags, pruned := r.flagsOf(hits)
	c.Pruned = c.Pruned || pruned
	if flags != r.flags || r.mix != mix || len(hits) > r.hits {
		c.Rows = append(c.Rows, RowDifference{outbox.CountedMessage{ID: m, Mix: mix}, r.flags, flags})
	}
	s := c.flags[mix]
	for i, p := range s.fields() {
		*p += int(flags >> i & 1)
	}
	c.flags[mix] = s
	c.sums.apply(summarize(hits, func(h *Hit) Class { return h.Class }), r.country, 1)
	for url, l := range summarize(hits, func(h *Hit) Class { return h.Class }).links {
		c.sums.links[url] = c.sums.links[url].plus(l)
	}
	if r.unsubscribedAt != nil && flags&Unsubscribed != 0 {
		c.sums.addTime(*r.unsubscribedAt, timeOf(Unsubscribed, 1))
	}
	if r.complained != nil && flags&Complained != 0 {
		c.sums.addTime(*r.complained, timeOf(Complained, 1))
	}
}

// fields returns all sums by name.
func (c Count) fields(pruned bool) map[string]int64 {
	all := map[string]int64{}
	for mix, s := range c.flags {
		for i, p := range s.fields() {
			all[fmt.Sprintf("mix %d %s", mix, sumColumns[i])] = int64(*p)
		}
	}
	if pruned || c.sums == nil {
		return all
	}
	for begin, t := range c.sums.times {
		at := sqldb.Time(begin).Format(time.RFC3339) + " "
		all[at+"verified_opened"], all[at+"human_opened"], all[at+"human_clicked"] = int64(t.VerifiedOpened), int64(t.HumanOpened), int64(t.HumanClicked)
		all[at+"unsubscribed"], all[at+"complained"] = int64(t.Unsubscribed), int64(t.Complained)
	}
	for k, s := range c.sums.attributes {
		at := fmt.Sprintf("%s %q ", k.Attribute, k.Value)
		all[at+"opened"], all[at+"clicked"] = int64(s.Opened), int64(s.Clicked)
	}
	for url, l := range c.sums.links {
		at := fmt.Sprintf("link %q ", url)
		all[at+"unique_clicks"], all[at+"total_clicks"] = int64(l.Unique), int64(l.Total)
		if l.Total != 0 {
			all[at+"first_at"], all[at+"last_at"] = l.FirstAt.UnixMicro(), l.LastAt.UnixMicro()
		}
	}
	return all
}

// Diff returns the differences between stored sums and counted ones, by name.
func (c Count) Diff(counted Count) []outbox.Difference {
	return outbox.DiffFields(c.fields(counted.Pruned), counted.fields(counted.Pruned))
}

// Correct adds the differences between stored and counted sums to the stored ones. Both are of one
// state of the database; changes since then are in the stored sums, and stay.
func Correct(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, stored, counted Count) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		c := changes{flags: map[sendMix][]int64{}}
		add := func(flags map[int64]Sums, sign int64) {
			for mix, s := range flags {
				at := sendMix{send, mix}
				if c.flags[at] == nil {
					c.flags[at] = make([]int64, len(sumColumns))
				}
				for i, p := range s.fields() {
					c.flags[at][i] += sign * int64(*p)
				}
			}
		}
		add(counted.flags, 1)
		add(stored.flags, -1)
		if !counted.Pruned && counted.sums != nil {
			s := c.of(send)
			s.merge(counted.sums, 1)
			s.merge(stored.sums, -1)
		}
		return c.save(ctx, tx, tenant)
	})
	if err != nil {
		return fmt.Errorf("correct the engagement of a send: %w", err)
	}
	return nil
}

// merge adds other sums, or subtracts them if sign is -1.
func (s *ofSend) merge(o *ofSend, sign int) {
	for at, t := range o.times {
		s.times[at] = s.times[at].Plus(TimeSums{sign * t.VerifiedOpened, sign * t.HumanOpened, sign * t.HumanClicked, sign * t.Unsubscribed, sign * t.Complained})
	}
	for k, a := range o.attributes {
		s.attributes[k] = s.attributes[k].Plus(AttributeSums{sign * a.Opened, sign * a.Clicked})
	}
	for url, l := range o.links {
		sum := s.links[url]
		sum.Unique += sign * l.Unique
		sum.Total += sign * l.Total
		s.links[url] = sum
		s.withdrawn[url] = true // reads the first and the last click
	}
}

// CorrectRow corrects the row of a message by its hits, and the sums of its send by the difference.
func CorrectRow(ctx context.Context, db *sqldb.DB, tenant id.Tenant, message outbox.CountedMessage) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		ids := []id.Message{message.ID}
		if _, err := lockEngagements(ctx, tx, tenant, ids); err != nil {
			return err
		}
		rows, err := loadCounted(ctx, tx, tenant, ids)
		if err != nil || rows[message.ID] == nil {
			return err
		}
		hits, err := HitsOf(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		r := rows[message.ID]
		flags, _ := r.flagsOf(hits)
		var c changes
		c.addFlags(sendMix{r.send, r.mix}, r.old, 0)
		c.addFlags(sendMix{r.send, message.Mix}, 0, flags)
		_, err = tx.Exec(ctx, `UPDATE engagement SET flags = $3, mix = $4, hits = $5 WHERE tenant_id = $1 AND message_id = $2`,
			tenant, message.ID, int64(flags), message.Mix, max(r.hits, len(hits)))
		if err != nil {
			return err
		}
		return c.save(ctx, tx, tenant)
	})
	if err != nil {
		return fmt.Errorf("correct the engagement of a message: %w", err)
	}
	return nil
}

// EngagedFor returns how many messages to contacts were opened (verified) and clicked.
func EngagedFor(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact) (map[id.Contact]AttributeSums, error) {
	rows, err := db.Query(ctx, `
		SELECT m.contact_id, e.flags FROM outbox AS m JOIN engagement AS e ON e.tenant_id = m.tenant_id AND e.message_id = m.id
		WHERE m.tenant_id = $1 AND e.tenant_id = $1 AND m.contact_id`+db.In(2), tenant, sqldb.List(db, contacts))
	found := map[id.Contact]AttributeSums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var f Flags
		err := scan(&c, &f)
		did := acts{f&VerifiedOpened != 0, f&HumanClicked != 0}
		found[c] = found[c].Plus(did.sums(1))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the engagement of contacts: %w", err)
	}
	return found, nil
}
