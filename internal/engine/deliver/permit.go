package deliver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/pace"
	"github.com/packetboat/packetboat/internal/spread"
)

const (
	patience  = 5 * time.Second        // how long messages that only wait for their rate stay in hand
	breath    = 100 * time.Millisecond // until one is looked at again that waits for a provider's connection
	furthest  = 15 * time.Minute       // how far a message is put off that waits for its rate
	laneSpace = "lane:"
	sendSpace = "send:"
)

// class is what messages have in common that share all limits.
type class struct {
	lane     *laneSettings
	throttle *lane.Throttle // of the recipient's provider, or nil
	send     *send
}

func (c class) same(o class) bool {
	return c.lane.config.ID == o.lane.config.ID && c.send.id == o.send.id && c.pattern() == o.pattern()
}

// pattern names the throttle; empty: none.
func (c class) pattern() string {
	if c.throttle == nil {
		return ""
	}
	return c.throttle.Pattern
}

// limits returns the rates that hold for messages of the class.
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

// apart returns how far apart the class lets its messages leave at most.
func (c class) apart() time.Duration {
	longest := time.Millisecond
	if c.throttle != nil && c.throttle.MaxConnections > 0 {
		longest = breath
	}
	for _, l := range c.limits() {
		longest = max(longest, l.Per/time.Duration(l.Max))
	}
	return longest
}

// day returns the limit of the lane's day, and when the next one begins.
func (c class) day(zone *time.Location, now time.Time) (days []pace.Day, next time.Time) {
	today := spread.DayOf(now, zone)
	most, capped := c.lane.config.DayCap(today)
	if !capped {
		return nil, time.Time{}
	}
	_, next = spread.AllDay.Span(today, zone)
	return []pace.Day{{Key: laneSpace + c.lane.config.ID.String(), Day: today, Max: most}}, next
}

// grant says how many messages of a class may leave now, and why the others wait.
type grant struct {
	n      int
	days   []pace.Day // of which each took a permit
	denied *deferral  // nil: all got it
	wait   outbox.Wait
}

// acquirePermits asks the limits for n messages of a class.
func (e *Engine) acquirePermits(ctx context.Context, c class, zone *time.Location, n int) (l grant, err error) {
	now := e.Now()
	if free := e.lanes.run(c.lane).free(c.throttle); free < n {
		n, l.denied = free, &deferral{until: now.Add(breath), reason: "its provider's connections are in use"}
		l.wait = outbox.Wait{Kind: outbox.WaitProviderConnections, Provider: c.pattern(), Reason: "the connections to this provider are in use"}
	}
	days, tomorrow := c.day(zone, now)
	l.n, l.days = n, days
	if len(days) > 0 && n > 0 {
		if l.n, err = e.pacer.TakeDay(ctx, n, days); l.n < n {
			l.denied = &deferral{until: tomorrow, reason: "its lane has carried what it may today"}
			l.wait = outbox.Wait{Kind: outbox.WaitLaneDay, Reason: "the MTA config has carried what it may today"}
		}
	}
	if limits := c.limits(); len(limits) > 0 && l.n > 0 {
		granted, not, bad := e.feeders.shares.take(ctx, e.pacer, c.send.id, l.n, limits, now)
		if granted < l.n {
			l.denied = &deferral{until: not.again, reason: "its lane, provider or broadcast may not go faster"}
			l.wait = c.rateWait(not.limit)
			if len(days) > 0 {
				bad = errors.Join(bad, e.pacer.GiveBackDay(e.abandoned, l.n-granted, days))
			}
		}
		l.n, err = granted, errors.Join(err, bad)
	}
	if err != nil && l.denied != nil { // not for as long as a limit would say
		l.denied = &deferral{until: now.Add(afterError), reason: "acquire permits failed"}
	}
	return l, err
}

