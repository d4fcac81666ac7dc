package dispatch

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
)

func TestCapacityOfSenders(t *testing.T) {
	t.Parallel()
	type route = broadcast.Route
	for _, tt := range []struct {
		name   string
		routes []route
		left   map[id.MTAConfig]int
		want   map[id.Identity]int
	}{
		{"no caps", []route{{Identity: "a", Lane: "x"}, {Identity: "b", Lane: "x"}, {Identity: "c", Lane: "y"}}, nil,
			map[id.Identity]int{"a": unlimited, "b": unlimited, "c": unlimited}},
		{"what their lanes have left", []route{{Identity: "a", Lane: "x"}, {Identity: "b", Lane: "y"}}, map[id.MTAConfig]int{"x": 200, "y": 0},
			map[id.Identity]int{"a": 200, "b": 0}},
		{"a lane of two", []route{{Identity: "a", Lane: "x"}, {Identity: "b", Lane: "x"}, {Identity: "c", Lane: "y"}}, map[id.MTAConfig]int{"x": 201, "y": 200},
			map[id.Identity]int{"a": 101, "b": 101, "c": 200}},
		{"two lanes of one", []route{{Identity: "a", Lane: "x", Weight: 1}, {Identity: "a", Lane: "y", Weight: 9}}, map[id.MTAConfig]int{"x": 10, "y": 20},
			map[id.Identity]int{"a": 30}},
		{"no cap is at least the largest cap", []route{{Identity: "a", Lane: "x"}, {Identity: "b", Lane: "y"}}, map[id.MTAConfig]int{"x": 7_000_000},
			map[id.Identity]int{"a": 7_000_000, "b": 7_000_000}},
		{"beyond all bounds", []route{{Identity: "a", Lane: "x"}, {Identity: "a", Lane: "y"}}, map[id.MTAConfig]int{"x": math.MaxInt},
			map[id.Identity]int{"a": math.MaxInt}},
	} {
		weigh(tt.routes, tt.left)
		got := map[id.Identity]int{}
		for _, r := range tt.routes {
			got[r.Identity] = r.Capacity
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}
