package pace_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/pace"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const today = spread.Day("2026-11-21")

// tester is a test, or one run of a property.
type tester interface {
	rapid.TB
	Context() context.Context
}

func mustTakeDay(t tester, p *pace.Pacer, n int, days ...pace.Day) int {
	t.Helper()
	got, err := p.TakeDay(t.Context(), n, days)
	if err != nil || got < 0 || got > n {
		t.Fatalf("TakeDay(%d, %v) = %d, %v", n, days, got, err)
	}
	return got
}

func mustUsed(t tester, p *pace.Pacer, key string, day spread.Day) int {
	t.Helper()
	got, err := p.Used(t.Context(), key, day)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestADayGrantsItsMaximumAndCountsUse(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		p := w.process("a", 0)
		lane := pace.Day{Key: "lane", Day: today, Max: 1000}
		warm := pace.Day{Key: "warm", Day: today, Max: 30}
		if got := mustTakeDay(t, p, 20, lane, warm, lane); got != 20 {
			t.Fatalf("took %d of both, want 20", got)
		}
		if got := mustTakeDay(t, p, 20, lane, warm); got != 10 {
			t.Fatalf("took %d of both, want the 10 that are left", got)
		}
		if got := mustTakeDay(t, p, 1, lane, warm); got != 0 {
			t.Fatalf("took %d of a full day", got)
		}
		if a, b := mustUsed(t, p, "lane", today), mustUsed(t, p, "warm", today); a != 30 || b != 30 {
			t.Errorf("used %d and %d, want 30 of both: a refusal takes nothing", a, b)
		}
		if err := p.ReturnDay(t.Context(), 4, []pace.Day{lane, warm}); err != nil {
			t.Fatal(err)
		}
		if a, b := mustUsed(t, p, "lane", today), mustUsed(t, p, "warm", today); a != 26 || b != 26 {
			t.Errorf("used %d and %d, want 26 after 4 came back", a, b)
		}
		if got := mustTakeDay(t, p, 9, lane, warm); got != 4 {
			t.Errorf("took %d, want the 4 that came back", got)
		}
		if got := mustTakeDay(t, p, 9, pace.Day{Key: "warm", Day: today.Add(1), Max: 30}); got != 9 {
			t.Errorf("took %d of the next day, want 9", got)
		}
		if got := mustTakeDay(t, p, 9, pace.Day{Key: "warm", Day: today, Max: 35}); got != 5 {
			t.Errorf("took %d after the limit was raised by 5", got)
		}
	})
}

func TestALoweredLimitAppliesToPermitsInHand(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		p := newWorld(t, db).process("a", 0)
		d := pace.Day{Key: "lane", Day: today, Max: 20000}
		for range 50 { // takes 200 at once before long
			mustTakeDay(t, p, 1, d)
		}
		d.Max = 60
		got := 0
		for range 100 {
			got += mustTakeDay(t, p, 1, d)
		}
		if got != 10 {
			t.Errorf("took %d more, want 10", got)
		}
	})
}

func TestABusyDayIsNotWrittenForEachMessage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		a, b := w.process("a", 0), w.process("b", 0)
		d := pace.Day{Key: "lane", Day: today, Max: 20000}
		for range 3 {
			mustTakeDay(t, a, 1, d)
		}
		if used, seen := mustUsed(t, a, "lane", today), mustUsed(t, b, "lane", today); used != 3 || seen <= 3 || seen > 300 {
			t.Errorf("used %d, another process sees %d; want 3 and a portion", used, seen)
		}
		w.pass(2 * time.Minute)
		if err := a.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if seen := mustUsed(t, b, "lane", today); seen != 3 {
			t.Errorf("after a sweep another process sees %d used, want 3", seen)
		}
		mustTakeDay(t, a, 1, d)
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if seen := mustUsed(t, b, "lane", today); seen != 4 {
			t.Errorf("after Close another process sees %d used, want 4", seen)
		}
		w.pass(60 * 24 * time.Hour)
		if err := b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if seen := mustUsed(t, b, "lane", today); seen != 0 {
			t.Errorf("two months later %d are still counted", seen)
		}
	})
}

func TestADayIsNeverExceededWhateverHappensToProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			days := []pace.Day{
				{Key: fmt.Sprint("a", round), Day: today, Max: rapid.SampledFrom([]int{1, 7, 150, 3000}).Draw(t, "a")},
				{Key: fmt.Sprint("b", round), Day: today, Max: rapid.SampledFrom([]int{5, 900}).Draw(t, "b")},
			}
			processes := make([]*pace.Pacer, rapid.IntRange(1, 3).Draw(t, "processes"))
			for i := range processes {
				processes[i] = w.process(fmt.Sprint(round, "-", i), 0)
			}
			var used [2]int
			lost := 0
			for range rapid.IntRange(1, 25).Draw(t, "steps") {
				i := rapid.IntRange(0, len(processes)-1).Draw(t, "process")
				p := processes[i]
				which := rapid.SampledFrom([][]pace.Day{days, days[:1], days[1:]}).Draw(t, "days")
				n := rapid.IntRange(1, 300).Draw(t, "n")
				step := rapid.IntRange(0, 6).Draw(t, "step")
				switch step {
				case 0: // dies
					processes[i] = w.process(fmt.Sprint(round, "-", i), 0)
					lost += 2 * 60
				case 1: // stops cleanly
					if err := p.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					processes[i] = w.process(fmt.Sprint(round, "-", i), 0)
				case 2: // is idle
					w.at = w.at.Add(2 * time.Minute)
					if err := p.Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
				default:
					got := mustTakeDay(t, p, n, which...)
					back := 0
					if step == 3 {
						back = got / 2
						if err := p.ReturnDay(t.Context(), back, which); err != nil {
							t.Fatal(err)
						}
					}
					for j, d := range days {
						if len(which) == 2 || which[0] == d {
							used[j] += got - back
						}
					}
				}
				for j, d := range days {
					if used[j] > d.Max {
						t.Fatalf("%d of %d were used", used[j], d.Max)
					}
				}
			}
			for _, p := range processes {
				if err := p.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for j, d := range days {
				if got := mustUsed(t, w.process("last", 0), d.Key, today); got < used[j] || lost == 0 && got != used[j] {
					t.Fatalf("the row says %d, want %d", got, used[j])
				}
			}
		})
	})
}

func TestManyGoroutinesExhaustOneDay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		d := pace.Day{Key: "lane", Day: today, Max: 500}
		var taken atomic.Int64
		var wg sync.WaitGroup
		p := w.process("a", 0)
		for range 30 {
			wg.Go(func() {
				for range 20 {
					taken.Add(int64(mustTakeDay(t, p, 1, d)))
				}
			})
		}
		wg.Wait()
		if got := taken.Load(); got != 500 {
			t.Errorf("%d were taken, want all 500", got)
		}
	})
}
