package classify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// What is judged in one transaction: others that write wait for it.
const (
	batchMessages = 100
	batchHits     = 500 // all those of its messages; one message may have twice that
)

// batch is some messages of a tenant that are judged together.
type batch struct {
	tenant   id.Tenant
	messages []id.Message    // in order
	due      map[id.Hit]bool // which get a verdict
	fanned   map[id.Hit]bool // for which rule R7 holds
}

// batches splits messages, given in order, by how many hits they have.
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

// judge gives the due hits of one tenant their verdicts, and those around them
// that they re-open. A message's pending hits that are due are all judged with the
// first of them, so that the others are not read again for each.
func (e *Engine) judge(ctx context.Context, tenant id.Tenant, due []track.Hit, is isDue, now time.Time) error {
	given := map[id.Message][]track.Hit{}
	for _, h := range due {
		given[h.Message] = append(given[h.Message], h)
	}
	messages := slices.SortedFunc(maps.Keys(given), id.Compare)
	counts, err := track.Counts(ctx, e.DB, tenant, messages)
	if err != nil {
		return err
	}
	for _, part := range batches(messages, counts) {
		var hits []track.Hit
		var more []id.Message // that have other hits, too
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
				return fmt.Errorf("find pending hits: %w", err)
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

// judgePart judges the due hits of some messages. Everything about other messages
// is found out before the transaction that writes. The settled hits that are
// re-opened come first: should the process end in between, the due ones are still
// pending, and find them again.
func (e *Engine) judgePart(ctx context.Context, b batch, due []track.Hit, now time.Time) error {
	b.due = make(map[id.Hit]bool, len(due))
	for _, h := range due {
		b.due[h.ID] = true
		e.agents.Machine(h.Agent) // remembered from here on
	}
	f, err := findFans(ctx, e.DB, b.tenant, due)
	if err != nil {
		return err
	}
	if len(f.messages) > 0 {
		counts, err := track.Counts(ctx, e.DB, b.tenant, f.messages)
		if err != nil {
			return err
		}
		for _, part := range batches(f.messages, counts) {
			if err := e.write(ctx, batch{tenant: b.tenant, messages: part, fanned: f.settled}, now); err != nil {
				return err
			}
		}
	}
	b.fanned = f.due
	return e.write(ctx, b, now)
}

// write judges a batch in one transaction.
func (e *Engine) write(ctx context.Context, b batch, now time.Time) error {
	return e.DB.InTx(ctx, func(tx *sqldb.DB) error {
		found, err := track.Gather(ctx, tx, b.tenant, b.messages)
		if err != nil {
			return err
		}
		verdicts, err := e.verdicts(ctx, tx, b, found.Hits)
		if err != nil {
			return err
		}
		return found.Judge(ctx, verdicts)
	})
}

// verdicts returns those of the messages' hits whose class is new: the due ones,
// and the settled ones that they re-open.
func (e *Engine) verdicts(ctx context.Context, tx *sqldb.DB, b batch, hits []track.Hit) ([]track.Hit, error) {
	records, err := outbox.FindAll(ctx, tx, b.tenant, b.messages)
	if err != nil {
		return nil, err
	}
	links, err := linkCounts(ctx, tx, b.tenant, records)
	if err != nil {
		return nil, err
	}
	of := map[id.Message][]track.Hit{}
	for _, h := range hits {
		r := records[h.Message]
		if h.SinceSent == nil && r.SentAt != nil { // it overtook the news that the message was accepted
			h.SinceSent = new(h.At.Sub(*r.SentAt))
		}
		of[h.Message] = append(of[h.Message], h)
	}
	var changed []track.Hit
	for _, m := range b.messages {
		old := of[m]
		c := Case{
			Hits: slices.Clone(old), Links: links[records[m].Content], Agents: &e.agents,
			FanOut: func(h *track.Hit) bool { return b.fanned[h.ID] },
		}
		c.Judge()
		for i, h := range c.Hits {
			if b.due[h.ID] || h.Class != old[i].Class && b.reopened(old, i, h) {
				changed = append(changed, h)
			}
		}
	}
	return changed, nil
}

// reopened reports whether the settled verdict on old[i] may become the one that
// h now has: a due hit of the message is near, or rule R7 decides. A verdict by
// rule R7 stays: hits that come later only add to those that it rests on.
func (b *batch) reopened(old []track.Hit, i int, h track.Hit) bool {
	if old[i].Class == track.Pending || old[i].Rule == "R7" { // a pending one waits for its own turn
		return false
	}
	return h.Rule == "R7" || slices.ContainsFunc(old, func(o track.Hit) bool {
		return b.due[o.ID] && apart(o.At, h.At) <= reopenWindow
	})
}

// linkCounts returns how many links the contents of messages have.
func linkCounts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, records map[id.Message]outbox.Record) (map[id.Content]int, error) {
	var contents []id.Content
	for _, r := range records {
		contents = append(contents, r.Content)
	}
	slices.SortFunc(contents, id.Compare)
	return content.LinkCounts(ctx, tx, tenant, slices.Compact(contents))
}