// throttle finds for each job what bounds its lane's mail to its recipient's
// provider.
func (e *Engine) throttle(ctx context.Context, jobs []*job) error {
	var domains []string
	for _, j := range jobs {
		if len(j.lane.config.Throttles) > 0 {
			domains = append(domains, domainOf(j.item.Email))
		}
	}
	if len(domains) == 0 {
		return nil
	}
	slices.Sort(domains)
	found, err := e.providers.Of(ctx, slices.Compact(domains)...)
	for _, j := range jobs {
		d := domainOf(j.item.Email)
		j.throttle = j.lane.config.Throttle(string(found[d].Provider), d)
	}
	return err
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// returnPermits gives back the permits of jobs that no server was given.
func (e *Engine) returnPermits(jobs ...*job) {
	for _, j := range jobs {
		if len(j.days) == 0 {
			continue
		}
		if err := e.pacer.GiveBackDay(e.abandoned, 1, j.days); err != nil {
			e.Log.Error("return day permit failed", "lane", j.lane.config.ID, "err", err)
		}
	}
}

// group is messages of one class.
type group struct {
	class
	jobs []*job
}

// groups sorts jobs by class, in their order.
func groups(jobs []*job) []group {
	var list []group
	for _, j := range jobs {
		c := class{j.lane, j.throttle, j.send}
		i := slices.IndexFunc(list, func(g group) bool { return g.same(c) })
		if i < 0 {
			i, list = len(list), append(list, group{class: c})
		}
		list[i].jobs = append(list[i].jobs, j)
	}
	return list
}

// pass hands jobs to their lanes, as fast as limits allow. Those of one class wait
// here for a moment; in a mixture nobody waits for others, and what may not leave
// yet is put off, one behind the other. It returns how many passed, what became of
// others, and who waits.
func (e *Engine) pass(ctx context.Context, jobs []*job) (passed int, ends []outbox.Result, waiting []deferredItem) {
	if len(jobs) == 0 {
		return 0, nil, nil
	}
	if err := e.throttle(ctx, jobs); err != nil {
		e.Log.Error("look up providers failed", "err", err)
	}
	zone := jobs[0].sender.Tenant.Location()
	all := groups(jobs)
	for i := range all {
		n, over, later, stopped := e.passGroup(ctx, &all[i], zone, len(all) == 1)
		passed, ends, waiting = passed+n, append(ends, over...), append(waiting, later...)
		if stopped { // what no group has passed on is as it was
			for _, g := range all[i:] {
				e.release(itemsOf(g.jobs)...)
			}
			break
		}
	}
	return passed, ends, waiting
}

// passGroup is pass for jobs of one class, which wait here if they are alone. It
// reports whether it was stopped; g holds those then that nothing became of.
func (e *Engine) passGroup(ctx context.Context, g *group, zone *time.Location, alone bool) (passed int, ends []outbox.Result, waiting []deferredItem, stopped bool) {
	for len(g.jobs) > 0 {
		l, err := e.acquirePermits(ctx, g.class, zone, len(g.jobs))
		if err != nil && ctx.Err() == nil {
			e.Log.Error("acquire permits failed", "err", err)
		}
		for left := l.n; left > 0; left-- {
			j := g.jobs[0]
			j.days = l.days
			r, h, err := e.offer(ctx, j)
			if err != nil {
				e.returnPermits(slices.Repeat([]*job{j}, left)...)
				return passed, ends, waiting, true
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
		case ctx.Err() != nil || l.denied == nil:
			return passed, ends, waiting, true
		case !alone || l.denied.until.Sub(e.Now()) > patience:
			return passed, ends, append(waiting, g.queue(l.denied, e.Now())...), false
		case !e.wait(ctx, l.denied.until):
			return passed, ends, waiting, true
		}
	}
	return passed, ends, waiting, false
}

// queue puts off what is left of a group, one message behind the other.
func (g *group) queue(not *deferral, now time.Time) []deferredItem {
	apart := g.apart()
	list := make([]deferredItem, len(g.jobs))
	for i, j := range g.jobs {
		h := *not
		if limit := now.Add(furthest); h.until.Before(limit) {
			h.until = h.until.Add(min(time.Second+time.Duration(i)*apart, limit.Sub(h.until)))
		}
		list[i] = deferredItem{j.item, &h}
	}
	return list
}

// wait waits until a moment, and reports whether it came.
func (e *Engine) wait(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(max(until.Sub(e.Now()), time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// offer hands a job to its lane. When the lane cannot be reached, the message
// waits, or has waited long enough.
func (e *Engine) offer(ctx context.Context, j *job) (*outbox.Result, *deferral, error) {
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
