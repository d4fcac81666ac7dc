package spread_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/spread"
)

const first spread.Day = "2026-03-02"

func flat(n int) func(string, spread.Day) spread.Cap {
	return func(string, spread.Day) spread.Cap { return spread.UpTo(n) }
}

func TestPlanOfOneLane(t *testing.T) {
	t.Parallel()
	days := spread.Over(first, 3, nil)
	quota := func(n int, days ...int) []spread.Quota {
		var list []spread.Quota
		for _, d := range days {
			list = append(list, spread.Quota{Lane: "a", Day: first.Add(d), N: n})
		}
		return list
	}
	for name, c := range map[string]struct {
		load  spread.Load
		want  []spread.Quota
		heldN int
	}{
		"even, the remainder first": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 11}},
			slices.Concat(quota(4, 0, 1), quota(3, 2)), 0,
		},
		"fewer messages than days": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 2}},
			quota(1, 0, 1), 0,
		},
		"what does not fit is held back": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 30}, Lane: flat(8)},
			quota(8, 0, 1, 2), 6,
		},
		"or goes on the days that follow, but for those skipped": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 30}, Lane: flat(8), Extend: true, Next: first.Add(3), Skipped: []spread.Day{first.Add(3)}},
			slices.Concat(quota(8, 0, 1, 2), quota(6, 4)), 0,
		},
		"a shortfall moves to later days": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 30}, Lane: func(_ string, d spread.Day) spread.Cap {
				return spread.Cap{Max: 4, Capped: d == first}
			}},
			slices.Concat(quota(4, 0), quota(16, 1), quota(10, 2)), 0,
		},
		"a day's own cap": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 30}, Total: func(spread.Day) spread.Cap { return spread.UpTo(5) }},
			quota(5, 0, 1, 2), 15,
		},
		"days that carry something already get less": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 8}, Has: map[spread.Day]int{first: 6, first.Add(1): 1}},
			slices.Concat(quota(4, 1), quota(4, 2)), 0,
		},
		"every day skipped": {
			spread.Load{Waiting: map[string]int{"a": 3}, Extend: true, Next: first.Add(3)},
			quota(3, 3), 0,
		},
		"every day skipped, and no other granted": {
			spread.Load{Waiting: map[string]int{"a": 3}}, nil, 3,
		},
		"no room, ever": {
			spread.Load{Days: days, Waiting: map[string]int{"a": 3}, Lane: flat(0), Extend: true, Next: first.Add(3)}, nil, 3,
		},
		"nobody": {spread.Load{Days: days, Waiting: map[string]int{"a": 0}}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, held := c.load.Plan()
			if diff := cmp.Diff(c.want, got); diff != "" || held["a"] != c.heldN {
				t.Errorf("held back %d, not %d; quotas: %s", held["a"], c.heldN, diff)
			}
		})
	}
}

func TestEveryMessageHasADayOrIsHeldBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "days")
		skipped := []spread.Day{}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 60).Draw(t, "skipped") {
			skipped = append(skipped, first.Add(i))
		}
		load := spread.Load{
			Days: spread.Over(first, n, skipped), Skipped: skipped, Next: first.Add(n), Extend: rapid.Bool().Draw(t, "extend"),
			Waiting: rapid.MapOf(rapid.StringOfN(rapid.RuneFrom([]rune("abcd")), 1, 1, -1), rapid.IntRange(0, 500)).Draw(t, "waiting"),
			Has:     map[spread.Day]int{first: rapid.IntRange(0, 50).Draw(t, "has")},
		}
		caps := rapid.SliceOfN(rapid.IntRange(-5, 80), 12, 12).Draw(t, "caps")
		open := rapid.SliceOfN(rapid.Bool(), 12, 12).Draw(t, "uncapped")
		at := func(d spread.Day, more int) int { return (int(d[8]-'0')*10 + int(d[9]-'0') + more) % len(caps) }
		load.Lane = func(lane string, d spread.Day) spread.Cap {
			i := at(d, int(lane[0]))
			return spread.Cap{Max: caps[i], Capped: !open[i]}
		}
		load.Total = func(d spread.Day) spread.Cap {
			i := at(d, 5)
			return spread.Cap{Max: caps[i] * 3, Capped: !open[i]}
		}
		quotas, held := load.Plan()

		lanes, days := map[string]int{}, map[spread.Day]int{}
		for _, q := range quotas {
			if slices.Contains(skipped, q.Day) || q.Day < first {
				t.Fatalf("%v is not a day of the plan", q)
			}
			if c := load.Lane(q.Lane, q.Day); q.N <= 0 || c.Capped && q.N > c.Max {
				t.Fatalf("%v with a capacity of %v", q, c)
			}
			if !load.Extend && !slices.Contains(load.Days, q.Day) {
				t.Fatalf("%v is after the window", q)
			}
			lanes[q.Lane] += q.N
			days[q.Day] += q.N
		}
		for lane, n := range held {
			lanes[lane] += n
		}
		for d, n := range days {
			if c := load.Total(d); c.Capped && n > c.Max {
				t.Fatalf("%d messages on %s with a capacity of %v", n, d, c)
			}
		}
		want := maps.Clone(load.Waiting)
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		if diff := cmp.Diff(want, lanes); diff != "" {
			t.Fatalf("planned and held back are not all: %s", diff)
		}
	})
}

// plain is the algorithm as it is described for one lane.
func plain(days []spread.Day, n int, capacity func(spread.Day) int) (plan []spread.Quota, left int) {
	carry := 0
	for i, d := range days {
		want := n/len(days) + carry
		if i < n%len(days) {
			want++
		}
		given := min(want, capacity(d))
		carry = want - given
		if given > 0 {
			plan = append(plan, spread.Quota{Lane: "a", Day: d, N: given})
		}
	}
	return plan, carry
}

func TestOneLaneIsPlannedAsDescribed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		days := spread.Over(first, rapid.IntRange(1, 60).Draw(t, "days"), nil)
		n := rapid.IntRange(0, 2000).Draw(t, "n")
		caps := rapid.SliceOfN(rapid.IntRange(0, 60), 60, 60).Draw(t, "caps")
		capacity := func(d spread.Day) int { return caps[slices.Index(days, d)] }
		quotas, held := spread.Load{Days: days, Waiting: map[string]int{"a": n}, Lane: func(_ string, d spread.Day) spread.Cap {
			return spread.UpTo(capacity(d))
		}}.Plan()
		want, left := plain(days, n, capacity)
		if diff := cmp.Diff(want, quotas); diff != "" || held["a"] != left {
			t.Fatalf("held back %d, not %d: %s", held["a"], left, diff)
		}
	})
}

func TestLanesWithoutCapsMakeEvenDays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		days := spread.Over(first, rapid.IntRange(1, 20).Draw(t, "days"), nil)
		waiting := map[string]int{"a": rapid.IntRange(0, 300).Draw(t, "a"), "b": rapid.IntRange(0, 300).Draw(t, "b"), "c": rapid.IntRange(0, 3).Draw(t, "c")}
		quotas, _ := spread.Load{Days: days, Waiting: waiting}.Plan()
		sums := make([]int, len(days))
		for _, q := range quotas {
			sums[slices.Index(days, q.Day)] += q.N
		}
		if slices.Max(sums)-slices.Min(sums) > 1 || !slices.IsSortedFunc(sums, func(a, b int) int { return b - a }) {
			t.Fatalf("days of %v", sums)
		}
	})
}

func TestShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, parts := rapid.IntRange(0, 10_000).Draw(t, "n"), rapid.IntRange(1, 200).Draw(t, "parts")
		shares, sum := spread.Shares(n, parts), 0
		for _, s := range shares {
			sum += s
		}
		if len(shares) != parts || sum != n || slices.Max(shares)-slices.Min(shares) > 1 {
			t.Fatalf("%d over %d: %v", n, parts, shares)
		}
	})
}
