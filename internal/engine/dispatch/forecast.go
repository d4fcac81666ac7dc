package dispatch

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/base/turns"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The faults of forecasts that had no turn.
var (
	ErrWaiting = fault.New(fault.Limited, "RATE_LIMITED", "too many forecasts of this tenant are waiting; try again in a few seconds") // details: fault.Wait
	ErrBusy    = fault.New(fault.Unavailable, "UNAVAILABLE", "too many forecasts are waiting; try again in a few seconds")
)

const (
	readTime      = 4 * time.Second // for reading an audience contact by contact
	countTime     = time.Second     // for counting one that takes longer
	forecastTime  = 15 * time.Second
	recentPeriod  = 90 * 24 * time.Hour
	maxForecasts  = 32 // waiting, of all tenants
	maxOfAnyOwner = 4  // of one tenant
)

// Forecast is what a send of a broadcast would be if it was prepared now.
type Forecast struct {
	At            time.Time
	Matched       int            // contacts of the audience
	Excluded      map[string]int // those that get no message, by reason
	Recipients    int
	Variants      []Share[string] // in the order of the broadcast; empty without variants
	Senders       []Share[Sender]
	Plan          []broadcast.ForecastDay // nil: no days are planned
	HeldBack      int
	StartsAt      time.Time
	FinishesAt    *time.Time // nil: unknown
	LargestRecent int        // recipients of the largest send of 90 days
	Estimated     bool       // the audience is too large to read all of it
}

// Share is the expected number of recipients of one of several things.
type Share[T any] struct {
	Of       T
	Expected int
}

// Sender is an identity and the lane of its messages; zero: several or none.
type Sender struct {
	Identity id.Identity
	Lane     id.Lane
}

// Forecaster forecasts sends by the code that prepares them. It writes nothing. It is safe for
// concurrent use.
type Forecaster struct {
	DB  *sqldb.DB
	Now func() time.Time

	// Contacts is how many contacts are read before the rest is estimated; 0: as many as can be read
	// in four seconds.
	Contacts int
	Page     int // contacts read at once; 0: 2000

	turns turns.Turns[id.Tenant]
}

// NewForecaster returns a Forecaster that uses at most half of the processors.
func NewForecaster(db *sqldb.DB, now func() time.Time) *Forecaster {
	return &Forecaster{DB: db, Now: now, turns: turns.Turns[id.Tenant]{
		Slots: max(1, runtime.GOMAXPROCS(0)/2), MaxWaiting: maxForecasts, MaxOwnerWaiting: maxOfAnyOwner,
	}}
}

// Forecast returns the forecast of a broadcast. If it is being sent, it is that of its messages, with a
// plan for those that were not sent yet.
func (f *Forecaster) Forecast(ctx context.Context, b broadcast.Broadcast) (*Forecast, error) {
	ctx, cancel := fault.Within(ctx, forecastTime)
	defer cancel()
	switch err := f.turns.Acquire(ctx, b.Tenant); {
	case errors.Is(err, turns.ErrOwnerBusy):
		return nil, ErrWaiting.With(fault.Wait{Seconds: 5})
	case errors.Is(err, turns.ErrBusy):
		return nil, ErrBusy
	case err != nil:
		return nil, fault.Timely(ctx, err)
	}
	defer f.turns.Release(b.Tenant)
	out, err := f.forecast(ctx, b)
	return out, fault.Timely(ctx, err)
}

func (f *Forecaster) forecast(ctx context.Context, b broadcast.Broadcast) (*Forecast, error) {
	t, err := tenant.ByID(ctx, f.DB, b.Tenant)
	if err != nil {
		return nil, err
	}
	now := f.Now()
	out := &Forecast{At: now, StartsAt: now, Excluded: map[string]int{}}
	if out.LargestRecent, err = broadcast.LargestRecent(ctx, f.DB, b.Tenant, now.Add(-recentPeriod)); err != nil {
		return nil, err
	}
	run, err := broadcast.LoadRun(ctx, f.DB, b.Tenant, b.ID)
	if err != nil {
		return nil, err
	}
	if prepared := run.Planning != nil && run.Planning.Stage != broadcast.Collect || run.PreparedAt != nil; prepared {
		return out, f.rest(ctx, t, b, run, out)
	}
	if b.ScheduledAt != nil && b.ScheduledAt.After(now) {
		out.StartsAt = *b.ScheduledAt
	}
	return out, f.ahead(ctx, t, b, out)
}

