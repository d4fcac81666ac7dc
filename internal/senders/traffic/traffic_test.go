package traffic_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestCountsByLaneAndDomain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		mine, theirs := idtest.Tenant(), idtest.Tenant()
		a, b, shop, news := id.New[id.Lane](), id.New[id.Lane](), id.New[id.Domain](), id.New[id.Domain]()
		add := func(at time.Time, counts map[traffic.Key]traffic.Counts) {
			t.Helper()
			if err := traffic.Add(ctx, db, at, counts); err != nil {
				t.Fatal(err)
			}
		}
		type counts = map[traffic.Key]traffic.Counts
		all := traffic.Counts{Tries: 1, Unreached: 2, Delivered: 3, Deferred: 4, Hard: 5, Late: 8, Block: 6, Complained: 7}
		add(noon, nil)
		add(noon, counts{{Tenant: mine, Lane: a}: {}})
		for _, at := range []time.Duration{0, 29 * time.Second, 30 * time.Second} { // two buckets
			add(noon.Add(at), counts{
				{Tenant: mine, Lane: a, Domain: shop}: all,
				{Tenant: mine, Lane: a, Domain: news}: {Delivered: 10},
				{Tenant: mine, Lane: b, Domain: shop}: {Delivered: 1},
				{Tenant: mine, Lane: b}:               {Tries: 1, Unreached: 1},
				{Tenant: theirs, Lane: a}:             {Delivered: 100},
			})
		}
		twice := all.Plus(all)
		recent, err := traffic.Lanes(ctx, db, noon)
		want := []traffic.Bucket{{At: noon, Counts: twice.Plus(traffic.Counts{Delivered: 20})}, {At: noon.Add(30 * time.Second), Counts: all.Plus(traffic.Counts{Delivered: 10})}}
		if diff := cmp.Diff(want, recent[traffic.Lane{Tenant: mine, Lane: a}]); err != nil || len(recent) != 3 || diff != "" {
			t.Errorf("Lanes = %d of them, %v (-want +got):\n%s", len(recent), err, diff)
		}
		if got := traffic.Sum(want, noon.Add(time.Second)); got != want[1].Counts {
			t.Errorf("Sum = %+v", got)
		}
		byLane, err := traffic.ByLane(ctx, db, mine, []id.Lane{a, b, id.New[id.Lane]()}, noon, noon.Add(30*time.Second))
		if diff := cmp.Diff(map[id.Lane]traffic.Counts{a: want[0].Counts, b: {Tries: 2, Unreached: 2, Delivered: 2}}, byLane); err != nil || diff != "" {
			t.Errorf("ByLane: %v (-want +got):\n%s", err, diff)
		}
		if got, err := traffic.OfDomain(ctx, db, mine, shop, noon.Add(30*time.Second)); err != nil || got != all.Plus(traffic.Counts{Delivered: 1}) {
			t.Errorf("OfDomain = %+v, %v", got, err)
		}
		if got, err := traffic.OfDomain(ctx, db, theirs, shop, noon); err != nil || got != (traffic.Counts{}) {
			t.Errorf("OfDomain of another tenant = %+v, %v", got, err)
		}
		busy, err := traffic.ByDomain(ctx, db, noon, 13)
		if diff := cmp.Diff(map[traffic.Domain]traffic.Counts{{Tenant: mine, Domain: news}: {Delivered: 30}}, busy); err != nil || diff != "" {
			t.Errorf("ByDomain with 13 deliveries: %v (-want +got):\n%s", err, diff)
		}
		if err := traffic.Prune(ctx, db, noon.Add(traffic.Keep+30*time.Second)); err != nil {
			t.Fatal(err)
		}
		left, err := traffic.Lanes(ctx, db, noon)
		if diff := cmp.Diff(want[1:], left[traffic.Lane{Tenant: mine, Lane: a}]); err != nil || diff != "" {
			t.Errorf("after Prune: %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, of       int
		rate, least float64
	}{
		{0, 0, 0, 0}, {0, 100, 0, 0}, {1, 200, 0.005, 0.000883}, {10, 100, 0.1, 0.055229}, {1000, 10000, 0.1, 0.094271}, {20, 20, 1, 0.838875}, {30, 20, 1.5, 0.838875},
	} {
		if got := traffic.Rate(tt.n, tt.of); math.Abs(got-tt.rate) > 1e-6 {
			t.Errorf("Rate(%d, %d) = %f, want %f", tt.n, tt.of, got, tt.rate)
		}
		if got := traffic.AtLeast(tt.n, tt.of); math.Abs(got-tt.least) > 1e-5 {
			t.Errorf("AtLeast(%d, %d) = %f, want %f", tt.n, tt.of, got, tt.least)
		}
	}
}
