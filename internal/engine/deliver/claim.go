package deliver

import (
	"context"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
)

// claim claims due messages of a send.
func (e *Engine) claim(ctx context.Context, tenant id.Tenant, send id.Send, after outbox.Position) ([]outbox.Item, error) {
	return e.node.ClaimAfter(context.WithoutCancel(ctx), tenant, send, after, claimBatch, e.Now())
}

// release says that there is nothing to do with messages any more. Those that
// are as they were can be claimed again once that is written, which is with the
// next claim or within a second.
func (e *Engine) release(items ...outbox.Item) { e.node.Release(items...) }

// delay puts messages off until their DueAt, however long it takes to write: until
// then nobody else would look at them.
func (e *Engine) delay(items []outbox.Item) {
	if len(items) == 0 {
		return
	}
	// If it never succeeds the node is at its end, and others take them.
	_ = e.retryWrite("messages are not put off yet", func() error { return e.node.Delay(e.abandoned, items) })
}
