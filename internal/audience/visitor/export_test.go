package visitor

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
)

// ExpireTo is Expire with other limits.
func (e *Engine) ExpireTo(ctx context.Context, visitors, kept int64) error {
	return e.expire(ctx, limits{visitors, kept, maxKeptBytes})
}

// LimitPending sets the maximal number of pending contacts, and of those of a day.
func (e *Engine) LimitPending(n, day int64) { e.maxPending, e.maxPendingDay = n, day }

// Round applies a page of requests of each tenant.
func (e *Engine) Round(ctx context.Context) (int, error) {
	return e.round(ctx, map[id.Tenant]id.VisitorRequest{})
}
