package visitor

import "context"

// ExpireTo is Expire with other limits.
func (e *Engine) ExpireTo(ctx context.Context, visitors, kept int64) error {
	return e.expire(ctx, limits{visitors, kept})
}

// LimitPending sets the maximal number of pending contacts.
func (e *Engine) LimitPending(n int64) { e.maxPending = n }
