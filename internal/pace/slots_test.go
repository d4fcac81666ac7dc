package pace_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/pace"
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
