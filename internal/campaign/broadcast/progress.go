package broadcast

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Phase is what a send is currently doing.
type Phase string

// The phases of a send.
const (
	PhasePreparing Phase = "preparing" // the audience is being added to the outbox
	PhaseSending   Phase = "sending"
	PhaseWaiting   Phase = "waiting" // for the next batch
	PhasePaused    Phase = "paused"
	PhaseDone      Phase = "done"
)

// Progress is the progress of a send.
type Progress struct {
	outbox.Sums
	Phase       Phase
	Excluded    map[string]int // contacts of the audience that get no message, by reason
	Percent     int            // of recipients whose message was sent
	PerMinute   int            // current rate; over days: since today's first batch; at the end: the average
	ETA         *time.Time     // nil: unknown
	NextBatchAt *time.Time     // nil: no further batch
	Plan        []PlanDay      // nil: not spread over days
	LastSendAt  *time.Time
	Limit       *outbox.Wait // the limit that delays due messages; nil: none known
	Run         Run
	Copies      SeedCopies
}

// PlanDay is a day of a send over days.
type PlanDay struct {
	outbox.Day
	Status DayStatus
}

// DayStatus is the state of a day of a plan.
type DayStatus string

// The statuses of days.
const (
	DayDone    DayStatus = "done"
	DayToday   DayStatus = "today"
	DayPlanned DayStatus = "planned"
	DaySkipped DayStatus = "skipped"
)

