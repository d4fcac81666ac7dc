package deliver

import (
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/pace"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// asker is a send that always requests more permits.
type asker struct {
	name id.Send
	n    int           // how many permits it requests at once
	late time.Duration // how long after its time it requests again
	next time.Time
	got  int
}

// However often sends request permits, and however late, a limit is divided evenly between them,
// and few permits are lost.
func TestSendsThatWaitForALimitTakeTurns(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	rapid.Check(t, func(rt *rapid.T) {
		began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		now := began
		pacer := pace.New(db, "node", func() time.Time { return now })
		per := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(rt, "per")
		limits := []pace.Limit{{Key: "lane", Max: rapid.IntRange(2, 400).Draw(rt, "max"), Per: per}}
		slot := max(per/time.Duration(limits[0].Max), time.Millisecond)
		askers := make([]*asker, rapid.IntRange(2, 5).Draw(rt, "sends"))
		for i := range askers {
			askers[i] = &asker{
				name: idtest.Named[id.Send](fmt.Sprint(i)), n: rapid.IntRange(20, 256).Draw(rt, "n"), next: now,
				late: time.Duration(rapid.IntRange(0, 500).Draw(rt, "late")) * time.Millisecond,
			}
		}
		last := askers[len(askers)-1]
		last.next = now.Add(50 * slot) // it begins after the others
		var r fairShare
		var before []int
		end := now.Add(50*slot + max(200*slot, 15*time.Second))
		for now.Before(end) {
			a := slices.MinFunc(askers, func(a, b *asker) int { return a.next.Compare(b.next) })
			if now = a.next; a == last && before == nil {
				for _, a := range askers {
					before = append(before, a.got)
				}
			}
			got, not, err := r.takePermits(t.Context(), pacer, a.name, a.n, limits, now)
			if err != nil {
				rt.Fatal(err)
			}
			a.got += got
			if a.next = now; got < a.n {
				a.next = not.retryAt.Add(a.late)
			}
			if !a.next.After(now) {
				a.next = now.Add(time.Millisecond)
			}
		}
		all := 0
		for i, a := range askers {
			all += a.got
			a.got -= before[i]
		}
		least := slices.MinFunc(askers, func(a, b *asker) int { return a.got - b.got })
		most := slices.MaxFunc(askers, func(a, b *asker) int { return a.got - b.got })
		slack := int(time.Second/slot) + 2
		if most.got > least.got*5/4+slack {
			rt.Errorf("while all waited, %+v got %d and %+v got %d", *most, most.got, *least, least.got)
		}
		if could := int(end.Sub(began) / slot); all < could/3 { // permits of more than a second are not saved up, so some are lost when sends are late
			rt.Errorf("%d permits of %d were used", all, could)
		}
	})
}

// Two sends have mail for a throttled provider. One has no other mail and waits with the next in
// memory; the other has, and delays messages without a permit. They share the provider's rate. The
// test sets the clock.
func TestSendsShareAProvidersRate(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	now := began
	var clock atomic.Pointer[time.Time] // what the workers see of now
	clock.Store(new(now))
	e := &Engine{DB: dbtest.SQLite(t), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return *clock.Load() }, writeCtx: t.Context()}
	e.lanes.engine, e.pacer = e, pace.New(e.DB, "node", e.Now)
	t.Cleanup(e.lanes.closeAll)
	settings := &laneSettings{config: lane.Config{Tenant: idtest.TenantNamed("acme"), ID: idtest.Named[id.Lane]("lane"), Type: lane.Sink, Caps: lane.Caps{MaxConnections: 1}}}
	throttle := &lane.Throttle{Pattern: "example.com", MaxPerMinute: 2400}
	large, small := class{settings, throttle, &send{id: idtest.Named[id.Send]("large")}, nil, warming{}}, class{settings, throttle, &send{id: idtest.Named[id.Send]("small")}, nil, warming{}}
	ask := func(c class, n int) grant {
		t.Helper()
		l, err := e.acquirePermits(t.Context(), c, time.UTC, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	const hand, mails = 50, 60
	left := map[string]int{}
	largeAgain, due := now, slices.Repeat([]time.Time{began.Add(time.Second)}, mails) // when each mail of the small send is due
	for ; left["small"] < mails; now = now.Add(10 * time.Millisecond) {
		clock.Store(new(now))
		if now.Sub(began) > time.Minute {
			t.Fatalf("mails sent after a minute: %v", left)
		}
		if !now.Before(largeAgain) {
			l := ask(large, hand)
			if left["large"] += l.n; l.denied != nil {
				largeAgain = l.denied.until
			}
		}
		if now.Sub(began)%lookEvery != 0 {
			continue
		}
		g := group{class: small}
		later := slices.DeleteFunc(slices.Clone(due), func(at time.Time) bool { return !at.After(now) })
		if len(later) == 0 && left["small"] == 0 {
			left["large"] = 0 // mails sent before the small send began do not count
		}
		for range len(due) - len(later) {
			g.jobs = append(g.jobs, &job{})
		}
		if len(g.jobs) > 0 {
			l := ask(small, len(g.jobs))
			left["small"] += l.n
			g.jobs = g.jobs[l.n:]
			if l.denied != nil {
				for _, p := range g.delayRest(l.denied, now) {
					later = append(later, p.deferral.until)
				}
			}
		}
		due = later
	}
	if left["large"] > 2*mails+40 {
		t.Errorf("%d mails of the small send and %d of the large one were sent meanwhile", mails, left["large"])
	}
}
