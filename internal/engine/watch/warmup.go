package watch

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
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
	return errors.Join(append(errs, e.countDomainDays(ctx, zones, now))...)
}

// countDomainDays counts the previous day of sending domains that are new.
func (e *Engine) countDomainDays(ctx context.Context, zones zones, now time.Time) error {
	today := func(t id.Tenant) (spread.Day, error) {
		zone, err := zones.zoneOf(ctx, t)
		if err != nil {
			return "", err
		}
		return spread.DayOf(now, zone), nil
	}
	list, err := sender.WarmingDomains(ctx, e.DB, today)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range list {
		zone, err := zones.zoneOf(ctx, d.Tenant)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		day := spread.DayOf(now, zone)
		from, to := spread.AllDay.Span(day.Add(-1), zone)
		n, err := traffic.OfDomainBetween(ctx, e.DB, d.Tenant, d.Domain, from, to)
		if err == nil {
			sent := lane.DayOf(n)
			err = sender.CountDay(ctx, e.DB, d, day, sent.Good(), sent.Bad())
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
	var next lane.Warmup
	if c.WarmsSources() {
		carried, err := traffic.BySource(ctx, e.DB, c.Tenant, c.ID, from, to)
		if err != nil {
			return err
		}
		next = c.OnSources(today, carried)
		next.LevelDay = today
	} else {
		carried, err := traffic.ByLane(ctx, e.DB, c.Tenant, []id.Lane{c.ID}, from, to)
		if err != nil {
			return err
		}
		next = c.Warmup.On(today, lane.DayOf(carried[c.ID]))
	}
	set, err := lane.SetWarmup(ctx, e.DB, c, next)
	if err == nil && set {
		before, _ := c.DayCap(today.Add(-1))
		c.Warmup = next
		now, _ := c.DayCap(today)
		e.Log.Info("lane warm-up raised", "tenant", c.Tenant, "lane", c.ID, "per_day", now, "before", before)
	}
	return err
}
