package classify

import (
	"context"
	"slices"
	"time"

	"packetboat/internal/content"
	"packetboat/internal/id"
	"packetboat/internal/outbox"
	"packetboat/internal/sqldb"
	"packetboat/internal/track"
)

// bench is what one transaction of judging knows.
type bench struct {
	tx     *sqldb.DB
	tenant id.Tenant
	agents *Agents
	due    map[id.Hit]bool
	fans   map[fan][]track.Neighbour
}

// verdicts returns the hits of messages whose class is new: those that are due,
// and the settled ones that they re-open.
func (b *bench) verdicts(ctx context.Context, messages []id.Message) ([]track.Hit, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	all, err := track.Evidence(ctx, b.tx, b.tenant, messages)
	if err != nil {
		return nil, err
	}
	records, err := outbox.FindAll(ctx, b.tx, b.tenant, messages)
	if err != nil {
		return nil, err
	}
	links, err := linkCounts(ctx, b.tx, b.tenant, records)
	if err != nil {
		return nil, err
	}
	of := map[id.Message][]track.Hit{}
	for _, h := range all {
		r := records[h.Message]
		if h.SinceSent == nil && r.SentAt != nil { // it overtook the news that the message was accepted
			h.SinceSent = new(h.At.Sub(*r.SentAt))
		}
		of[h.Message] = append(of[h.Message], h)
	}
	var changed []track.Hit
	for _, m := range messages {
		old := of[m]
		c := Case{
			Hits: slices.Clone(old), Links: links[records[m].Content], Agents: b.agents,
			FanOut: func(h *track.Hit) (bool, error) { return b.fannedOut(ctx, h) },
		}
		if err := c.Judge(); err != nil {
			return nil, err
		}
		for i, h := range c.Hits {
			if b.due[h.ID] || h.Class != old[i].Class && b.reopened(old, i, h) {
				changed = append(changed, h)
			}
		}
	}
	return changed, nil
}

// reopened reports whether the settled verdict on old[i] may become the one that
// h now has: a due hit of the message is near, or so many of other messages are
// that rule R7 decides.
func (b *bench) reopened(old []track.Hit, i int, h track.Hit) bool {
	if old[i].Class == track.Pending { // it waits for its own turn
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
	slices.Sort(contents)
	return content.LinkCounts(ctx, tx, tenant, slices.Compact(contents))
}

// fan names the hits of a stream from one address around one minute.
type fan struct {
	stream, ip string
	minute     int64
}

// neighbours returns the hits from h's address in at least the minute before
// and the minute after it.
func (b *bench) neighbours(ctx context.Context, h *track.Hit) ([]track.Neighbour, error) {
	key := fan{h.Stream, h.IP, h.At.Unix() / 60}
	if list, ok := b.fans[key]; ok {
		return list, nil
	}
	from := h.At.Truncate(time.Minute).Add(-fanOutWindow)
	list, err := track.Neighbours(ctx, b.tx, b.tenant, h.Stream, h.IP, from, from.Add(time.Minute+2*fanOutWindow))
	if err == nil {
		b.fans[key] = list
	}
	return list, err
}

func (b *bench) fannedOut(ctx context.Context, h *track.Hit) (bool, error) {
	list, err := b.neighbours(ctx, h)
	return err == nil && fannedOut(list, h.At), err
}

// others returns the messages, besides those at hand, with a settled hit that
// the due ones may make part of a fan-out: the tenth of ten tells about the nine.
func (b *bench) others(ctx context.Context, due []track.Hit, atHand map[id.Message]bool) ([]id.Message, error) {
	var list []id.Message
	for i := range due {
		h := &due[i]
		if track.ImageProxy(h.Agent) {
			continue
		}
		near, err := b.neighbours(ctx, h)
		if err != nil {
			return nil, err
		}
		if !fannedOut(near, h.At) {
			continue
		}
		for _, n := range near {
			if !atHand[n.Message] && (n.Class == track.Human || n.Class == track.Privacy) && apart(n.At, h.At) <= fanOutWindow {
				list = append(list, n.Message)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
