package lane_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// bucketAgo returns a bucket with attempts at a time before noon.
func bucketAgo(ago time.Duration, all, failed int) traffic.Bucket {
	return traffic.Bucket{At: noon.Add(-ago), Counts: traffic.Counts{Tries: all, Unreached: failed}}
}

func TestALaneIsJudgedByItsTries(t *testing.T) {
	t.Parallel()
	down := lane.Health{State: lane.Down, Since: noon.Add(-20 * time.Minute), LastError: "refused", ProbedAt: new(noon.Add(-time.Minute))}
	degraded := lane.Health{State: lane.Degraded, Since: noon.Add(-time.Minute), LastError: "refused"}
	recovered := lane.Health{State: lane.Healthy, Since: noon.Add(-45 * time.Second)}
	type buckets = []traffic.Bucket
	for _, tt := range []struct {
		name   string
		before lane.Health
		tries  buckets
		want   lane.State
	}{
		{"nothing", lane.Health{State: lane.Healthy}, nil, lane.Healthy},
		{"all well", lane.Health{State: lane.Healthy}, buckets{bucketAgo(time.Minute, 100, 0)}, lane.Healthy},
		{"19 of 100", lane.Health{State: lane.Healthy}, buckets{bucketAgo(4*time.Minute, 50, 19), bucketAgo(time.Minute, 50, 0)}, lane.Healthy},
		{"20 of 100", lane.Health{State: lane.Healthy}, buckets{bucketAgo(4*time.Minute, 50, 20), bucketAgo(time.Minute, 50, 0)}, lane.Degraded},
		{"long ago", lane.Health{State: lane.Healthy}, buckets{bucketAgo(6*time.Minute, 50, 50), bucketAgo(time.Minute, 50, 0)}, lane.Healthy},
		{"two of three", lane.Health{State: lane.Healthy}, buckets{bucketAgo(time.Minute, 3, 2)}, lane.Healthy},
		{"20 of 20", lane.Health{State: lane.Healthy}, buckets{bucketAgo(time.Minute, 20, 20)}, lane.Down},
		{"20 of 20 in a while", lane.Health{State: lane.Healthy}, buckets{bucketAgo(4*time.Minute, 10, 10), bucketAgo(time.Minute, 10, 10)}, lane.Degraded},
		{"all of late", lane.Health{State: lane.Healthy}, buckets{bucketAgo(3*time.Minute, 500, 0), bucketAgo(time.Minute, 20, 20)}, lane.Down},
		{"all but one", lane.Health{State: lane.Healthy}, buckets{bucketAgo(time.Minute, 100, 99)}, lane.Degraded},
		{"no more connections, but mail goes out", lane.Health{State: lane.Healthy}, buckets{bucketAgo(time.Minute, 50, 50), {At: noon.Add(-30 * time.Second), Counts: traffic.Counts{Delivered: 9}}}, lane.Degraded},
		{"mail went out, once", lane.Health{State: lane.Healthy}, buckets{bucketAgo(time.Minute, 50, 50), {At: noon.Add(-90 * time.Second), Counts: traffic.Counts{Delivered: 9}}}, lane.Down},
		{"degraded, and all fails", degraded, buckets{bucketAgo(time.Minute, 30, 30)}, lane.Down},
		{"degraded, and well again", degraded, buckets{bucketAgo(4*time.Minute, 10, 5), bucketAgo(time.Minute, 90, 0)}, lane.Healthy},
		{"degraded, and quiet", degraded, nil, lane.Healthy},
		{"degraded, few tries", degraded, buckets{bucketAgo(time.Minute, 4, 1)}, lane.Degraded},
		{"down, and quiet", down, nil, lane.Down},
		{"down, and still failing", down, buckets{bucketAgo(time.Minute, 2, 2)}, lane.Down},
		{"down, and one got through", down, buckets{bucketAgo(time.Minute, 40, 39)}, lane.Healthy},
		{"back, and what was before", recovered, buckets{bucketAgo(90*time.Second, 40, 40)}, lane.Healthy},
		{"back, and gone again", recovered, buckets{bucketAgo(90*time.Second, 40, 40), bucketAgo(30*time.Second, 20, 20)}, lane.Down},
	} {
		got := tt.before.Evaluate(tt.tries, noon)
		if got.State != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.State, tt.want)
		}
		if got.State == tt.before.State && !cmp.Equal(got, tt.before) || got.State != tt.before.State && !got.Since.Equal(noon) {
			t.Errorf("%s: %+v becomes %+v", tt.name, tt.before, got)
		}
		if got.State == lane.Healthy && (got.LastError != "" || got.ProbedAt != nil) {
			t.Errorf("%s: a healthy lane remembers %q, probed %v", tt.name, got.LastError, got.ProbedAt)
		}
	}
}

