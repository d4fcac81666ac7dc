package classify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// What is judged in one transaction, for which other writers wait on SQLite.
const (
	batchMessages = 100
	batchHits     = 500 // all hits of its messages; a single message may have up to 1000
)

// batch is messages of a tenant whose hits are judged in one transaction.
type batch struct {
	tenant   id.Tenant
	messages []id.Message    // in order
	due      map[id.Hit]bool // the hits that get a verdict
	byFanOut map[id.Hit]bool // the hits to which rule R7 applies
	proofs   []track.Proof   // that were not processed yet, of these messages
}

// batches splits messages, given in order, by their number of hits.
func batches(messages []id.Message, counts map[id.Message]int) [][]id.Message {
	var list [][]id.Message
	first, hits := 0, 0
	for i, m := range messages {
		if i > first && (i-first == batchMessages || hits+counts[m] > batchHits) {
			list = append(list, messages[first:i])
			first, hits = i, 0
		}
		hits += counts[m]
	}
	if first < len(messages) {
		list = append(list, messages[first:])
	}
	return list
}

// judge judges the due hits of one tenant, and the settled hits near them that may change. All due
// pending hits of a message are judged together, so that its hits are read only once.
func (e *Engine) judge(ctx context.Context, tenant id.Tenant, due []track.Hit, is isDue, now time.Time) error {
	given := map[id.Message][]track.Hit{}
	for _, h := range due {
		given[h.Message] = append(given[h.Message], h)
	}
	messages := slices.SortedFunc(maps.Keys(given), id.Compare)
	counts, err := track.HitCounts(ctx, e.DB, tenant, messages)
	if err != nil {
		return err
	}
	for _, part := range batches(messages, counts) {
		var hits []track.Hit
		var more []id.Message // messages that have other hits, too
		for _, m := range part {
			if counts[m] == len(given[m]) {
				hits = append(hits, given[m]...)
			} else {
				more = append(more, m)
			}
		}
		if len(more) > 0 {
			pending, err := track.PendingOf(ctx, e.DB, tenant, more)
			if err != nil {
				return fmt.Errorf("read pending hits: %w", err)
			}
			for _, h := range pending {
				if is(h) {
					hits = append(hits, h)
				}
			}
		}
		if err := e.judgePart(ctx, batch{tenant: tenant, messages: part}, hits, now); err != nil {
			return fmt.Errorf("judge hits: %w", err)
		}
	}
	return nil
}

// judgePart judges the due hits of some messages. What depends on other messages is read before the
// transaction that writes. Settled hits that change are written first: if the process ends before
// the due hits are written, these are still pending and lead to the same settled hits again.
func (e *Engine) judgePart(ctx context.Context, b batch, due []track.Hit, now time.Time) error {
	b.due = make(map[id.Hit]bool, len(due))
	for _, h := range due {
		b.due[h.ID] = true
		e.agents.Machine(h.Agent) // caches the result before the transaction
	}
	f, err := findFanOut(ctx, e.DB, b.tenant, due)
	if err != nil {
		return err
	}
	if len(f.messages) > 0 {
		counts, err := track.HitCounts(ctx, e.DB, b.tenant, f.messages)
		if err != nil {
			return err
		}
		for _, part := range batches(f.messages, counts) {
			if err := e.writeBatch(ctx, batch{tenant: b.tenant, messages: part, byFanOut: f.settled}, now); err != nil {
				return err
			}
		}
	}
	b.byFanOut = f.due
	return e.writeBatch(ctx, b, now)
}

// writeBatch judges a batch in one transaction.
func (e *Engine) writeBatch(ctx context.Context, b batch, now time.Time) error {
	return e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		found, err := track.LoadEvidence(ctx, tx, b.tenant, b.messages)
		if err != nil {
			return err
		}
		verdicts, err := e.verdicts(ctx, tx, b, found)
		if err != nil {
			return err
		}
		if err := track.ProofsProcessed(ctx, tx, b.tenant, b.proofs); err != nil {
			return err
		}
		return found.ApplyVerdicts(ctx, verdicts)
	})
}

// judgeProofs judges the messages of new proofs again, up to a number of them, and reports whether there
// may be more.
func (e *Engine) judgeProofs(ctx context.Context) (more bool, err error) {
	list, err := track.PendingProofs(ctx, e.DB, pageSize)
	if err != nil {
		return false, err
	}
	byTenant := map[id.Tenant][]track.Proof{}
	for _, p := range list {
		byTenant[p.Tenant] = append(byTenant[p.Tenant], p)
	}
	for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
		proofs := map[id.Message][]track.Proof{}
		for _, p := range byTenant[tenant] {
			proofs[p.Message] = append(proofs[p.Message], p)
		}
		messages := slices.SortedFunc(maps.Keys(proofs), id.Compare)
		counts, err := track.HitCounts(ctx, e.DB, tenant, messages)
		if err != nil {
			return false, err
		}
		for _, part := range batches(messages, counts) {
			b := batch{tenant: tenant, messages: part}
			for _, m := range part {
				b.proofs = append(b.proofs, proofs[m]...)
			}
			if err := e.writeBatch(ctx, b, e.Now()); err != nil {
				return false, fmt.Errorf("judge hits again after proofs: %w", err)
			}
		}
	}
	return len(list) == pageSize, nil
}

