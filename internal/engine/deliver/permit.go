package deliver

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/pace"
)

const (
	maxWaitInMemory = 5 * time.Second        // how long messages of one class wait in memory for a permit
	connectionRetry = 100 * time.Millisecond // until a message that waits for a provider's connection is tried again
	maxDelay        = 15 * time.Minute       // how far a message that waits for a rate is delayed at most
	laneSpace       = "lane:"
	domainSpace     = "domain:"
	sendSpace       = "send:"
)

// class is what messages that share all limits have in common.
type class struct {
	lane     *laneSettings
	throttle *lane.Throttle // of the recipient's provider, or nil
	send     *send
	dest     *dest // of direct delivery, or nil
	warming  warming
}

// warming is what the limits of a lane that warms up depend on; zero for other lanes.
type warming struct {
	source   netip.Addr // of direct delivery
	provider string
	domain   id.Domain // the sender's, if it is new
	days     int       // of good mail that the domain has behind it
}

// warmingOf returns what the warm-up of a job's lane depends on.
func warmingOf(j *job) (w warming) {
	if !j.lane.config.Warmup.Enabled {
		return w
	}
	if j.dest != nil && j.lane.config.WarmsSources() {
		w.source, w.provider = j.dest.key.Source, j.provider
	}
	if d := j.sender.Domain; d.IsNew() {
		w.domain, w.days = d.ID, d.WarmDays
	}
	return w
}

func (c class) same(o class) bool {
	return c.lane.config.ID == o.lane.config.ID && c.send.id == o.send.id && c.pattern() == o.pattern() && c.dest == o.dest && c.warming == o.warming
}

// pattern returns the pattern of the throttle, or "".
func (c class) pattern() string {
	if c.throttle == nil {
		return ""
	}
	return c.throttle.Pattern
}

// limits returns the rates that apply to messages of the class.
func (c class) limits() []pace.Limit {
	caps, key := c.lane.config.Caps, laneSpace+c.lane.config.ID.String()
	var list []pace.Limit
	add := func(key string, most int, per time.Duration) {
		if most > 0 {
			list = append(list, pace.Limit{Key: key, Max: most, Per: per})
		}
	}
	add(key, caps.MaxPerSecond, time.Second)
	add(key, caps.MaxPerMinute, time.Minute)
	add(key, caps.MaxPerHour, time.Hour)
	if t := c.throttle; t != nil {
		add(key+":"+t.Pattern, t.MaxPerMinute, time.Minute)
		add(key+":"+t.Pattern, t.MaxPerHour, time.Hour)
	}
	add(sendSpace+c.send.id.String(), c.send.perHour, time.Hour)
	return list
}

// interval returns the interval between messages of the class under its slowest limit.
func (c class) interval() time.Duration {
	longest := time.Millisecond
	if c.dest != nil || c.throttle != nil && c.throttle.MaxConnections > 0 {
		longest = connectionRetry
	}
	for _, l := range c.limits() {
		longest = max(longest, l.Per/time.Duration(l.Max))
	}
	return longest
}

// day returns the daily limits of the lane, and when the next day begins. While it warms up, there are also
// those of the address that mail comes from, of this address to the provider, and of a new sending domain.
func (c class) day(zone *time.Location, now time.Time) (days []pace.Day, next time.Time) {
	today := spread.DayOf(now, zone)
	config, key := c.lane.config, laneSpace+c.lane.config.ID.String()
	add := func(key string, most int, capped bool) {
		if capped {
			days = append(days, pace.Day{Key: key, Day: today, Max: most})
		}
	}
	if config.WarmsSources() {
		add(key, config.Caps.MaxPerDay, config.Caps.MaxPerDay > 0)
	} else {
		most, capped := config.DayCap(today)
		add(key, most, capped)
	}
	if w := c.warming; w.source.IsValid() {
		most, capped := config.SourceCap(w.source, today)
		add(key+":"+w.source.String(), most, capped)
		most, capped = config.ProviderCap(w.source, w.provider)
		add(key+":"+w.source.String()+":"+w.provider, most, capped)
	}
	if w := c.warming; !w.domain.IsZero() {
		add(domainSpace+w.domain.String(), config.Warmup.NewDomainCap(w.days), true)
	}
	if len(days) == 0 {
		return nil, time.Time{}
	}
	_, next = spread.AllDay.Span(today, zone)
	return days, next
}

