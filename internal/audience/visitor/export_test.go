package visitor

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
)

// ExpireTo is Expire with other limits.
func (e *Engine) ExpireTo(ctx context.Context, visitors, kept int64) error {
	return e.expire(ctx, limits{visitors, kept})
}

// LimitPending sets the maximal number of pending contacts.
func (e *Engine) LimitPending(n int64) { e.maxPending = n }

// Round applies a page of requests of each tenant.
func (e *Engine) Round(ctx context.Context) (int, error) {
	return e.round(ctx, map[id.Tenant]id.VisitorRequest{})
}