// verdicts returns the hits of the batch whose class changes: the due ones, and settled ones near
// them.
func (e *Engine) verdicts(ctx context.Context, tx *sqldb.DB, b batch, found *track.Evidence) ([]track.Hit, error) {
	records, err := outbox.FindAll(ctx, tx, b.tenant, b.messages)
	if err != nil {
		return nil, err
	}
	links, err := linkCounts(ctx, tx, b.tenant, records)
	if err != nil {
		return nil, err
	}
	proofs, err := found.Proofs(ctx)
	if err != nil {
		return nil, err
	}
	byMessage := map[id.Message][]track.Hit{}
	for _, h := range found.Hits {
		r := records[h.Message]
		if h.SinceSent == nil && r.SentAt != nil { // recorded before the message's acceptance was stored
			h.SinceSent = new(h.At.Sub(*r.SentAt))
		}
		byMessage[h.Message] = append(byMessage[h.Message], h)
	}
	gateways, err := e.gateways(ctx, records, byMessage)
	if err != nil {
		return nil, err
	}
	var changed []track.Hit
	for _, m := range b.messages {
		old := byMessage[m]
		judge := func(familiar func(*track.Hit) bool) []track.Hit {
			c := Case{
				Hits: slices.Clone(old), Links: links[records[m].Content], Agents: &e.agents, Lists: e.Lists,
				FanOut:  func(h *track.Hit) bool { return b.byFanOut[h.ID] },
				Gateway: gateways[m], Proofs: proofs[m], Familiar: familiar,
			}
			c.Judge()
			return c.Hits
		}
		now := judge(nil)
		if slices.ContainsFunc(now, byScore) { // people known from other mails are rarely needed
			known, err := track.FamiliarTo(ctx, tx, b.tenant, old[0].Contact, m, old[len(old)-1].At)
			if err != nil {
				return nil, err
			}
			if len(known) > 0 {
				now = judge(func(h *track.Hit) bool { return isFamiliar(h, known) })
			}
		}
		for i, h := range now {
			if b.due[h.ID] || h.Class != old[i].Class && b.reopened(old, i, h) {
				changed = append(changed, h)
			}
		}
	}
	return changed, nil
}

// byScore reports whether the score made a hit a machine's. Rule ids of the score do not begin with R.
func byScore(h track.Hit) bool { return h.Class == track.Bot && !strings.HasPrefix(h.Rule, "R") }

// familiarTime is how long before a hit another one makes it familiar (rule G3).
const familiarTime = 90 * 24 * time.Hour

// isFamiliar is rule G3: one of the contact's human hits on other mails came from the same network and
// kind of browser, at most ninety days before.
func isFamiliar(h *track.Hit, known []track.Familiar) bool {
	return slices.ContainsFunc(known, func(k track.Familiar) bool {
		ago := h.At.Sub(k.At)
		return ago >= 0 && ago <= familiarTime && sameNetwork(k.IP, h.IP) && browserFamily(k.Agent) == browserFamily(h.Agent)
	})
}

// gateways returns the vendors of the recipients' mail gateways, for messages with clicks so soon that
// it matters.
func (e *Engine) gateways(ctx context.Context, records map[id.Message]outbox.Record, byMessage map[id.Message][]track.Hit) (map[id.Message]string, error) {
	if e.Domains == nil {
		return nil, nil
	}
	domains := map[id.Message]string{}
	var list []string
	for m, hits := range byMessage {
		if slices.ContainsFunc(hits, func(h track.Hit) bool { return h.Click && h.SinceSent != nil && *h.SinceSent < gatewayTime }) {
			_, domain, _ := strings.Cut(records[m].Email, "@")
			domains[m] = strings.ToLower(domain)
			list = append(list, domains[m])
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	slices.Sort(list)
	found, err := e.Domains.Of(ctx, slices.Compact(list)...)
	if err != nil {
		return nil, err
	}
	out := make(map[id.Message]string, len(domains))
	for m, d := range domains {
		out[m] = Gateway(found[d])
	}
	return out, nil
}

// reopened reports whether the settled verdict on old[i] may change to that of h: a due hit of the
// message is within reopenWindow, a new proof is about the hit, or rule R7 applies. A verdict by rule
// R7 stays, since later hits can only add to those that it is based on.
func (b *batch) reopened(old []track.Hit, i int, h track.Hit) bool {
	if old[i].Class == track.Pending || old[i].Rule == "R7" { // a pending hit is judged when it is due
		return false
	}
	return h.Rule == "R7" || slices.ContainsFunc(old, func(o track.Hit) bool {
		return b.due[o.ID] && timeBetween(o.At, h.At) <= reopenWindow
	}) || slices.ContainsFunc(b.proofs, func(p track.Proof) bool { return p.Message == h.Message && provenBy(&h, p.At) })
}

// linkCounts returns the number of links in the contents of messages.
func linkCounts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, records map[id.Message]outbox.Record) (map[id.Content]int, error) {
	var contents []id.Content
	for _, r := range records {
		contents = append(contents, r.Content)
	}
	slices.SortFunc(contents, id.Compare)
	return content.LinkCounts(ctx, tx, tenant, slices.Compact(contents))
}
