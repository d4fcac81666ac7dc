package deliver

import (
	"context"
	"sync"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/outbox"
)

// inHand are the messages that this process has claimed and knows of.
type inHand struct {
	mu   sync.Mutex
	held map[id.Message]struct{}
}

func (h *inHand) add(items []outbox.Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = map[id.Message]struct{}{}
	}
	for _, it := range items {
		h.held[it.ID] = struct{}{}
	}
}

func (h *inHand) has(m id.Message) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.held[m]
	return ok
}

func (h *inHand) remove(m id.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, m)
}

// claim claims due messages of a stream. Nobody else claims any of it for this
// node meanwhile.
func (e *Engine) claim(ctx context.Context, tenant id.Tenant, stream string, after outbox.Position) ([]outbox.Item, error) {
	items, err := e.node.ClaimAfter(context.WithoutCancel(ctx), tenant, stream, after, claimBatch, e.Now())
	if err == nil {
		e.inHand.add(items)
		return items, nil
	}
	select { // the database may not be done with what we know nothing of
	case <-time.After(time.Second):
	case <-e.giveUp.Done():
	}
	_ = e.insist("claimed messages are not found yet", func() error { return e.forgotten(tenant, stream) })
	return nil, err
}

// forgotten puts back what was claimed although the claim seemed to fail: while
// this node lives, nobody else would.
func (e *Engine) forgotten(tenant id.Tenant, stream string) error {
	claimed, err := e.node.Unbegun(e.giveUp, tenant, stream)
	if err != nil {
		return err
	}
	var lost []outbox.Item
	for _, it := range claimed {
		if !e.inHand.has(it.ID) {
			lost = append(lost, it)
		}
	}
	return e.node.Release(e.giveUp, lost)
}
