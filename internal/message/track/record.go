package track

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Record stores hits as pending and counts them. It is called inside a transaction. Equal
// requests within the same second count as one hit. Hits of messages that do not exist are
// skipped.
//
// The cost depends on the number of given hits, not of stored ones: how a pending hit
// changes the flags of its message depends on the flags alone. Rows are written in the
// order of tenants and messages, so that transactions do not deadlock; the sums, which many
// transactions write, come last.
func Record(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	byTenant := map[id.Tenant][]Hit{}
	for _, h := range hits {
		byTenant[h.Tenant] = append(byTenant[h.Tenant], h)
	}
	tenants := slices.Sorted(maps.Keys(byTenant))
	changes := make([]changes, len(tenants))
	for i, tenant := range tenants {
		var err error
		if changes[i], err = recordTenant(ctx, tx, tenant, byTenant[tenant]); err != nil {
			return err
		}
	}
	for i, tenant := range tenants {
		if err := changes[i].save(ctx, tx, tenant); err != nil {
			return fmt.Errorf("count hits: %w", err)
		}
	}
	return nil
}

// recordTenant stores hits of one tenant and returns the changes of the sums.
func recordTenant(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) (changes, error) {
	hits, err := addMessageData(ctx, tx, tenant, hits)
	if err != nil {
		return changes{}, err
	}
	if err := markLate(ctx, tx, tenant, hits); err != nil {
		return changes{}, err
	}
	if err := addOrigins(ctx, tx, tenant, hits); err != nil {
		return changes{}, err
	}
	for i := range hits {
		hits[i].Prepare()
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(id.Compare(a.Message, b.Message), id.Compare(a.ID, b.ID)) })
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Message == b.Message && a.ID == b.ID })
	inserted, err := insertHits(ctx, tx, tenant, hits)
	if err != nil {
		return changes{}, fmt.Errorf("record hits: %w", err)
	}
	// Only those that were inserted count: the same hit may have been accepted twice, when a write seemed
	// to fail and was retried.
	return countHits(ctx, tx, tenant, inserted)
}

// addMessageData adds the send and the contact of their messages to hits, unless they have
// them, and the mix. It removes hits of unknown messages.
func addMessageData(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) ([]Hit, error) {
	messages := make([]id.Message, len(hits))
	for i, h := range hits {
		messages[i] = h.Message
	}
	slices.SortFunc(messages, id.Compare)
	found, err := outbox.Addressees(ctx, tx, tenant, slices.Compact(messages))
	if err != nil {
		return nil, err
	}
	whole := hits[:0]
	for _, h := range hits {
		r, ok := found[h.Message]
		if h.Send.IsZero() {
			if !ok {
				continue
			}
			h.Send, h.Contact = r.Send, r.Contact
			if r.SentAt != nil {
				h.SinceSent = new(h.At.Sub(*r.SentAt))
			}
		}
		h.mix = r.Mix
		whole = append(whole, h)
	}
	return whole, nil
}

// markLate sets Late of hits that came when the reports of their sends were closed.
func markLate(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) error {
	old := func(h Hit) bool { return h.SinceSent != nil && *h.SinceSent > outbox.ReportOpen }
	var sends []id.Send
	for _, h := range hits {
		if old(h) {
			sends = append(sends, h.Send)
		}
	}
	if len(sends) == 0 {
		return nil
	}
	pruned, err := prunedMessages(ctx, tx, tenant, hits, old)
	if err != nil {
		return err
	}
	slices.SortFunc(sends, id.Compare)
	closed, err := outbox.ClosedSends(ctx, tx, tenant, slices.Compact(sends))
	if err != nil {
		return err
	}
	for i := range hits {
		h := &hits[i]
		end, ok := closed[h.Send]
		h.Late = old(*h) && (ok && h.At.After(end) || pruned[h.Message])
	}
	return nil
}

// prunedMessages returns those of the messages of old hits of which hits were deleted (Prune).
func prunedMessages(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit, old func(Hit) bool) (map[id.Message]bool, error) {
	var messages []id.Message
	for _, h := range hits {
		if old(h) {
			messages = append(messages, h.Message)
		}
	}
	slices.SortFunc(messages, id.Compare)
	rows, err := tx.Query(ctx, `SELECT message_id FROM engagement WHERE tenant_id = $1 AND message_id`+tx.In(2)+` AND pruned > 0`,
		tenant, sqldb.List(tx, slices.Compact(messages)))
	found := map[id.Message]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m id.Message
		err := scan(&m)
		found[m] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find messages with deleted hits: %w", err)
	}
	return found, nil
}

// addOrigins adds the clients and the countries of contacts to hits. It removes addresses and
// agents from hits of anonymised contacts, whose links still work.
func addOrigins(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) error {
	people := make([]id.Contact, len(hits))
	for i, h := range hits {
		people[i] = h.Contact
	}
	slices.SortFunc(people, id.Compare)
	known, err := contact.LoadWhereabouts(ctx, tx, tenant, slices.Compact(people))
	if err != nil {
		return err
	}
	for i := range hits {
		h := &hits[i]
		from := known[h.Contact]
		if from.Anonymized {
			h.IP, h.Agent = "", ""
		}
		h.country, h.Client = from.Country, ClientOf(h.Agent)
	}
	return nil
}

