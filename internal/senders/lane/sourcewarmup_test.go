package lane_test

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var first, second = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// warmingLane returns a lane with two addresses, of which the second was added on the third day.
func warmingLane(t *testing.T, db *sqldb.DB, tenant id.Tenant) lane.Config {
	t.Helper()
	ip := func(a netip.Addr) lane.SourceFields {
		return lane.SourceFields{IP: a.String(), HELO: "out.example.net"}
	}
	c, err := lane.Create(t.Context(), db, newBox(t), tenant, lane.Fields{
		Name: new("Own"), Type: new(lane.DirectMX), IPs: &[]lane.SourceFields{ip(first)}, Warmup: lane.WarmupFields{Enabled: new(true)},
	}, lane.Rules{Today: "2026-03-01"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	c.Warmup = c.OnSources("2026-03-02", day(first, map[string]traffic.Counts{"gmail": {Delivered: 150}, "other": {Delivered: 40}}))
	if _, err := lane.SetWarmup(t.Context(), db, mustFind(t, db, tenant, c), c.Warmup); err != nil {
		t.Fatal(err)
	}
	c, err = lane.Update(t.Context(), db, newBox(t), tenant, c.ID, lane.Fields{IPs: &[]lane.SourceFields{ip(first), ip(second)}}, lane.Rules{Today: "2026-03-03"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustFind(t *testing.T, db *sqldb.DB, tenant id.Tenant, c lane.Config) lane.Config {
	t.Helper()
	found, err := lane.ByID(t.Context(), db, tenant, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func day(ip netip.Addr, n map[string]traffic.Counts) map[traffic.SourceProvider]traffic.ProviderCounts {
	d := map[traffic.SourceProvider]traffic.ProviderCounts{}
	for p, c := range n {
		d[traffic.SourceProvider{Source: ip, Provider: p}] = traffic.ProviderCounts{Counts: c}
	}
	return d
}

func TestEachAddressWarmsUpWithEachProvider(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant := idtest.Tenant()
		c := warmingLane(t, db, tenant)
		want := func(when string, on spread.Day, caps map[netip.Addr][3]int) {
			t.Helper()
			sum := 0
			for ip, want := range caps {
				all, _ := c.SourceCap(ip, on)
				gmail, _ := c.ProviderCap(ip, "gmail")
				outlook, _ := c.ProviderCap(ip, "outlook")
				if got := [3]int{all, gmail, outlook}; got != want {
					t.Errorf("%s: %s may send %d, want %d", when, ip, got, want)
				}
				sum += all
			}
			if n, capped := c.DayCap(on); !capped || n != sum {
				t.Errorf("%s: the lane may send %d, want %d", when, n, sum)
			}
		}
		// The planned limit of the address assumes that its second day was good, too.
		want("with a new address", "2026-03-03", map[netip.Addr][3]int{first: {338, 260, 200}, second: {200, 200, 200}})

		d := day(first, map[string]traffic.Counts{"gmail": {Delivered: 250}, "outlook": {Delivered: 20, Block: 10}})
		d[traffic.SourceProvider{Source: second, Provider: "gmail"}] = traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 100, Deferred: 6}}
		c.Warmup = c.OnSources("2026-03-03", d) // the first was evaluated on the 2nd
		c.Warmup = c.OnSources("2026-03-04", d)
		want("after a provider refused mail", "2026-03-04", map[netip.Addr][3]int{first: {439, 439, 50}, second: {200, 200, 200}})

		d = day(first, map[string]traffic.Counts{"gmail": {Delivered: 300}})
		d[traffic.SourceProvider{Source: second, Provider: "gmail"}] = traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 100}}
		d[traffic.SourceProvider{Provider: "gmail"}] = traffic.ProviderCounts{Counts: traffic.Counts{Complained: 8}}
		c.Warmup = c.OnSources("2026-03-05", d)
		want("after complaints that name no address", "2026-03-05", map[netip.Addr][3]int{first: {219, 219, 50}, second: {100, 100, 200}})
		if again := c.OnSources("2026-03-05", nil); again.Sources[0].Level != c.Warmup.Sources[0].Level {
			t.Errorf("a second look on one day makes %+v", again.Sources[0])
		}
		off, err := lane.Update(t.Context(), db, newBox(t), tenant, c.ID, lane.Fields{Warmup: lane.WarmupFields{Enabled: new(false)}}, lane.Rules{Today: "2026-03-05"}, noon)
		if err != nil || off.Warmup.Sources != nil {
			t.Errorf("switched off: %+v, %v", off.Warmup, err)
		}
		if _, capped := off.SourceCap(first, "2026-03-05"); capped {
			t.Error("an address is limited without a warm-up")
		}
	})
}

// A lane with two addresses that warmed up together has the same limit after an update of the program.
func TestLanesThatWarmedUpTogetherKeepTheirLimit(t *testing.T) {
	t.Parallel()
	c := lane.Config{
		Type: lane.DirectMX, Direct: lane.DirectSettings{IPs: []lane.Source{{IP: first}, {IP: second}}},
		Warmup: lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, StartedOn: "2026-03-01", Level: 1000, LevelDay: "2026-03-08"},
	}
	c.Warmup = c.OnSources("2026-03-08", nil)
	if n, _ := c.DayCap("2026-03-08"); n != 1000 {
		t.Errorf("the lane may send %d, want 1000", n)
	}
}

func TestAddressesGetMailInProportionToTheirLimits(t *testing.T) {
	t.Parallel()
	c := lane.Config{Type: lane.DirectMX, Warmup: lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, Sources: []lane.SourceWarmup{
		{IP: first, StartedOn: "2026-03-01", Level: 900, LevelDay: "2026-03-08"}, {IP: second, StartedOn: "2026-03-08", Level: 100, LevelDay: "2026-03-08"},
	}}}
	random := rand.New(rand.NewPCG(1, 2))
	const contacts = 20_000
	got := 0
	for range contacts {
		contact := random.Uint64()
		ip := c.PickSource([]netip.Addr{first, second}, contact, "2026-03-08")
		if again := c.PickSource([]netip.Addr{second, first}, contact, "2026-03-08"); again != ip {
			t.Fatalf("a contact's mail comes from %s and %s", ip, again)
		}
		if ip == second {
			got++
		}
	}
	if share := float64(got) / contacts; math.Abs(share-0.1) > 0.01 {
		t.Errorf("the new address gets %.3f of the mail, want 0.1", share)
	}
	if ip := c.PickSource(nil, 1, "2026-03-08"); ip.IsValid() {
		t.Errorf("an address of none: %s", ip)
	}
}
