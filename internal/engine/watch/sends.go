package watch

import (
	"context"
	"errors"
	"time"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/sender"
	"packetboat/internal/traffic"
)

// sends pauses the broadcasts that no lane has been able to carry for a while,
// and those that send from a paused domain, whoever paused that.
func (e *Engine) sends(ctx context.Context, lanes map[traffic.Lane]lane.Health, now time.Time) error {
	halted, err := sender.HavePaused(ctx, e.DB)
	if err != nil {
		return err
	}
	down := map[id.Tenant]bool{}
	for l, h := range lanes {
		if gone(h.State, h.Since, now) {
			down[l.Tenant] = true
		}
	}
	if len(halted) == 0 && len(down) == 0 {
		return nil
	}
	runs, err := broadcast.OpenRuns(ctx, e.DB)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range runs {
		if r.Status == broadcast.Sending && (halted[r.Tenant] || down[r.Tenant]) {
			errs = append(errs, e.send(ctx, r.Run, now))
		}
	}
	return errors.Join(errs...)
}

// gone reports whether a lane has been down for so long that a send gives up on it.
func gone(s lane.State, since, now time.Time) bool {
	return s == lane.Down && !now.Before(since.Add(collapsedIn))
}

func (e *Engine) send(ctx context.Context, r broadcast.Run, now time.Time) error {
	var why broadcast.PauseReason
	halted, err := r.DomainPaused(ctx, e.DB)
	if err != nil {
		return err
	}
	since, down, err := r.LanesDown(ctx, e.DB)
	switch {
	case err != nil:
		return err
	case halted:
		why = broadcast.DomainPaused
	case down && gone(lane.Down, since, now):
		why = broadcast.CapacityCollapsed
	default:
		return nil
	}
	err = broadcast.Pause(ctx, e.DB, r.Tenant, r.Broadcast, why, now)
	if errors.Is(err, broadcast.ErrTransition) || errors.Is(err, broadcast.ErrNotFound) {
		return nil // somebody else was quicker
	}
	if err == nil {
		e.Log.Warn("broadcast paused", "tenant", r.Tenant, "broadcast", r.Broadcast, "reason", string(why))
	}
	return err
}
