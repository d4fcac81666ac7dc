package watch

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/traffic"
)

// raiseWarmups raises the limits of lanes that warm up, according to the previous day.
func (e *Engine) raiseWarmups(ctx context.Context, now time.Time) error {
	warming, err := lane.WarmingUp(ctx, e.DB)
	if err != nil {
		return err
	}
	zones := zones{e.DB, map[id.Tenant]*time.Location{}}
	var errs []error
	for _, c := range warming {
		zone, err := zones.zoneOf(ctx, c.Tenant)
		if err == nil {
			err = e.raiseWarmup(ctx, c, zone, now)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (e *Engine) raiseWarmup(ctx context.Context, c lane.Config, zone *time.Location, now time.Time) error {
	today := spread.DayOf(now, zone)
	if c.Warmup.LevelDay >= today {
		return nil
	}
	from, to := spread.AllDay.Span(today.Add(-1), zone)
	carried, err := traffic.ByLane(ctx, e.DB, c.Tenant, []id.MTAConfig{c.ID}, from, to)
	if err != nil {
		return err
	}
	n := carried[c.ID]
	next := c.Warmup.On(today, lane.Day{
		Sent: n.Delivered, Tried: n.Delivered + n.Deferred + n.Hard + n.Block,
		Deferred: n.Deferred, Blocked: n.Block, Hard: n.Hard + n.Late, Complained: n.Complained,
	})
	set, err := lane.SetWarmup(ctx, e.DB, c, next)
	if err == nil && set {
		e.Log.Info("lane warm-up raised", "tenant", c.Tenant, "lane", c.ID, "per_day", next.Level, "before", c.Warmup.Level)
	}
	return err
}
