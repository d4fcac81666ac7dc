package pace_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/senders/pace"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func mustSlots(t tester, p *pace.Pacer, key string, want, limit int) int {
	t.Helper()
	got, err := p.Slots(t.Context(), key, want, limit)
	if err != nil || got < 0 || got > want {
		t.Fatalf("Slots(%s, %d, %d) = %d, %v", key, want, limit, got, err)
	}
	return got
}

func TestAProcessAloneHasTheSlotsItWants(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		p := w.process("a", 0)
		for _, tt := range []struct{ want, limit, granted int }{
			{3, 5, 3}, {9, 5, 5}, {9, 2, 2}, {0, 2, 0}, {4, 0, 0}, {2, 2, 2},
		} {
			if got := mustSlots(t, p, "k", tt.want, tt.limit); got != tt.granted {
				t.Errorf("Slots(%d of %d) = %d, want %d", tt.want, tt.limit, got, tt.granted)
			}
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := mustSlots(t, w.process("b", 0), "k", 2, 2); got != 2 {
			t.Errorf("after Close another process got %d, want 2", got)
		}
	})
}

func TestSlotsMoveToThoseWithLess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Postgres(t))
	a, b, c := w.process("a", 0), w.process("b", time.Minute), w.process("c", -time.Minute)
	ask := func(p *pace.Pacer, want, granted int) {
		t.Helper()
		if got := mustSlots(t, p, "k", want, 10); got != granted {
			t.Errorf("got %d slots, want %d", got, granted)
		}
	}
	ask(a, 20, 10)
	ask(b, 20, 0) // nothing is free
	ask(a, 20, 5) // a must give up half,
	ask(b, 20, 0) // but may still be using it
	ask(a, 20, 5)
	ask(b, 20, 5)
	ask(c, 2, 0)
	ask(a, 20, 4)
	ask(b, 20, 4)
	ask(a, 20, 4)
	ask(b, 20, 4)
	ask(c, 2, 2)
	ask(b, 0, 0) // returns its slots at once
	ask(a, 20, 8)
	w.pass(20 * time.Second)
	ask(c, 2, 2)
	w.pass(11 * time.Second) // a has not renewed for 31 seconds
	ask(c, 20, 10)
	ask(a, 20, 0)
}

func TestWithFewerSlotsThanProcessesTheyTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Postgres(t))
	had := map[int]int{}
	nodes := w.nodes("n", 0, 0, 0)
	for range 60 {
		w.pass(10 * time.Second)
		sum := 0
		for i, n := range nodes {
			n.got = mustSlots(t, n.Pacer, "k", 3, 1)
			had[i] += n.got
			sum += n.got
		}
		if sum > 1 {
			t.Fatalf("%d slots of 1 are held", sum)
		}
	}
	for i := range nodes {
		if had[i] < 10 {
			t.Errorf("process %d had the slot in %d of 60 rounds, want about 20", i, had[i])
		}
	}
}

func TestNoSeriesOfCallsHandsOutTooManySlots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Postgres(t))
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		key := fmt.Sprint("k", round)
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		nodes := w.nodes(key+"-", make([]time.Duration, rapid.IntRange(1, 4).Draw(t, "processes"))...)
		for _, n := range nodes {
			n.again = w.at // when its lease ends
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "rest") == 0 {
				w.pass(time.Duration(rapid.IntRange(1, 20).Draw(t, "s")) * time.Second)
			}
			n := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "process")]
			before := n.got
			if !w.at.Before(n.again) {
				before = 0
			}
			want := rapid.IntRange(0, 15).Draw(t, "want")
			n.got, n.again = mustSlots(t, n.Pacer, key, want, limit), w.at.Add(15*time.Second)
			sum := 0
			for _, o := range nodes {
				if o != n && w.at.Before(o.again) {
					sum += o.got
				}
			}
			if sum += max(n.got, min(before, want)); sum > limit {
				t.Fatalf("%d slots of %d may be in use", sum, limit)
			}
		}
		// A few rounds later the shares are even.
		for range 4 {
			for _, n := range nodes {
				n.got = mustSlots(t, n.Pacer, key, 15, limit)
			}
		}
		sum := 0
		for _, n := range nodes {
			sum += n.got
			if share := limit / len(nodes); n.got < share {
				t.Fatalf("a process has %d slots of %d among %d", n.got, limit, len(nodes))
			}
		}
		if sum != limit {
			t.Fatalf("%d slots of %d are in use", sum, limit)
		}
	})
}

// sharer is a process that opens connections for several keys when it has slots, and closes them when it likes.
type sharer struct {
	*pace.Pacer
	granted, open []int
	ends          time.Time // of the last answer
}

