package watch

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// The thresholds at which a domain is paused.
const (
	domainWindow     = sender.HealthWindow
	minDeliveries    = 1000
	pauseComplaints  = 0.003
	pauseHardBounces = 0.10
)

// The rates of warnings, ascending.
var (
	warnComplaints  = []float64{0.001}
	warnHardBounces = []float64{0.02, 0.05}
)

// pauseReason returns the reason to pause a domain with these counts, if there is one.
func pauseReason(c traffic.Counts) (why sender.Pause, must bool) {
	if c.Delivered < minDeliveries {
		return sender.Pause{}, false
	}
	why = sender.Pause{Deliveries: c.Delivered, Hours: int(domainWindow / time.Hour)}
	if rate := c.ComplaintRate(traffic.Rate); rate >= pauseComplaints {
		why.Reason, why.Rate, why.Count = sender.PausedForComplaints, rate, c.Complained
		return why, true
	}
	if rate := c.HardBounceRate(traffic.Rate); rate >= pauseHardBounces {
		why.Reason, why.Rate, why.Count = sender.PausedForBounces, rate, c.Hard+c.Late
		return why, true
	}
	return sender.Pause{}, false
}

// countsOf returns the counts of the domains of all tenants with enough deliveries in the window, or since they
// were resumed if that was later.
func (e *Engine) countsOf(ctx context.Context, resumed map[traffic.Domain]time.Time, now time.Time) (map[traffic.Domain]traffic.Counts, error) {
	since := now.Add(-domainWindow)
	busy, err := traffic.ByDomain(ctx, e.DB, since, minDeliveries)
	if err != nil {
		return nil, err
	}
	for d := range busy {
		if at, ok := resumed[d]; ok && at.After(since) {
			if busy[d], err = traffic.OfDomain(ctx, e.DB, d.Tenant, d.Domain, at); err != nil {
				return nil, err
			}
			if busy[d].Delivered < minDeliveries {
				delete(busy, d)
			}
		}
	}
	return busy, nil
}

// warnOfRates finds domains that come near a pause.
func (e *Engine) warnOfRates(ctx context.Context, found warnings, resumed map[traffic.Domain]time.Time, now time.Time) error {
	busy, err := e.countsOf(ctx, resumed, now)
	for d, c := range busy {
		for _, w := range []sender.Warning{
			{Metric: sender.Complaints, Count: c.Complained, Of: c.Delivered, Threshold: highest(c.ComplaintRate(traffic.AtLeast), warnComplaints)},
			{Metric: sender.HardBounces, Count: c.Hard + c.Late, Of: c.Delivered + c.Hard + c.Block, Threshold: highest(c.HardBounceRate(traffic.AtLeast), warnHardBounces)},
		} {
			if w.Window = domainWindow; w.Threshold > 0 {
				found.add(d, w)
			}
		}
	}
	return err
}

// highest returns the highest of ascending steps that a rate reaches, or 0.
func highest(rate float64, steps []float64) (reached float64) {
	for _, s := range steps {
		if rate >= s {
			reached = s
		}
	}
	return reached
}

// checkDomains pauses domains with too many bounces or complaints.
func (e *Engine) checkDomains(ctx context.Context, now time.Time) error {
	resumed, err := sender.Resumed(ctx, e.DB, now.Add(-domainWindow))
	if err != nil {
		return err
	}
	busy, err := e.countsOf(ctx, resumed, now)
	if err != nil {
		return err
	}
	for d, c := range busy {
		if why, must := pauseReason(c); must {
			err = errors.Join(err, e.pauseDomain(ctx, d, why, now))
		}
	}
	return err
}

func (e *Engine) pauseDomain(ctx context.Context, d traffic.Domain, why sender.Pause, now time.Time) error {
	known, err := sender.DomainByID(ctx, e.DB, d.Tenant, d.Domain)
	if errors.Is(err, sender.ErrDomainNotFound) || err == nil && known.Paused {
		return nil
	}
	if err != nil {
		return err
	}
	why.Domain = known.Name
	paused, err := sender.PauseDomain(ctx, e.DB, d.Tenant, d.Domain, why, now)
	if err == nil && paused {
		e.Log.Warn("domain paused", "tenant", d.Tenant, "domain", d.Domain, "reason", string(why.Reason), "rate", why.Rate, "count", why.Count, "deliveries", why.Deliveries)
	}
	return err
}