// insertHits writes hits, sorted by message, except of messages that have too many, and
// returns the new ones.
func insertHits(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) ([]Hit, error) {
	t := tx.Table("n BIGINT", "message_id UUID", "id UUID", "send_id UUID", "contact_id UUID", "kind TEXT",
		"link INTEGER", "url TEXT", "at BIGINT", "since_sent BIGINT", "method TEXT", "agent TEXT", "proxy BOOLEAN", "ip TEXT", "net TEXT",
		"prefetch BOOLEAN", "signals INTEGER", "client TEXT", "late BOOLEAN")
	n := 0 // number of the hit within its message
	for i, h := range hits {
		if n++; i > 0 && hits[i-1].Message != h.Message {
			n = 1
		}
		kind, link, url := "open", any(nil), any(nil)
		if h.Click {
			kind, link = "click", h.Link
			if !h.Honeypot {
				url = h.URL
			}
		}
		var since any
		if h.SinceSent != nil {
			since = h.SinceSent.Microseconds()
		}
		t.Add(n, h.Message, h.ID, h.Send, h.Contact, kind, link, url, h.At.UnixMicro(), since,
			h.Method, h.Agent, h.Proxied(), h.IP, Network(h.IP), h.Prefetch, int64(h.Signals), sqldb.Null(h.Client), h.Late)
	}
	if t.Len() == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO hit (tenant_id, message_id, id, send_id, contact_id, kind, link, url, at, since_sent, method, agent, proxy, ip, net, prefetch, signals, client, late, class)
		SELECT h.tenant_id, v.message_id, v.id, v.send_id, v.contact_id, v.kind, v.link, v.url, v.at, v.since_sent, v.method, v.agent, v.proxy, v.ip, v.net, v.prefetch, v.signals, v.client, v.late, 'pending'
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+`
		WHERE v.n <= COALESCE((SELECT $2 - e.hits FROM engagement AS e WHERE e.tenant_id = $1 AND e.message_id = v.message_id), $2)
		ON CONFLICT (tenant_id, message_id, id) DO NOTHING RETURNING message_id, id`, t.Args(tenant, MaxHits)...)
	type key struct {
		message id.Message
		id      id.Hit
	}
	inserted := make(map[key]bool, len(hits))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (k key, err error) {
		err = scan(&k.message, &k.id)
		inserted[k] = true
		return k, err
	})
	return slices.DeleteFunc(hits, func(h Hit) bool { return !inserted[key{h.Message, h.ID}] }), err
}

// gained is the SQL for the flags that new hits add to those of a message. The result
// equals Derive of all its hits: a message with opens or clicks has a flag of that kind,
// and only its first ones can be all pending.
var gained = fmt.Sprintf(`
	CASE WHEN (engagement.flags & %d) = 0 THEN (excluded.flags & %d) ELSE 0 END +
	CASE WHEN (engagement.flags & %d) = 0 THEN (excluded.flags & %d) ELSE 0 END`,
	ApparentOpened, ApparentOpened|PendingOpened, HumanClicked|BotClicked|PendingClicked, PendingClicked)

// countHits adds new hits, sorted by message, to the rows of their messages, and returns
// the changes of the sums.
func countHits(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, inserted []Hit) (changes, error) {
	t := tx.Table("message_id UUID", "send_id UUID", "flags BIGINT", "hits BIGINT", "mix INTEGER", "country TEXT")
	sends := make(map[id.Message]id.Send, len(inserted))
	for i := 0; i < len(inserted); {
		first, hits := inserted[i], 0
		var flags Flags
		for ; i < len(inserted) && inserted[i].Message == first.Message; i++ {
			hits++
			switch h := inserted[i]; {
			case h.Late, h.Honeypot:
			case h.Click:
				flags |= PendingClicked
			default:
				flags |= ApparentOpened | PendingOpened
			}
		}
		sends[first.Message] = first.Send
		t.Add(first.Message, first.Send, int64(flags), hits, first.mix, sqldb.Null(first.country))
	}
	var c changes
	if t.Len() == 0 {
		return c, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO engagement (tenant_id, message_id, send_id, flags, hits, gained, mix, country)
		SELECT h.tenant_id, v.message_id, v.send_id, v.flags, v.hits, v.flags, v.mix, v.country FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO UPDATE
		SET flags = engagement.flags + `+gained+`, hits = engagement.hits + excluded.hits, gained = `+gained+`
		RETURNING message_id, gained, mix`, t.Args(tenant)...)
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var gained Flags
		var mix int64
		err = scan(&m, &gained, &mix)
		c.addFlags(sendMix{sends[m], mix}, 0, gained)
		return m, err
	})
	if err != nil {
		return changes{}, fmt.Errorf("count hits: %w", err)
	}
	return c, nil
}