func TestConnectionsThatStayOpenKeepTheirSlots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Postgres(t))
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		const keys = 3
		limits := rapid.SliceOfN(rapid.IntRange(1, 8), keys, keys).Draw(t, "limits")
		all := make([]*sharer, rapid.IntRange(1, 3).Draw(t, "processes"))
		for i := range all {
			all[i] = &sharer{w.process(fmt.Sprint(round, "-", i), 0), make([]int, keys), make([]int, keys), w.at}
		}
		request := func(p *sharer, some []int, want int) {
			t.Helper()
			list := make([]pace.Request, len(some))
			for i, k := range some {
				n := max(want, 0)
				list[i] = pace.Request{Key: fmt.Sprint(round, "k", k), Want: n, Held: p.open[k], Limit: limits[k]}
				p.granted[k] = min(p.granted[k], n)
			}
			got, err := p.SlotsOf(t.Context(), list)
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range some {
				if got[i] < 0 || got[i] > list[i].Want {
					t.Fatalf("%d slots for %+v", got[i], list[i])
				}
				p.granted[k] = got[i]
			}
		}
		every := []int{2, 0, 1} // in any order
		for range rapid.IntRange(10, 80).Draw(t, "steps") {
			p := all[rapid.IntRange(0, len(all)-1).Draw(t, "process")]
			switch k := rapid.IntRange(0, keys-1).Draw(t, "key"); rapid.IntRange(0, 7).Draw(t, "step") {
			default:
				if !w.at.Before(p.ends) { // it lost everything: its connections end, as those of a dead process
					p.granted, p.open = make([]int, keys), make([]int, keys)
				}
				request(p, every, rapid.SampledFrom([]int{0, 1, 3, 10, 10, 10}).Draw(t, "want"))
				p.ends = w.at.Add(15 * time.Second)
			case 1, 2:
				if w.at.Before(p.ends) {
					p.open[k] = max(p.open[k], p.granted[k])
				}
			case 3:
				p.open[k] = rapid.IntRange(0, p.open[k]).Draw(t, "open")
			case 4:
				w.pass(time.Duration(rapid.IntRange(1, 16).Draw(t, "s")) * time.Second)
			}
			for k, limit := range limits {
				sum := 0
				for _, o := range all {
					if w.at.Before(o.ends) {
						sum += max(o.open[k], o.granted[k])
					}
				}
				if sum > limit {
					t.Fatalf("%d connections for key %d may be open, %d are allowed", sum, k, limit)
				}
			}
		}
		// When all connections of the others are closed, one process can have all slots.
		for _, p := range all {
			clear(p.open)
			request(p, every, 0)
		}
		request(all[0], every, 10)
		for k, limit := range limits {
			if all[0].granted[k] != limit {
				t.Fatalf("%d slots of %d are free after all were returned", all[0].granted[k], limit)
			}
		}
	})
}

func TestRequestsForManyKeysDoNotBlockEachOther(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	const keys, processes, limit = 40, 4, 3
	var wg sync.WaitGroup
	for i := range processes {
		p := pace.New(db, fmt.Sprint("p", i), time.Now)
		random := rand.New(rand.NewPCG(uint64(i), 1))
		wg.Go(func() {
			for range 25 {
				list := make([]pace.Request, keys)
				for n, k := range random.Perm(keys) {
					list[n] = pace.Request{Key: fmt.Sprint("k", k), Want: random.IntN(4), Limit: limit}
				}
				if _, err := p.SlotsOf(t.Context(), list[:1+random.IntN(keys)]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	var most int
	if err := db.QueryRow(t.Context(), `SELECT COALESCE(MAX(n), 0) FROM (SELECT SUM(granted) AS n FROM pace_slot GROUP BY name) AS sums`).Scan(&most); err != nil || most > limit {
		t.Errorf("%d slots of %d were granted, %v", most, limit, err)
	}
}

func TestSweepDeletesRowsWithoutEffect(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	w := newWorld(t, db)
	p := w.process("a", 0)
	mustSlots(t, p, "k", 1, 1)
	l := pace.Limit{Key: "k", Max: 5, Per: time.Second}
	w.take(p, 0, 1, l)
	count := func() (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pace_rate) + (SELECT count(*) FROM pace_slot)`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, want := range []int{3, 0} { // the slot, its lock and the rate
		if err := p.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != want {
			t.Errorf("%d rows remain, want %d", got, want)
		}
		w.pass(2 * time.Hour)
	}
	if got, _ := w.take(p, 0, 1, l); got != 1 {
		t.Errorf("a take after the sweep got %d, want 1", got)
	}
}
