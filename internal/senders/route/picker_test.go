package route_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/senders/route"
)

// someRoutes are one to five senders, each with the same one to four lanes.
func someRoutes(rt *rapid.T) []route.Route {
	capacity := rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(1, 2_000_000), rapid.Just(math.MaxInt))
	weight := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(0.1, 10), rapid.Just(math.SmallestNonzeroFloat64), rapid.Just(math.MaxFloat64))
	weights := rapid.SliceOfN(weight, 1, 4).Draw(rt, "lanes")
	routes := []route.Route{}
	for i, c := range rapid.SliceOfN(capacity, 1, 5).Draw(rt, "senders") {
		for l, w := range weights {
			routes = append(routes, route.Route{
				Identity: idtest.Named[id.Identity](fmt.Sprint("i", i)), Lane: idtest.Named[id.Lane](fmt.Sprint("l", l)), Weight: w, Capacity: c,
			})
		}
	}
	return routes
}

// someone returns contacts whose ids differ from those of other runs of the test.
func someone(rt *rapid.T) func(i int) id.Contact {
	seed := rapid.Uint64().Draw(rt, "seed")
	return func(i int) id.Contact { return idtest.Named[id.Contact](fmt.Sprintf("%d-%d", seed, i)) }
}

// shares returns the part of the total of each weight; without any weight, all
// parts are equal.
func shares[K comparable](weights map[K]float64) map[K]float64 {
	most := slices.Max(slices.Collect(maps.Values(weights)))
	parts, sum := map[K]float64{}, 0.0
	for k, w := range weights {
		parts[k] = 1
		if most > 0 {
			parts[k] = w / most
		}
		sum += parts[k]
	}
	for k := range parts {
		parts[k] /= sum
	}
	return parts
}

// ratio reports an error if counts are not a likely sample of the shares:
// none may differ by more than six standard deviations.
func ratio[K comparable](rt *rapid.T, what string, counts map[K]int, want map[K]float64, n int) {
	rt.Helper()
	for k, p := range want {
		off := math.Abs(float64(counts[k]) - float64(n)*p)
		if off > 6*math.Sqrt(float64(n)*p*(1-p))+1 {
			rt.Fatalf("%s %v has %d of %d, want a share of %g", what, k, counts[k], n, p)
		}
	}
}

func TestSendersAndLanesGetTheirShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		routes, contact := someRoutes(rt), someone(rt)
		picker := route.NewPicker(routes)
		capacities, weights := map[id.Identity]float64{}, map[id.Lane]float64{}
		for _, r := range routes {
			capacities[r.Identity], weights[r.Lane] = float64(r.Capacity), r.Weight
		}
		const n = 2000
		identities, lanes := map[id.Identity]int{}, map[id.Lane]int{}
		for i := range n {
			r := picker.Pick(contact(i), id.Identity{}, nil)
			identities[r.Identity]++
			lanes[r.Lane]++
		}
		ratio(rt, "sender", identities, shares(capacities), n)
		ratio(rt, "lane", lanes, shares(weights), n)
	})
}

func TestAChoiceDependsOnIDsAndWeightsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		routes, contact := someRoutes(rt), someone(rt)
		shuffled := rapid.Permutation(routes).Draw(rt, "shuffled")
		one, other := route.NewPicker(routes), route.NewPicker(shuffled)
		for i := range 100 {
			if a, b := one.Pick(contact(i), id.Identity{}, nil), other.Pick(contact(i), id.Identity{}, nil); a != b {
				rt.Fatalf("contact %s goes by %v, and by %v when the routes come in another order", contact(i), a, b)
			}
		}
	})
}

// A removed identity loses only its own contacts, and an added one takes
// contacts from the others without moving any between them.
func TestContactsKeepTheirSenderWhenOthersComeAndGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		routes, contact := someRoutes(rt), someone(rt)
		guest := routes[len(routes)-1].Identity
		fewer := slices.DeleteFunc(slices.Clone(routes), func(r route.Route) bool { return r.Identity == guest })
		if !slices.ContainsFunc(fewer, func(r route.Route) bool { return r.Capacity > 0 }) {
			return // the remaining ones have no capacity left, and get equal shares
		}
		with, without := route.NewPicker(routes), route.NewPicker(fewer)
		for i := range 300 {
			a, b := with.Pick(contact(i), id.Identity{}, nil), without.Pick(contact(i), id.Identity{}, nil)
			if a.Identity != guest && a.Identity != b.Identity {
				rt.Fatalf("contact %s had %s and has %s since %s left", contact(i), a.Identity, b.Identity, guest)
			}
			if b.Identity == guest {
				rt.Fatalf("contact %s still hears from %s", contact(i), guest)
			}
		}
	})
}