// grant is how many messages of a class may be sent now, and why the others wait.
type grant struct {
	n      int
	days   []pace.Day // the daily limits of which each took a permit
	denied *deferral  // nil: all got a permit
	wait   outbox.Wait
}

// acquirePermits requests permits for n messages of a class.
func (e *Engine) acquirePermits(ctx context.Context, c class, zone *time.Location, n int) (l grant, err error) {
	now, limits := e.Now(), c.limits()
	if free := e.lanes.workersFor(c.lane).free(c.throttle); free < n {
		n, l.denied = free, &deferral{until: now.Add(connectionRetry), reason: "its provider's connections are in use"}
		l.wait = outbox.Wait{Kind: outbox.WaitProviderConnections, Provider: c.pattern(), Reason: "the connections to this provider are in use"}
	}
	if c.dest != nil {
		if free, again := c.dest.free(now, len(limits) > 0); free < n {
			c.dest.demands(n, now)
			n, l.denied = free, &deferral{until: again, reason: "the connections to its destination are in use"}
			l.wait = outbox.Wait{Kind: outbox.WaitProviderConnections, Provider: c.dest.key.Name, Reason: "the connections to this destination are in use"}
			if h := c.dest.blocked(now); h != nil {
				l.denied, l.wait.Reason = h, h.reason
			}
		}
	}
	days, tomorrow := c.day(zone, now)
	l.n, l.days = n, days
	if len(days) > 0 && n > 0 {
		if l.n, err = e.pacer.TakeDay(ctx, n, days); l.n < n {
			l.denied = &deferral{until: tomorrow, reason: "its lane has reached its daily limit", part: c.warming != warming{}}
			l.wait = outbox.Wait{Kind: outbox.WaitLaneDay, Reason: "the MTA config has reached its daily limit"}
			if len(days) > 1 {
				l.wait.Reason += ", or one of its warm-up: of an address, a provider or a new domain"
			}
		}
	}
	if len(limits) > 0 && l.n > 0 {
		granted, not, bad := e.feeders.shares.takePermits(ctx, e.pacer, c.send.id, l.n, limits, now)
		if granted < l.n {
			l.denied = &deferral{until: not.retryAt, reason: "its lane, provider or broadcast has reached its rate"}
			l.wait = c.rateWait(not.limit)
			if len(days) > 0 {
				bad = errors.Join(bad, e.pacer.ReturnDay(e.writeCtx, l.n-granted, days))
			}
		}
		l.n, err = granted, errors.Join(err, bad)
	}
	if err != nil && l.denied != nil { // the limits were not checked: try again soon
		l.denied = &deferral{until: now.Add(errorRetry), reason: "acquire permits failed"}
	}
	return l, err
}