// For any traffic: a lane that never fails is healthy, one on which all of twenty attempts failed
// is not, and judging twice has the same result as judging once.
func TestJudgingIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fails := rapid.SampledFrom([]string{"never", "sometimes", "always"}).Draw(t, "fails")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) traffic.Bucket {
			n := rapid.IntRange(1, 60).Draw(t, "tries")
			failed := map[string]int{"never": 0, "sometimes": rapid.IntRange(0, n).Draw(t, "failed"), "always": n}[fails]
			return bucketAgo(time.Duration(rapid.IntRange(0, 10).Draw(t, "ago"))*traffic.Width, n, failed)
		}), 0, 10).Draw(t, "traffic")
		before := lane.Health{State: rapid.SampledFrom([]lane.State{lane.Healthy, lane.Degraded, lane.Down}).Draw(t, "state"), Since: noon.Add(-time.Hour)}
		got := before.Evaluate(list, noon)
		soon := traffic.Sum(list, noon.Add(-2*time.Minute))
		switch {
		case fails == "never" && before.State != lane.Down && got.State != lane.Healthy,
			fails == "never" && soon.Tries > 0 && got.State != lane.Healthy,
			fails == "always" && soon.Tries >= 20 && got.State != lane.Down,
			before.State == lane.Down && got.State == lane.Degraded:
			t.Fatalf("%s: %+v becomes %+v", fails, before, got)
		}
		if again := got.Evaluate(list, noon); before.State != lane.Down && !cmp.Equal(again, got) && got.State != lane.Healthy {
			t.Fatalf("judged twice: %+v, then %+v", got, again)
		}
	})
}