// ahead forecasts a send that was not prepared yet.
func (f *Forecaster) ahead(ctx context.Context, t tenant.Tenant, b broadcast.Broadcast, out *Forecast) error {
	facts, err := broadcast.LoadPreconditions(ctx, f.DB, b)
	if err != nil {
		return err
	}
	if waits, ok := facts.AwaitsDomain(b); ok {
		facts = waits
	}
	consent := contact.Consent{}
	if facts.EmailType != nil {
		consent = contact.Consent{TypeKey: facts.EmailType.Key, Category: facts.EmailType.Category}
	}
	a, err := f.allocator(ctx, b, facts)
	if err != nil {
		return err
	}
	n, err := f.read(ctx, a, consent)
	if err != nil {
		return err
	}
	out.Matched, out.Excluded, out.Estimated = n.matched, n.excluded, n.more
	if n.more {
		if err := f.estimate(ctx, b, &n, out); err != nil {
			return err
		}
	}
	for _, r := range n.routes {
		out.Recipients += r
	}
	for _, v := range b.Variants {
		out.Variants = append(out.Variants, Share[string]{v.ID, n.variants[v.ID]})
	}
	lanes := map[id.Lane]int{}
	var routes []route.Route
	for r, count := range n.routes {
		lanes[r.Lane] += count
		if !r.Identity.IsZero() {
			out.Senders = append(out.Senders, Share[Sender]{r, count})
		}
		routes = append(routes, route.Route{Identity: r.Identity, Lane: r.Lane})
	}
	out.sortSenders()
	if needsPlan(b, facts, append(facts.Routes(b), routes...), spread.DayOf(out.StartsAt, t.Location())) {
		plan, err := broadcast.PlanAhead(ctx, f.DB, t, b, lanes, routes, out.StartsAt, out.At)
		out.Plan, out.HeldBack, out.FinishesAt = optional.List(plan.Days), plan.HeldBack, plan.FinishesAt
		return err
	}
	if perHour := b.Delivery.PerHour; perHour > 0 && out.Recipients > 0 {
		out.FinishesAt = new(out.StartsAt.Add(time.Duration(float64(out.Recipients) / float64(perHour) * float64(time.Hour))))
	}
	return nil
}

// allocator returns the allocator for the routes that b would use. Unlike newAllocator it stores nothing.
func (f *Forecaster) allocator(ctx context.Context, b broadcast.Broadcast, facts broadcast.Preconditions) (*allocator, error) {
	e := &Engine{DB: f.DB, Now: f.Now}
	a := &allocator{engine: e, b: b, recorded: facts.Routes(b), down: map[id.Lane]bool{}}
	if len(a.recorded) > 0 {
		if err := e.loadCapacities(ctx, b, facts, a.recorded); err != nil {
			return nil, err
		}
	}
	a.picker = route.NewPicker(a.recorded)
	states, err := lane.StatesOf(ctx, f.DB, b.Tenant, route.Lanes(a.recorded))
	for l, health := range states {
		a.down[l] = health.State == lane.Down
	}
	return a, err
}

// numbers are what was read of an audience.
type numbers struct {
	matched  int
	excluded map[string]int
	variants map[string]int // recipients by variant
	routes   map[Sender]int // and by route
	more     bool           // there are more contacts
}

// read reads the audience, as far as time allows.
func (f *Forecaster) read(ctx context.Context, a *allocator, consent contact.Consent) (numbers, error) {
	n := numbers{excluded: map[string]int{}, variants: map[string]int{}, routes: map[Sender]int{}}
	if len(a.b.Include) == 0 {
		return n, nil
	}
	brief, cancel := fault.Within(ctx, readTime)
	defer cancel()
	size := cmp.Or(f.Page, pageSize)
	audience := segment.Audience{Tenant: a.b.Tenant, Include: a.b.Include, Exclude: a.b.Exclude}
	for after := (id.Contact{}); ; {
		if f.Contacts > 0 && n.matched >= f.Contacts {
			n.more = true
			return n, nil
		}
		ids, err := audience.After(brief, f.DB, after, size, f.Now())
		var chosen []recipient
		var excluded map[string]int
		if err == nil {
			chosen, excluded, err = a.recipients(brief, consent, ids)
		}
		if err != nil {
			if ctx.Err() == nil && errors.Is(fault.Timely(brief, err), fault.ErrDeadline) {
				n.more = true
				return n, nil
			}
			return n, err
		}
		n.matched += len(ids)
		for reason, count := range excluded {
			n.excluded[reason] += count
		}
		for _, r := range chosen {
			n.variants[r.variant]++
			n.routes[Sender{r.Identity, r.Lane}]++
		}
		if len(ids) < size {
			return n, nil
		}
		after = ids[len(ids)-1]
	}
}

// estimate extrapolates what was read to the whole audience.
func (f *Forecaster) estimate(ctx context.Context, b broadcast.Broadcast, n *numbers, out *Forecast) error {
	matched, err := f.count(ctx, b)
	if err != nil {
		return err
	}
	out.Matched = max(matched, n.matched)
	if n.matched == 0 { // nothing was read in time
		n.routes = map[Sender]int{{}: out.Matched}
		weights := map[string]int{}
		for _, v := range b.Variants {
			weights[v.ID] = int(math.Ceil(v.Weight * 1000))
		}
		n.variants = scale(weights, out.Matched)
		return nil
	}
	all := map[string]int{"": n.matched}
	for reason, count := range n.excluded {
		all[reason] = count
		all[""] -= count
	}
	all = scale(all, out.Matched)
	recipients := all[""]
	delete(all, "")
	out.Excluded = all
	n.variants, n.routes = scale(n.variants, recipients), scale(n.routes, recipients)
	return nil
}

