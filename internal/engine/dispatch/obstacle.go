package dispatch

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/broadcast"
)

// stopIfBlocked pauses or fails a broadcast that cannot be prepared, and reports whether it did. If
// all its sending domains are paused, it is paused until they are resumed. Other obstacles are
// permanent, so the broadcast fails.
func (e *Engine) stopIfBlocked(ctx context.Context, b broadcast.Broadcast, facts broadcast.Preconditions, now time.Time) (bool, error) {
	if waits, ok := facts.AwaitsDomain(b); ok {
		// Resume checks the domains of these routes.
		if _, err := e.recordRoutes(ctx, b, waits); err != nil {
			return true, err
		}
		e.Log.Warn("broadcast paused with its sending domains", "tenant", b.Tenant, "broadcast", b.ID)
		return true, broadcast.Pause(ctx, e.DB, b.Tenant, b.ID, broadcast.DomainPaused, now)
	}
	if code := facts.Obstacle(b); code != "" {
		e.Log.Warn("broadcast failed", "tenant", b.Tenant, "broadcast", b.ID, "code", code)
		return true, broadcast.Fail(ctx, e.DB, b.Tenant, b.ID, code, now)
	}
	return false, nil
}

// beginFailure returns why a due broadcast cannot begin, or "".
func beginFailure(b broadcast.Broadcast, facts broadcast.Preconditions) broadcast.FailureCode {
	if _, ok := facts.AwaitsDomain(b); ok {
		return ""
	}
	return facts.Obstacle(b)
}