func TestAnIdentityWithMoreCapacityOnlyGainsContacts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		routes, contact := someRoutes(rt), someone(rt)
		grown, more := routes[len(routes)-1].Identity, slices.Clone(routes)
		for i := range more {
			if more[i].Identity == grown {
				more[i].Capacity = max(more[i].Capacity, rapid.IntRange(1, math.MaxInt).Draw(rt, "capacity"))
			}
		}
		if !slices.ContainsFunc(routes, func(r route.Route) bool { return r.Capacity > 0 }) {
			return // equal shares, as none had capacity left
		}
		before, after := route.NewPicker(routes), route.NewPicker(more)
		for i := range 300 {
			a, b := before.Pick(contact(i), id.Identity{}, nil), after.Pick(contact(i), id.Identity{}, nil)
			if a != b && b.Identity != grown {
				rt.Fatalf("contact %s went from %v to %v when %s could send more", contact(i), a, b, grown)
			}
		}
	})
}

func TestContactsKeepTheirLastIdentity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		routes, contact := someRoutes(rt), someone(rt)
		picker := route.NewPicker(routes)
		for i := range 50 {
			last := rapid.SampledFrom(routes).Draw(rt, "last").Identity
			if got := picker.Pick(contact(i), last, nil).Identity; got != last {
				rt.Fatalf("contact %s heard from %s and now hears from %s", contact(i), last, got)
			}
			if a, b := picker.Pick(contact(i), idtest.Named[id.Identity]("gone"), nil), picker.Pick(contact(i), id.Identity{}, nil); a != b {
				rt.Fatalf("contact %s, whose sender is gone, goes by %v; want %v", contact(i), a, b)
			}
		}
	})
}

// A lane that is down sends nothing while another is up; its contacts go to
// the others, and no other contact's lane changes. A message that got its lane
// before is sent by the lane that it would get now.
func TestALaneThatIsDownIsReplaced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		routes, contact := someRoutes(rt), someone(rt)
		picker := route.NewPicker(routes)
		down, up := map[id.Lane]bool{}, 0
		for _, r := range routes[:slices.IndexFunc(append(routes, route.Route{}), func(r route.Route) bool { return r.Identity != routes[0].Identity })] {
			if rapid.Bool().Draw(rt, "down") {
				down[r.Lane] = true
			} else {
				up++
			}
		}
		for i := range 100 {
			before, now := picker.Pick(contact(i), id.Identity{}, nil), picker.Pick(contact(i), id.Identity{}, down)
			if before.Identity != now.Identity {
				rt.Fatalf("contact %s changed its sender because a lane is down", contact(i))
			}
			if up > 0 && down[now.Lane] {
				rt.Fatalf("contact %s is given %s, which is down", contact(i), now.Lane)
			}
			if (up == 0 || !down[before.Lane]) && now != before {
				rt.Fatalf("contact %s is moved from %s to %s, for nothing", contact(i), before.Lane, now.Lane)
			}
			if got := picker.Failover(contact(i), before.Identity, before.Lane, down); got != now.Lane {
				rt.Fatalf("a message of %s given %s goes by %s, want %s", contact(i), before.Lane, got, now.Lane)
			}
		}
	})
}

func TestFailoverKeepsUnknownRoutes(t *testing.T) {
	t.Parallel()
	picker := route.NewPicker([]route.Route{{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x")}, {Identity: idtest.Named[id.Identity]("b"), Lane: idtest.Named[id.Lane]("y")}})
	down := map[id.Lane]bool{idtest.Named[id.Lane]("x"): true, idtest.Named[id.Lane]("z"): true}
	for _, tt := range []struct {
		identity    id.Identity
		given, want id.Lane
	}{
		{idtest.Named[id.Identity]("a"), idtest.Named[id.Lane]("x"), idtest.Named[id.Lane]("x")},        // it has no other
		{idtest.Named[id.Identity]("b"), idtest.Named[id.Lane]("x"), idtest.Named[id.Lane]("y")},        // its former lane
		{idtest.Named[id.Identity]("b"), idtest.Named[id.Lane]("y"), idtest.Named[id.Lane]("y")},        // up
		{idtest.Named[id.Identity]("gone"), idtest.Named[id.Lane]("z"), idtest.Named[id.Lane]("z")},     // no other route
		{idtest.Named[id.Identity]("gone"), idtest.Named[id.Lane]("new"), idtest.Named[id.Lane]("new")}, // nor whether it is down
	} {
		if got := picker.Failover(idtest.Named[id.Contact]("c"), tt.identity, tt.given, down); got != tt.want {
			t.Errorf("Instead(%s, %s) = %s, want %s", tt.identity, tt.given, got, tt.want)
		}
	}
}