// LoadProgress returns the progress of b, or nil if its preparation has not begun.
func LoadProgress(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) (*Progress, error) {
	run, err := LoadRun(ctx, db, b.Tenant, b.ID)
	if err != nil || run.Broadcast.IsZero() {
		return nil, err
	}
	send, err := outbox.Load(ctx, db, b.Tenant, b.Send)
	if err != nil {
		return nil, err
	}
	p := progressOf(b, run, send, now)
	if p.Copies, err = run.loadSeedCopies(ctx, db); err != nil {
		return nil, err
	}
	if p.Phase == PhaseSending && !b.Delivery.Spread() {
		if err := p.addSpeed(ctx, db, b, now); err != nil {
			return nil, err
		}
	}
	switch {
	case run.Planning != nil:
		err = p.addPlan(ctx, db, b, now)
	case p.Phase == PhaseSending && p.Deferred > 0:
		err = p.addRetries(ctx, db, b, now)
	}
	if err != nil {
		return nil, err
	}
	if (p.Phase == PhaseSending || p.Phase == PhaseWaiting) && p.Waiting > 0 {
		if p.Limit, err = limitOf(ctx, db, b, now); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// limitOf returns what delays messages of b, or nil.
func limitOf(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) (*outbox.Wait, error) {
	since, err := hold.Since(ctx, db)
	if err != nil {
		return nil, err
	}
	if since != nil {
		return &outbox.Wait{Tenant: b.Tenant, Send: b.Send, Kind: outbox.WaitHold, Until: now.Add(hold.PollInterval), Reason: hold.Reason}, nil
	}
	return outbox.LoadWait(ctx, db, b.Tenant, b.Send, now)
}

func progressOf(b Broadcast, run Run, send outbox.Progress, now time.Time) Progress {
	p := Progress{Sums: send.Sums, Excluded: run.Excluded, LastSendAt: send.LastSendAt, Run: run, Percent: Percent(send.Sums)}
	switch {
	case b.Status.Ended():
		p.Phase = PhaseDone
	case b.Status == Paused:
		p.Phase = PhasePaused
	case run.PreparedAt == nil && (run.Planning == nil || !run.Planning.Again):
		p.Phase = PhasePreparing
	default:
		p.Phase = PhaseSending
	}
	if p.Phase == PhaseDone && send.LastSendAt != nil && run.PreparedAt != nil {
		p.setRate(p.average(p.Sent, *run.PreparedAt), now)
	}
	return p
}

// average returns the messages per second from a start time to the last send, given the number sent
// since then.
func (p *Progress) average(sent int, since time.Time) float64 {
	return float64(sent) / max(p.LastSendAt.Sub(since), time.Second).Seconds()
}

// addSpeed adds the current rate of a send.
func (p *Progress) addSpeed(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) error {
	samples, err := outbox.LoadSamples(ctx, db, b.Tenant, b.Send, now.Add(-speedWindow))
	if err != nil {
		return err
	}
	var begin time.Time
	if p.Run.PreparedAt != nil && (p.Run.Planning == nil || !p.Run.Planning.Again) { // nothing was sent before the preparation ended
		begin = *p.Run.PreparedAt
	}
	perSecond, _ := currentRate(samples, begin, outbox.Sample{At: now, Sent: p.Sent})
	p.setRate(perSecond, now)
	return nil
}

// addPlan adds the data of a send's plan: its days, the next batch and the time of the last one.
func (p *Progress) addPlan(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) error {
	t, err := tenant.ByID(ctx, db, b.Tenant)
	if err != nil {
		return err
	}
	days, err := outbox.Days(ctx, db, b.Tenant, b.Send)
	if err != nil {
		return err
	}
	zone := t.Location()
	today := spread.DayOf(now, zone)
	if b.Delivery.Spread() {
		p.Plan = planDays(b, p.Run.Planning.Start, days, today)
	}
	if b.Status != Sending {
		p.PerMinute, p.ETA = 0, nil
		return nil
	}
	at, err := p.batches(ctx, db, t, b, now)
	if err != nil {
		return err
	}
	next, last, overdue := at.Next, at.Last, at.Overdue
	p.NextBatchAt = next
	if p.Phase == PhaseSending && !overdue && next != nil {
		p.Phase = PhaseWaiting
	}
	if !b.Delivery.Spread() {
		if p.Phase == PhaseWaiting {
			p.PerMinute, p.ETA = 0, nil
		}
		p.lastBatch(last)
		return nil
	}
	from, _ := t.Settings.Window().Span(today, zone)
	if from.Before(p.Run.Planning.At) && p.Run.Planning.At.Before(now) && !p.Run.Planning.Again {
		from = p.Run.Planning.At
	}
	if i := slices.IndexFunc(days, func(d outbox.Day) bool { return d.Day == today }); i >= 0 && p.LastSendAt != nil && p.LastSendAt.After(from) {
		p.setRate(p.average(days[i].Sent, from), now)
	}
	p.lastBatch(last)
	return nil
}

// addRetries sets the ETA of a send without a plan to at least its last known next attempt. While other
// messages wait at an unknown rate, it stays unknown.
func (p *Progress) addRetries(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) error {
	at, err := outbox.Batches(ctx, db, b.Tenant, b.Send, now)
	if err == nil && (p.ETA != nil || !at.Overdue) {
		p.lastBatch(at.Last)
	}
	return err
}

// batches returns the batch times of a send. At stage Assign they come from the plan, since most
// messages still have the due times of the previous one.
func (p *Progress) batches(ctx context.Context, db *sqldb.DB, t tenant.Tenant, b Broadcast, now time.Time) (outbox.Times, error) {
	plan := p.Run.Planning
	given, err := outbox.Batches(ctx, db, b.Tenant, b.Send, now)
	if err != nil || plan.Stage != Assign {
		return given, err
	}
	var at outbox.Times
	if plan.SlotsCreated {
		at, err = outbox.SlotTimes(ctx, db, b.Tenant, b.Send, now)
	} else {
		at = CalendarOf(t, b, plan.At).times(*plan, now)
	}
	at.Overdue = at.Overdue || given.Overdue
	if plan.Missed { // messages of future days keep their due times
		at = at.Add(given.Next, now).Add(given.Last, now)
	}
	return at, err
}

// lastBatch sets the ETA to at least the time of the last batch.
func (p *Progress) lastBatch(at *time.Time) {
	if at != nil && (p.ETA == nil || p.ETA.Before(*at)) {
		p.ETA = at
	}
}

// planDays returns the days of a send: those of its window, those added later, and skipped days in
// between.
func planDays(b Broadcast, start spread.Day, days []outbox.Day, today spread.Day) []PlanDay {
	carried := map[spread.Day]outbox.Day{}
	window, _ := b.Delivery.Days(start)
	last := start
	for _, d := range days {
		carried[d.Day] = d
		last = max(last, d.Day)
	}
	if len(window) > 0 {
		last = max(last, window[len(window)-1])
	}
	plan := []PlanDay{}
	for day := start; day <= last; day = day.Add(1) {
		d, planned := carried[day]
		d.Day = day
		switch {
		case slices.Contains(b.Delivery.Skipped, day) && d.Planned == 0 && d.Sent == 0:
			plan = append(plan, PlanDay{d, DaySkipped})
		case !planned && !slices.Contains(window, day), b.Status.Ended() && day > today:
		case day < today || b.Status.Ended():
			plan = append(plan, PlanDay{d, DayDone})
		case day == today:
			plan = append(plan, PlanDay{d, DayToday})
		default:
			plan = append(plan, PlanDay{d, DayPlanned})
		}
	}
	return plan
}

// Percent returns the percentage of messages sent, rounded.
func Percent(s outbox.Sums) int {
	if s.Total == 0 {
		return 0
	}
	return int(math.Round(100 * float64(s.Sent) / float64(s.Total)))
}
