package watch

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// pauseStuckSends calls every Pauser to pause sends whose lanes have all been down for a while, and
// those from a paused domain, whatever the reason of that pause.
func (e *Engine) pauseStuckSends(ctx context.Context, lanes map[traffic.Lane]lane.Health, now time.Time) error {
	tenants, err := sender.PausedTenants(ctx, e.DB)
	if err != nil {
		return err
	}
	downSince := now.Add(-downBeforePause)
	for l, h := range lanes {
		if h.State == lane.Down && !h.Since.After(downSince) {
			tenants[l.Tenant] = true
		}
	}
	if len(tenants) == 0 {
		return nil
	}
	var errs []error
	for _, p := range e.Pausers {
		paused, err := p.PauseStuck(ctx, e.DB, tenants, downSince, now)
		for _, s := range paused {
			e.Log.Warn("send paused", "tenant", s.Tenant, "kind", s.Kind, "id", s.ID, "reason", s.Reason)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
