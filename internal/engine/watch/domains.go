package watch

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/traffic"
)

// The thresholds at which a domain is paused.
const (
	domainWindow     = sender.HealthWindow
	minDeliveries    = 1000
	pauseComplaints  = 0.003
	pauseHardBounces = 0.10
)

// The rates at which warnings are logged, ascending.
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

// warningLevel is how many of the warning rates a domain has reached, at the lower bound of the estimate.
type warningLevel struct{ complaints, hardBounces int }

func warningLevelOf(c traffic.Counts) (a warningLevel) {
	reached := func(rate float64, steps []float64) (n int) {
		for _, s := range steps {
			if rate >= s {
				n++
			}
		}
		return n
	}
	return warningLevel{reached(c.ComplaintRate(traffic.AtLeast), warnComplaints), reached(c.HardBounceRate(traffic.AtLeast), warnHardBounces)}
}

// checkDomains pauses domains with too many bounces or complaints, and logs a warning for those that
// come near.
func (e *Engine) checkDomains(ctx context.Context, now time.Time) error {
	since := now.Add(-domainWindow)
	busy, err := traffic.ByDomain(ctx, e.DB, since, minDeliveries)
	if err != nil {
		return err
	}
	given := e.warned
	e.warned = map[traffic.Domain]warningLevel{}
	for d, c := range busy {
		if judged := e.checkDomain(ctx, d, c, since, given[d], now); judged != nil {
			err = errors.Join(err, judged)
		}
	}
	return err
}

func (e *Engine) checkDomain(ctx context.Context, d traffic.Domain, c traffic.Counts, since time.Time, given warningLevel, now time.Time) error {
	known, err := sender.DomainByID(ctx, e.DB, d.Tenant, d.Domain)
	if errors.Is(err, sender.ErrDomainNotFound) || err == nil && known.Paused {
		return nil
	}
	if err != nil {
		return err
	}
	if known.JudgedFrom != nil && known.JudgedFrom.After(since) {
		if c, err = traffic.OfDomain(ctx, e.DB, d.Tenant, d.Domain, *known.JudgedFrom); err != nil || c.Delivered < minDeliveries {
			return err
		}
	}
	log := e.Log.With("tenant", d.Tenant, "domain", d.Domain)
	why, must := pauseReason(c)
	if !must {
		a := warningLevelOf(c)
		e.warned[d] = a
		if a.complaints > given.complaints {
			log.Warn("complaint rate of domain is high", "rate", c.ComplaintRate(traffic.Rate), "complaints", c.Complained, "deliveries", c.Delivered)
		}
		if a.hardBounces > given.hardBounces {
			log.Warn("hard bounce rate of domain is high", "rate", c.HardBounceRate(traffic.Rate), "bounces", c.Hard+c.Late, "deliveries", c.Delivered)
		}
		return nil
	}
	why.Domain = known.Name
	paused, err := sender.PauseDomain(ctx, e.DB, d.Tenant, d.Domain, why, now)
	if err == nil && paused {
		log.Warn("domain paused", "reason", string(why.Reason), "rate", why.Rate, "count", why.Count, "deliveries", why.Deliveries)
	}
	return err
}