// findProviders sets the provider and the directory of each job's mailbox, and the throttle of its lane for it, if any.
func (e *Engine) findProviders(ctx context.Context, jobs []*job) error {
	var domains []string
	for _, j := range jobs {
		if j.dest == nil && (j.lane.config.Type != lane.Sink || len(j.lane.config.Throttles) > 0) {
			domains = append(domains, domainOf(j.item.Email))
		}
	}
	slices.Sort(domains)
	found, err := e.providers.Of(ctx, slices.Compact(domains)...)
	for _, j := range jobs {
		d := domainOf(j.item.Email)
		known := found[d]
		if j.dest != nil {
			known = maildomain.Domain{Record: j.route.Servers.Hosts[0].Name, Provider: j.route.Servers.Provider}
		}
		j.provider = lane.WarmupProvider(string(known.Provider.Or(d)))
		if j.lane.config.Type != lane.Sink { // what a sink answers says nothing about a provider
			j.directory = mx.Directory(d, known.Provider, known.Record)
		}
		j.throttle = j.lane.config.Throttle(string(known.Provider), d)
	}
	return err
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// returnPermits returns the daily permits of jobs that were not given to a server.
func (e *Engine) returnPermits(jobs ...*job) {
	for _, j := range jobs {
		if len(j.days) == 0 {
			continue
		}
		if err := e.pacer.ReturnDay(e.writeCtx, 1, j.days); err != nil {
			e.Log.Error("return day permit failed", "lane", j.lane.config.ID, "err", err)
		}
	}
}

// group is jobs of one class.
type group struct {
	class
	jobs []*job
}

// groups sorts jobs by class, in their order.
func groups(jobs []*job) []group {
	var list []group
	for _, j := range jobs {
		c := class{j.lane, j.throttle, j.send, j.dest, warmingOf(j)}
		i := slices.IndexFunc(list, func(g group) bool { return g.same(c) })
		if i < 0 {
			i, list = len(list), append(list, group{class: c})
		}
		list[i].jobs = append(list[i].jobs, j)
	}
	return list
}

// passJobs passes jobs to their lanes, as fast as limits allow. If all are of one class, they wait
// here for permits that come soon; otherwise those without a permit are delayed, so that no class
// waits for another. Jobs to several destinations are passed in turns, since the queue of a lane would
// otherwise contain only those to a few. It returns how many passed, the results of those that ended, and
// those that wait.
func (e *Engine) passJobs(ctx context.Context, jobs []*job) (passed int, ends []outbox.Result, waiting []deferredItem) {
	if len(jobs) == 0 {
		return 0, nil, nil
	}
	first := jobs[0]
	if jobs, ends, waiting = e.routeJobs(ctx, jobs); len(waiting) > 0 {
		e.noteWaits(waiting)
	}
	e.requestSlots(ctx, jobs)
	if err := e.findProviders(ctx, jobs); err != nil {
		e.Log.Error("look up providers failed", "err", err)
	}
	zone := first.sender.Tenant.Location()
	all := groups(jobs)
	alone := len(all) == 1
	for len(all) > 0 {
		again := make([]group, 0, len(all))
		denials := 0
		for i := range all {
			g := &all[i]
			n, over, later, denied, stopped := e.passGroup(ctx, g, zone, alone, e.portion(g, len(all)))
			passed, ends, waiting = passed+n, append(ends, over...), append(waiting, later...)
			switch {
			case stopped: // what was not passed is released unchanged
				for _, g := range slices.Concat(again, all[i:]) {
					e.release(itemsOf(g.jobs)...)
				}
				return passed, ends, waiting
			case denied == nil && len(g.jobs) == 0:
			case denied == nil:
				again = append(again, *g)
			case e.freesSoon(g, denied):
				again, denials = append(again, *g), denials+1
			default:
				waiting = append(waiting, g.delayRest(denied, e.Now())...)
			}
		}
		if all = again; denials > 0 && denials == len(all) && !e.waitForConnections(ctx, all[0].lane) {
			for _, g := range all {
				e.release(itemsOf(g.jobs)...)
			}
			break
		}
	}
	return passed, ends, waiting
}

// freesSoon reports whether the jobs of a group wait here for connections to their destination,
// because the workers of their lane have others to send meanwhile.
func (e *Engine) freesSoon(g *group, denied *deferral) bool {
	return g.dest != nil && denied.until.Sub(e.Now()) <= connectionRetry && e.lanes.workersFor(g.lane).jobs.len() > 0
}

// portion returns how many jobs of a group are passed before those of the other groups: so many that a full
// queue has jobs for as many destinations as there are connections. With fewer jobs to more destinations
// each connection would carry fewer messages.
func (e *Engine) portion(g *group, groups int) int {
	if g.dest == nil || groups == 1 {
		return len(g.jobs)
	}
	return max(1, e.lanes.workersFor(g.lane).jobs.size/min(groups, g.lane.config.Caps.MaxConnections))
}

// waitForConnections waits until connections of a lane may be free again. It returns false if ctx ended
// before.
func (e *Engine) waitForConnections(ctx context.Context, s *laneSettings) bool {
	timer := time.NewTimer(connectionRetry)
	defer timer.Stop()
	select {
	case <-e.lanes.workersFor(s).jobs.low:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// passGroup is passJobs for jobs of one class, which wait here for permits if alone is set; otherwise it
// passes no more than most. It returns why the jobs that are left in g got no permit, if that is the reason,
// and reports whether it was stopped.
func (e *Engine) passGroup(ctx context.Context, g *group, zone *time.Location, alone bool, most int) (passed int, ends []outbox.Result, waiting []deferredItem, denied *deferral, stopped bool) {
	for left := most; len(g.jobs) > 0; {
		l, err := e.acquirePermits(ctx, g.class, zone, min(left, len(g.jobs)))
		if err != nil && ctx.Err() == nil {
			e.Log.Error("acquire permits failed", "err", err)
		}
		left -= l.n
		for n := l.n; n > 0; n-- {
			j := g.jobs[0]
			j.days = l.days
			r, h, err := e.offerJob(ctx, j)
			if err != nil {
				e.returnPermits(slices.Repeat([]*job{j}, n)...)
				return passed, ends, waiting, nil, true
			}
			g.jobs = g.jobs[1:]
			switch {
			case r != nil:
				e.returnPermits(j)
				ends = append(ends, *r)
			case h != nil:
				e.returnPermits(j)
				waiting = append(waiting, deferredItem{j.item, h})
				e.noteWaits(waiting[len(waiting)-1:])
			default:
				passed++
			}
		}
		if l.denied != nil && err == nil {
			e.noteGrant(g, l)
		}
		switch {
		case len(g.jobs) == 0:
		case l.denied == nil && err == nil && left == 0 && ctx.Err() == nil:
			return passed, ends, waiting, nil, false
		case ctx.Err() != nil || l.denied == nil:
			return passed, ends, waiting, nil, true
		case !alone || l.denied.until.Sub(e.Now()) > maxWaitInMemory:
			return passed, ends, waiting, l.denied, false
		case !e.waitUntil(ctx, l.denied.until):
			return passed, ends, waiting, nil, true
		}
	}
	return passed, ends, waiting, nil, false
}

// delayRest delays the remaining jobs of a group, one interval apart.
func (g *group) delayRest(not *deferral, now time.Time) []deferredItem {
	apart := g.interval()
	list := make([]deferredItem, len(g.jobs))
	for i, j := range g.jobs {
		h := *not
		if limit := now.Add(maxDelay); h.until.Before(limit) {
			h.until = h.until.Add(min(time.Second+time.Duration(i)*apart, limit.Sub(h.until)))
		}
		list[i] = deferredItem{j.item, &h}
	}
	return list
}

// waitUntil waits until a time, and reports false if ctx ended before.
func (e *Engine) waitUntil(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(max(until.Sub(e.Now()), time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// offerJob passes a job to its lane. If the lane cannot be reached, it returns a deferral, or the
// result of a message that has expired.
func (e *Engine) offerJob(ctx context.Context, j *job) (*outbox.Result, *deferral, error) {
	err := e.lanes.offer(ctx, j)
	h, ok := errors.AsType[*deferral](err)
	if !ok {
		return nil, nil, err
	}
	if r, over := expired(j.item, h.down, j.lane.config.RetryMaxAge, e.Now()); over {
		return &r, nil, nil
	}
	return nil, h, nil
}

func itemsOf(jobs []*job) []outbox.Item {
	items := make([]outbox.Item, len(jobs))
	for i, j := range jobs {
		items[i] = j.item
	}
	return items
}
