package pace_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/senders/pace"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// node is one of several processes in a world.
type node struct {
	*pace.Pacer
	ahead time.Duration // error of its clock
	again time.Time
	got   int
}

func (w *world) nodes(prefix string, aheads ...time.Duration) []*node {
	list := make([]*node, len(aheads))
	for i, a := range aheads {
		list[i] = &node{Pacer: w.process(fmt.Sprint(prefix, i), a), ahead: a, again: w.at}
	}
	return list
}

// checkLimit fails if more was taken than the package documents.
func checkLimit(t rapid.TB, l pace.Limit, taken []time.Time) {
	t.Helper()
	most := l.Max
	if l.Per < time.Minute {
		most += max(int(time.Duration(l.Max)*time.Second/l.Per), 1)
	}
	for i := most; i < len(taken); i++ {
		// The database keeps microseconds.
		if d := taken[i].Sub(taken[i-most]).Round(time.Microsecond); d < l.Per {
			t.Fatalf("%+v: %d permits within %v", l, most+1, d)
		}
	}
}

func TestNoScheduleOfProcessesExceedsALimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			limits := rapid.SliceOfNDistinct(rapid.SampledFrom([]pace.Limit{
				{"", 10, time.Second}, {"", 7, 3 * time.Second}, {"", 1, time.Second}, {"", 500, time.Second},
				{"", 6, time.Minute}, {"", 90, time.Minute}, {"", 4000, time.Hour},
			}), 1, 3, func(l pace.Limit) time.Duration { return l.Per }).Draw(t, "limits")
			for i := range limits {
				limits[i].Key = fmt.Sprint("round", round)
			}
			skews := []time.Duration{0}
			if db.Dialect() == sqldb.Postgres {
				skews = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
					return time.Duration(rapid.Int64Range(-5000, 5000).Draw(t, "ms")) * time.Millisecond
				}), 1, 4).Draw(t, "clocks")
			}
			nodes := w.nodes(fmt.Sprint(round, "-"), skews...)
			var taken []time.Time
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				n := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")]
				got, again := w.take(n.Pacer, n.ahead, rapid.IntRange(1, 30).Draw(t, "n"), limits...)
				for range got {
					taken = append(taken, w.at)
				}
				switch rapid.IntRange(0, 4).Draw(t, "then") {
				case 0:
					w.pass(max(again.Sub(w.at), 0))
				case 1:
					w.pass(time.Duration(rapid.Int64Range(1, 3000).Draw(t, "ms")) * time.Millisecond)
				case 2: // it dies and restarts
					*n = *w.nodes(fmt.Sprint(round, "-"), n.ahead)[0]
					if db.Dialect() == sqldb.SQLite {
						taken = nil // a restart may be followed by a burst
					}
				}
			}
			for _, l := range limits {
				checkLimit(t, l, taken)
			}
		})
	})
}

// TestHungryProcessesShareALimitAndUseItUp has each process ask again at the time that Acquire
// returned.
func TestHungryProcessesShareALimitAndUseItUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Postgres(t))
	for _, tt := range []struct {
		l     pace.Limit
		nodes int
		lasts time.Duration
	}{
		{pace.Limit{Key: "lane", Max: 20, Per: time.Second}, 1, 10 * time.Second},
		{pace.Limit{Key: "lane", Max: 40, Per: time.Second}, 3, 10 * time.Second},
		{pace.Limit{Key: "gmail", Max: 60, Per: time.Minute}, 3, 3 * time.Minute},
		{pace.Limit{Key: "strict", Max: 6, Per: time.Minute}, 2, 15 * time.Minute},
	} {
		start := w.at
		skews := make([]time.Duration, tt.nodes)
		for i := range skews {
			skews[i] = time.Duration(i*700) * time.Millisecond
		}
		nodes := w.nodes(tt.l.Key, skews...)
		var taken []time.Time
		for w.at.Sub(start) < tt.lasts {
			next := w.at.Add(time.Hour)
			for _, n := range nodes {
				for !n.again.After(w.at) {
					var got int
					got, n.again = w.take(n.Pacer, n.ahead, 5, tt.l)
					n.got += got
					for range got {
						taken = append(taken, w.at)
					}
				}
				if n.again.Before(next) {
					next = n.again
				}
			}
			w.pass(next.Sub(w.at))
		}
		checkLimit(t, tt.l, taken)
		could := int(tt.lasts * time.Duration(tt.l.Max) / tt.l.Per)
		if len(taken) < could*95/100-1 {
			t.Errorf("%+v: %d processes took %d in %v, want nearly %d", tt.l, tt.nodes, len(taken), tt.lasts, could)
		}
		for i, n := range nodes {
			if n.got < could/tt.nodes/2 {
				t.Errorf("%+v: process %d of %d took %d of %d", tt.l, i, tt.nodes, n.got, len(taken))
			}
		}
	}
}

// TestManyGoroutinesOnARealClock takes a number of permits in real time.
func TestManyGoroutinesOnARealClock(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := pace.Limit{Key: "lane", Max: 200, Per: time.Second}
		processes := 1
		if db.Dialect() == sqldb.Postgres {
			processes = 2
		}
		const enough = 300 // more than a burst
		start := time.Now()
		var taken atomic.Int64
		var wg sync.WaitGroup
		for i := range processes {
			p := pace.New(db, fmt.Sprint(i), time.Now)
			for range 50 {
				wg.Go(func() {
					for taken.Load() < enough {
						n, again, err := p.Acquire(t.Context(), 1, []pace.Limit{l})
						if err != nil {
							t.Error(err)
							return
						}
						taken.Add(int64(n))
						if n == 0 {
							<-time.After(time.Until(again))
						}
					}
				})
			}
		}
		wg.Wait()
		most := int64(time.Since(start).Seconds()*200) + 200 + 1
		if got := taken.Load(); got > most {
			t.Errorf("%d were taken in %v, want at most %d", got, time.Since(start), most)
		}
	})
}
