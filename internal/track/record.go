package track

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Record keeps hits, pending, and counts them. It is called inside a transaction.
// A hit that differs from another by less than a second is that one, repeated. Hits
// of messages that do not exist are left out.
//
// What it costs depends on how many hits are given, not on how many there are: a
// pending hit changes the flags of its message in a way that the flags alone tell.
// Rows are written in one order, of tenants and then of messages, so that no two
// transactions wait for each other; the sums, which many have to write, come last.
func Record(ctx context.Context, tx *sqldb.DB, hits []Hit) error {
	of := map[id.Tenant][]Hit{}
	for _, h := range hits {
		of[h.Tenant] = append(of[h.Tenant], h)
	}
	tenants := slices.Sorted(maps.Keys(of))
	changes := make([]changes, len(tenants))
	for i, tenant := range tenants {
		var err error
		if changes[i], err = record(ctx, tx, tenant, of[tenant]); err != nil {
			return err
		}
	}
	for i, tenant := range tenants {
		if err := changes[i].add(ctx, tx, tenant); err != nil {
			return fmt.Errorf("count hits: %w", err)
		}
	}
	return nil
}

// record keeps hits of one tenant and returns what that changes in the sums.
func record(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) (changes, error) {
	hits, err := complete(ctx, tx, tenant, hits)
	if err != nil {
		return nil, err
	}
	if err := forgetSources(ctx, tx, tenant, hits); err != nil {
		return nil, err
	}
	for i := range hits {
		h := &hits[i]
		h.Method, h.Agent, h.Class = clean(h.Method), clean(h.Agent), Pending
		h.ID = h.identity()
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(id.Compare(a.Message, b.Message), id.Compare(a.ID, b.ID)) })
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Message == b.Message && a.ID == b.ID })
	fresh, err := insert(ctx, tx, tenant, hits)
	if err != nil {
		return nil, fmt.Errorf("record hits: %w", err)
	}
	return count(ctx, tx, tenant, fresh)
}

// complete adds to hits what their messages know, and leaves out those without one.
func complete(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) ([]Hit, error) {
	var unknown []id.Message
	for _, h := range hits {
		if h.Send.IsZero() {
			unknown = append(unknown, h.Message)
		}
	}
	if len(unknown) == 0 {
		return hits, nil
	}
	slices.SortFunc(unknown, id.Compare)
	found, err := outbox.Addressees(ctx, tx, tenant, slices.Compact(unknown))
	if err != nil {
		return nil, err
	}
	whole := hits[:0]
	for _, h := range hits {
		if h.Send.IsZero() {
			r, ok := found[h.Message]
			if !ok {
				continue
			}
			h.Send, h.Contact = r.Send, r.Contact
			if r.SentAt != nil {
				h.SinceSent = new(h.At.Sub(*r.SentAt))
			}
		}
		whole = append(whole, h)
	}
	return whole, nil
}

// forgetSources takes addresses and agents from new hits of people who were
// anonymised before: their links still work.
func forgetSources(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) error {
	people := make([]id.Contact, len(hits))
	for i, h := range hits {
		people[i] = h.Contact
	}
	slices.SortFunc(people, id.Compare)
	gone, err := contact.Anonymized(ctx, tx, tenant, slices.Compact(people))
	if err != nil {
		return err
	}
	for i := range hits {
		if h := &hits[i]; gone[h.Contact] {
			h.IP, h.Agent = "", ""
		}
	}
	return nil
}

// insert writes hits, sorted by message, but for those of messages that have too
// many, and returns those that were not there yet.
func insert(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, hits []Hit) ([]Hit, error) {
	t := tx.Table("n BIGINT", "message_id UUID", "id UUID", "send_id UUID", "contact_id UUID", "kind TEXT",
		"link INTEGER", "url TEXT", "at BIGINT", "since_sent BIGINT", "method TEXT", "agent TEXT", "proxy BOOLEAN", "ip TEXT", "prefetch BOOLEAN")
	n := 0 // of the message's hits
	for i, h := range hits {
		if n++; i > 0 && hits[i-1].Message != h.Message {
			n = 1
		}
		kind, link, url := "open", any(nil), any(nil)
		if h.Click {
			kind, link, url = "click", h.Link, h.URL
		}
		var since any
		if h.SinceSent != nil {
			since = h.SinceSent.Microseconds()
		}
		t.Add(n, h.Message, h.ID, h.Send, h.Contact, kind, link, url, h.At.UnixMicro(), since,
			h.Method, h.Agent, ImageProxy(h.Agent), h.IP, h.Prefetch)
	}
	if t.Len() == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO hit (tenant_id, message_id, id, send_id, contact_id, kind, link, url, at, since_sent, method, agent, proxy, ip, prefetch, class)
		SELECT h.tenant_id, v.message_id, v.id, v.send_id, v.contact_id, v.kind, v.link, v.url, v.at, v.since_sent, v.method, v.agent, v.proxy, v.ip, v.prefetch, 'pending'
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+`
		WHERE v.n <= COALESCE((SELECT $2 - e.hits FROM engagement AS e WHERE e.tenant_id = $1 AND e.message_id = v.message_id), $2)
		ON CONFLICT (tenant_id, message_id, id) DO NOTHING RETURNING message_id, id`, t.Args(tenant, maxHits)...)
	type key struct {
		message id.Message
		id      id.Hit
	}
	fresh := make(map[key]bool, len(hits))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (k key, err error) {
		err = scan(&k.message, &k.id)
		fresh[k] = true
		return k, err
	})
	return slices.DeleteFunc(hits, func(h Hit) bool { return !fresh[key{h.Message, h.ID}] }), err
}

// What the flags of new hits add to those that a message has. It is what Derive
// would say of all its hits: any open and any click leaves a flag, and only the
// first of a kind can be all there is.
var gained = fmt.Sprintf(`
	CASE WHEN (engagement.flags & %d) = 0 THEN (excluded.flags & %d) ELSE 0 END +
	CASE WHEN (engagement.flags & %d) = 0 THEN (excluded.flags & %d) ELSE 0 END`,
	ApparentOpened, ApparentOpened|PendingOpened, HumanClicked|BotClicked|PendingClicked, PendingClicked)

// count adds new hits, sorted by message, to the rows of their messages, and
// returns what that changes in the sums.
func count(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, fresh []Hit) (changes, error) {
	t := tx.Table("message_id UUID", "send_id UUID", "flags BIGINT", "hits BIGINT")
	sends := make(map[id.Message]id.Send, len(fresh))
	for i := 0; i < len(fresh); {
		first, hits := fresh[i], 0
		var flags Flags
		for ; i < len(fresh) && fresh[i].Message == first.Message; i++ {
			hits++
			if fresh[i].Click {
				flags |= PendingClicked
			} else {
				flags |= ApparentOpened | PendingOpened
			}
		}
		sends[first.Message] = first.Send
		t.Add(first.Message, first.Send, int64(flags), hits)
	}
	c := changes{}
	if t.Len() == 0 {
		return c, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO engagement (tenant_id, message_id, send_id, flags, hits, gained)
		SELECT h.tenant_id, v.message_id, v.send_id, v.flags, v.hits, v.flags FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO UPDATE
		SET flags = engagement.flags + `+gained+`, hits = engagement.hits + excluded.hits, gained = `+gained+`
		RETURNING message_id, gained`, t.Args(tenant)...)
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var gained Flags
		err = scan(&m, &gained)
		c.note(sends[m], 0, gained)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("count hits: %w", err)
	}
	return c, nil
}
