package dispatch

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/senders/route"
)

func TestCapacityOfSenders(t *testing.T) {
	t.Parallel()
	type way = route.Route
	for _, tt := range []struct {
		name   string
		routes []way
		left   map[id.Lane]int
		want   map[id.Identity]int
	}{
		{"no caps", []way{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("b"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("c"), Lane: idtest.Named[id.Lane]("y")}}, nil,
			map[id.Identity]int{idtest.Named[id.Identity]("a"): unlimited, idtest.Named[id.Identity]("b"): unlimited, idtest.Named[id.Identity]("c"): unlimited}},
		{"what their lanes have left", []way{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("b"), Lane: idtest.Named[id.Lane]("y")}}, map[id.Lane]int{idtest.Named[id.Lane]("x"): 200, idtest.Named[id.Lane]("y"): 0},
			map[id.Identity]int{idtest.Named[id.Identity]("a"): 200, idtest.Named[id.Identity]("b"): 0}},
		{"a lane of two", []way{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("b"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("c"), Lane: idtest.Named[id.Lane]("y")}}, map[id.Lane]int{idtest.Named[id.Lane]("x"): 201, idtest.Named[id.Lane]("y"): 200},
			map[id.Identity]int{idtest.Named[id.Identity]("a"): 101, idtest.Named[id.Identity]("b"): 101, idtest.Named[id.Identity]("c"): 200}},
		{"two lanes of one", []way{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x"), Weight: 1}, {Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("y"), Weight: 9}}, map[id.Lane]int{idtest.Named[id.Lane]("x"): 10, idtest.Named[id.Lane]("y"): 20},
			map[id.Identity]int{idtest.Named[id.Identity]("a"): 30}},
		{"no cap is at least the largest cap", []way{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("b"), Lane: idtest.Named[id.Lane]("y")}}, map[id.Lane]int{idtest.Named[id.Lane]("x"): 7_000_000},
			map[id.Identity]int{idtest.Named[id.Identity]("a"): 7_000_000, idtest.Named[id.Identity]("b"): 7_000_000}},
		{"beyond all bounds", []way{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("y")}}, map[id.Lane]int{idtest.Named[id.Lane]("x"): math.MaxInt},
			map[id.Identity]int{idtest.Named[id.Identity]("a"): math.MaxInt}},
	} {
		setCapacities(tt.routes, tt.left)
		got := map[id.Identity]int{}
		for _, r := range tt.routes {
			got[r.Identity] = r.Capacity
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}