// count returns the number of contacts of an audience, or if counting takes too long, the sum of the
// numbers that were counted last for its segments.
func (f *Forecaster) count(ctx context.Context, b broadcast.Broadcast) (int, error) {
	brief, cancel := fault.Within(ctx, countTime)
	defer cancel()
	audience := segment.Audience{Tenant: b.Tenant, Include: b.Include, Exclude: b.Exclude}
	n, err := audience.Count(brief, f.DB, f.Now())
	if err == nil || ctx.Err() != nil || !errors.Is(fault.Timely(brief, err), fault.ErrDeadline) {
		return n, err
	}
	list, err := segment.ByIDs(ctx, f.DB, b.Tenant, b.Include)
	sum := 0
	for _, s := range list {
		if s.MembersAll != nil {
			sum += *s.MembersAll
		}
	}
	return sum, err
}

// scale returns numbers with the given sum in the same proportions, by the largest-remainder method. A
// tie goes to the greater number.
func scale[K comparable](numbers map[K]int, total int) map[K]int {
	type part struct {
		key  K
		n    int
		rest int
	}
	sum := 0
	for _, n := range numbers {
		sum += n
	}
	out := make(map[K]int, len(numbers))
	if sum == 0 {
		return out
	}
	var parts []part
	left := total
	for k, n := range numbers {
		out[k] = n * total / sum
		left -= out[k]
		parts = append(parts, part{k, n, n * total % sum})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.rest, a.rest), cmp.Compare(b.n, a.n)) })
	for _, p := range parts[:left] {
		out[p.key]++
	}
	return out
}

// rest forecasts a send whose messages are in the outbox.
func (f *Forecaster) rest(ctx context.Context, t tenant.Tenant, b broadcast.Broadcast, run broadcast.Run, out *Forecast) error {
	send, err := outbox.Load(ctx, f.DB, b.Tenant, b.Send)
	if err != nil {
		return err
	}
	if b.StartedAt != nil {
		out.StartsAt = *b.StartedAt
	}
	out.Recipients, out.Matched, out.HeldBack = send.Total, send.Total, send.HeldBack
	for reason, n := range run.Excluded {
		out.Excluded[reason] = n
		out.Matched += n
	}
	mixes, err := outbox.LoadMixes(ctx, f.DB, b.Tenant, b.Send)
	if err != nil {
		return err
	}
	terms, err := outbox.LoadTerms(ctx, f.DB, b.Tenant, b.Send)
	if err != nil {
		return err
	}
	variants, senders := map[string]int{}, map[id.Identity]int{}
	for _, m := range mixes {
		variants[m.Variant] += m.Total
		senders[m.Identity] += m.Total
	}
	for _, v := range b.Variants {
		out.Variants = append(out.Variants, Share[string]{v.ID, variants[v.ID]})
	}
	for identity, n := range senders {
		s := Sender{Identity: identity}
		for i, r := range slices.DeleteFunc(slices.Clone(terms.Routes), func(r route.Route) bool { return r.Identity != identity }) {
			if s.Lane = r.Lane; i > 0 {
				s.Lane = id.Lane{} // by several lanes
				break
			}
		}
		out.Senders = append(out.Senders, Share[Sender]{s, n})
	}
	out.sortSenders()
	if run.Planning == nil {
		p, err := broadcast.LoadProgress(ctx, f.DB, b, out.At)
		if p != nil {
			out.FinishesAt = p.ETA
		}
		return err
	}
	brief, cancel := fault.Within(ctx, readTime)
	defer cancel()
	plan, err := broadcast.PlanAgain(brief, f.DB, t, b, run, out.At)
	if err != nil && ctx.Err() == nil && errors.Is(fault.Timely(brief, err), fault.ErrDeadline) {
		return f.present(ctx, b, out)
	}
	out.Plan, out.FinishesAt = optional.List(plan.Days), plan.FinishesAt
	out.HeldBack += plan.HeldBack
	return err
}

// present sets the plan that a send has at present, for one with too many messages to plan them again.
func (f *Forecaster) present(ctx context.Context, b broadcast.Broadcast, out *Forecast) error {
	out.Estimated, out.Plan = true, []broadcast.ForecastDay{}
	p, err := broadcast.LoadProgress(ctx, f.DB, b, out.At)
	if err != nil || p == nil {
		return err
	}
	out.FinishesAt = p.ETA
	for _, d := range p.Plan {
		if d.Status != broadcast.DayDone {
			out.Plan = append(out.Plan, broadcast.ForecastDay{Day: d.Day.Day, Planned: max(0, d.Planned-d.Sent), Status: d.Status})
		}
	}
	return nil
}

func (f *Forecast) sortSenders() {
	slices.SortFunc(f.Senders, func(a, b Share[Sender]) int {
		return cmp.Or(cmp.Compare(b.Expected, a.Expected), id.Compare(a.Of.Identity, b.Of.Identity), id.Compare(a.Of.Lane, b.Of.Lane))
	})
}