func TestASuspectIsOneThatMayBeDown(t *testing.T) {
	t.Parallel()
	healthy := lane.Health{State: lane.Healthy}
	for _, tt := range []struct {
		name   string
		before lane.Health
		tries  []traffic.Bucket
		want   bool
	}{
		{"quiet", healthy, nil, false},
		{"two failures", healthy, []traffic.Bucket{bucketAgo(time.Minute, 2, 2)}, false},
		{"three", healthy, []traffic.Bucket{bucketAgo(time.Minute, 3, 3)}, true},
		{"three, and a success", healthy, []traffic.Bucket{bucketAgo(time.Minute, 4, 3)}, false},
		{"three before it came back", lane.Health{State: lane.Healthy, Since: noon.Add(-30 * time.Second)}, []traffic.Bucket{bucketAgo(time.Minute, 3, 3)}, false},
		{"three, but mail goes out", healthy, []traffic.Bucket{bucketAgo(time.Minute, 3, 3), {At: noon, Counts: traffic.Counts{Delivered: 1}}}, false},
		{"degraded", lane.Health{State: lane.Degraded, Since: noon}, []traffic.Bucket{bucketAgo(time.Minute, 10, 10)}, true},
		{"down", lane.Health{State: lane.Down}, []traffic.Bucket{bucketAgo(time.Minute, 30, 30)}, false},
	} {
		if got := tt.before.Suspect(tt.tries, noon); got != tt.want {
			t.Errorf("%s: suspect %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	down := lane.Health{State: lane.Down, Since: noon.Add(-time.Hour)}
	if !down.DueForProbe(noon) || (lane.Health{State: lane.Healthy}).DueForProbe(noon) {
		t.Error("lanes that are not well are probed, and no others")
	}
	failed := down.AfterProbe("connection refused", noon)
	if want := (lane.Health{State: lane.Down, Since: down.Since, LastError: "connection refused", ProbedAt: &noon}); !cmp.Equal(failed, want) {
		t.Errorf("after a failure: %+v", failed)
	}
	if failed.DueForProbe(noon.Add(50*time.Second)) || !failed.DueForProbe(noon.Add(time.Minute)) {
		t.Error("the next probe is not a minute later")
	}
	if up := failed.AfterProbe("", noon.Add(time.Minute)); up.State != lane.Healthy || up.LastError != "" || !up.Since.Equal(noon.Add(time.Minute)) {
		t.Errorf("after a success: %+v", up)
	}
	degraded := lane.Health{State: lane.Degraded, Since: noon, LastError: "connection refused"}
	if got := degraded.AfterProbe("", noon.Add(time.Minute)); got.LastError != "" || got.State != lane.Degraded || got.DueForProbe(noon.Add(time.Minute)) {
		t.Errorf("a lane that fails at times, after one success: %+v", got)
	}
}

// A lane that fails at times has the error of its last probe until one succeeds, or mail was sent since.
func TestTheErrorOfALaneEndsWithASuccess(t *testing.T) {
	t.Parallel()
	degraded := lane.Health{State: lane.Degraded, Since: noon.Add(-4 * time.Minute), LastError: "refused", ProbedAt: new(noon.Add(-time.Minute))}
	failures := traffic.Bucket{At: noon.Add(-2 * time.Minute), Counts: traffic.Counts{Tries: 20, Unreached: 10, Delivered: 10}}
	few := traffic.Bucket{At: noon.Add(-2 * time.Minute), Counts: traffic.Counts{Tries: 5, Unreached: 2}}
	since := traffic.Bucket{At: noon.Add(-30 * time.Second), Counts: traffic.Counts{Delivered: 1}}
	for name, tt := range map[string]struct {
		buckets []traffic.Bucket
		want    string
	}{
		"mail before the probe":               {[]traffic.Bucket{failures}, "refused"},
		"mail since":                          {[]traffic.Bucket{failures, since}, ""},
		"few attempts":                        {[]traffic.Bucket{few}, "refused"},
		"few attempts, but mail was deferred": {[]traffic.Bucket{few, {At: noon, Counts: traffic.Counts{Deferred: 1}}}, ""},
	} {
		if got := degraded.Evaluate(tt.buckets, noon); got.State != lane.Degraded || got.LastError != tt.want {
			t.Errorf("%s: %s, %q, want %q", name, got.State, got.LastError, tt.want)
		}
	}
}

func TestHealthIsStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box := t.Context(), newBox(t)
		account, err := tenant.Create(ctx, db, "acme", "Acme", "Europe/Amsterdam", noon)
		if err != nil {
			t.Fatal(err)
		}
		mine := account.ID
		limited := relay("smtp.example.net")
		limited.MaxPerDay = to(100)
		c, other := mustCreate(t, db, box, mine, limited), mustCreate(t, db, box, mine, relay("smtp.example.net"))
		down := lane.Health{State: lane.Down, Since: noon.Add(time.Minute), LastError: "421 busy", ProbedAt: new(noon.Add(2 * time.Minute))}
		for _, l := range []id.Lane{c.ID, id.New[id.Lane]()} { // the second does not exist
			if err := lane.StoreHealth(ctx, db, traffic.Lane{Tenant: mine, Lane: l}, lane.Health{State: lane.Healthy}, down); err != nil {
				t.Fatal(err)
			}
		}
		midnight := time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC) // of Amsterdam
		for at, n := range map[time.Time]int{midnight.Add(-time.Minute): 500, midnight: 30, noon: 12} {
			err := traffic.Add(ctx, db, at, map[traffic.Key]traffic.Counts{{Tenant: mine, Lane: c.ID}: {Tries: 1, Delivered: n - 3, Hard: 2, Block: 1, Deferred: 4}})
			if err != nil {
				t.Fatal(err)
			}
		}
		stats, err := lane.StatsOf(ctx, db, mine, []lane.Config{c, other}, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := map[id.Lane]lane.Stats{
			c.ID:     {Health: down, SentToday: 42, RemainingToday: new(50), Today: "2026-03-01"},
			other.ID: {Health: lane.Health{State: lane.Healthy, Since: noon}, Today: "2026-03-01"},
		}
		if diff := cmp.Diff(want, stats); diff != "" {
			t.Errorf("FaresOf (-want +got):\n%s", diff)
		}
		if states, err := lane.StatesOf(ctx, db, idtest.Tenant(), []id.Lane{c.ID}); err != nil || states[c.ID].State != lane.Healthy {
			t.Errorf("another tenant sees %+v, %v", states, err)
		}
		if _, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{Port: new(25)}, lane.Rules{}, noon); err != nil {
			t.Fatal(err)
		}
		all, err := lane.LoadHealth(ctx, db)
		if err != nil || len(all) != 1 || all[traffic.Lane{Tenant: mine, Lane: c.ID}].ProbedAt != nil {
			t.Errorf("after a change the lane is not probed at once: %+v, %v", all, err)
		}
	})
}
