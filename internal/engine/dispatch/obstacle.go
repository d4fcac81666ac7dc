package dispatch

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/broadcast"
)

// stopIfBlocked ends or pauses a broadcast that cannot be prepared, and reports whether it
// did. One whose senders' domains are all paused waits for them; whatever else is
// in the way will not come back, so the broadcast fails.
func (e *Engine) stopIfBlocked(ctx context.Context, b broadcast.Broadcast, facts broadcast.Preconditions, now time.Time) (bool, error) {
	if waits, ok := facts.AwaitsDomain(b); ok {
		// The routes tell Resume which domains to ask about.
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

// obstacle says why a broadcast that is due cannot begin at all, or nothing.
func obstacle(b broadcast.Broadcast, facts broadcast.Preconditions) broadcast.FailureCode {
	if _, ok := facts.AwaitsDomain(b); ok {
		return ""
	}
	return facts.Obstacle(b)
}
