package segment

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/fault"
)

func TestReferencesHaveNoCyclesAndLimitedDepth(t *testing.T) {
	t.Parallel()
	line := graph{"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"e"}}
	for _, tt := range []struct {
		name  string
		g     graph
		key   string
		cycle []string
		deep  bool
	}{
		{"alone", graph{}, "a", nil, false},
		{"refers to itself", graph{"a": {"a"}}, "a", []string{"a"}, false},
		{"two refer to each other", graph{"a": {"b"}, "b": {"a"}}, "b", []string{"b", "a"}, false},
		{"the shortest cycle", graph{"a": {"b", "c"}, "b": {"d"}, "c": {"a"}, "d": {"a"}}, "a", []string{"a", "c"}, false},
		{"a cycle elsewhere", graph{"a": {"b"}, "b": {"c"}, "c": {"b"}}, "a", nil, false},
		{"one referred to twice", graph{"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}, "a", nil, false},
		{"five deep", line, "a", nil, false},
		{"five deep, seen from below", line, "e", nil, false},
		{"six deep, seen from within", graph{"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"e"}, "e": {"f"}}, "c", nil, true},
		{"six deep, elsewhere", graph{"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"e"}, "e": {"f"}, "x": {"f"}}, "x", nil, false},
	} {
		err := tt.g.check(tt.key)
		if (tt.cycle != nil || tt.deep) != errors.Is(err, ErrCycle) {
			t.Errorf("%s: check = %v", tt.name, err)
			continue
		}
		if f, _ := fault.As(err); tt.cycle != nil && !slices.Equal(f.Details.(map[string][]string)["cycle"], tt.cycle) {
			t.Errorf("%s: details %v, want the cycle %v", tt.name, f.Details, tt.cycle)
		}
	}
}

func TestCyclesAndDepthAgreeWithASearchOfAllPaths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := graph{}
		n := rapid.IntRange(1, 7).Draw(t, "segments")
		for i := range n {
			for _, j := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 3, rapid.ID[int]).Draw(t, fmt.Sprint("under ", i)) {
				if j > i || rapid.IntRange(0, 9).Draw(t, "back") == 0 {
					g[fmt.Sprint(i)] = append(g[fmt.Sprint(i)], fmt.Sprint(j))
				}
			}
		}
		cyclic, longest := false, 0
		var walk func(path []string)
		walk = func(path []string) {
			if at := slices.Index(path, "0"); at >= 0 {
				longest = max(longest, len(path))
			}
			for _, next := range g[path[len(path)-1]] {
				switch {
				case next == "0" && path[0] == "0":
					cyclic = true
				case !slices.Contains(path, next):
					walk(append(slices.Clone(path), next))
				}
			}
		}
		for i := range n {
			walk([]string{fmt.Sprint(i)})
		}
		acyclic := true
		for i := range n {
			acyclic = acyclic && g.cycle(fmt.Sprint(i)) == nil
		}
		if c := g.cycle("0"); (c != nil) != cyclic {
			t.Fatalf("%v: cycle %v, want one: %v", g, c, cyclic)
		}
		if err := g.check("0"); acyclic && (err != nil) != (longest > maxDepth) {
			t.Fatalf("%v: check = %v, the longest path has %d segments", g, err, longest)
		}
	})
}

func TestNightIsInTheTenantsTimeZone(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[string]string{
		"2026-01-10T00:59:00Z": "2026-01-09T01:00:00Z",
		"2026-01-10T01:00:00Z": "2026-01-10T01:00:00Z",
		"2026-01-10T23:30:00Z": "2026-01-10T01:00:00Z",
	} {
		at, _ := time.Parse(time.RFC3339, now)
		if got := night(at, berlin).UTC().Format(time.RFC3339); got != want {
			t.Errorf("the last night at %s was at %s, want %s", now, got, want)
		}
	}
}
