package lane_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var rules = lane.Rules{Today: "2026-03-01"}

func to(n int) *lane.Bound { return &lane.Bound{To: &n} }

func TestLimitsAreCheckedAllAtOnce(t *testing.T) {
	t.Parallel()
	db, box := dbtest.One(t), newBox(t)
	many := make([]lane.ThrottleFields, 101)
	for i := range many {
		many[i] = lane.ThrottleFields{Pattern: fmt.Sprintf("d%d.example", i), MaxPerHour: new(1)}
	}
	throttles := func(list ...lane.ThrottleFields) lane.Fields { return lane.Fields{Throttles: &list} }
	for _, tt := range []struct {
		name   string
		fields lane.Fields
		wrong  []string
	}{
		{"none", lane.Fields{}, nil},
		{"every cap", lane.Fields{MaxPerSecond: to(1), MaxPerMinute: to(60), MaxPerHour: to(3600), MaxPerDay: to(100_000_000)}, nil},
		{"no caps", lane.Fields{MaxPerSecond: &lane.Bound{}, MaxPerDay: &lane.Bound{}}, nil},
		{"caps of nothing", lane.Fields{MaxPerSecond: to(0), MaxPerMinute: to(-1), MaxPerHour: to(0), MaxPerDay: to(100_000_001)},
			[]string{"caps.max_per_second", "caps.max_per_minute", "caps.max_per_hour", "caps.max_per_day"}},
		{"every provider", throttles(
			lane.ThrottleFields{Pattern: "gmail", MaxPerHour: new(1)}, lane.ThrottleFields{Pattern: "Outlook", MaxConnections: new(1)},
			lane.ThrottleFields{Pattern: " yahoo ", MaxPerMinute: new(1)}, lane.ThrottleFields{Pattern: "icloud", MaxPerMinute: new(1)},
			lane.ThrottleFields{Pattern: "aol", MaxPerMinute: new(1)}, lane.ThrottleFields{Pattern: "proton", MaxPerMinute: new(1)},
			lane.ThrottleFields{Pattern: "GMAIL.com", MaxPerMinute: new(1)}), nil},
		{"other words", throttles(
			lane.ThrottleFields{MaxPerMinute: new(1)}, lane.ThrottleFields{Pattern: "google_workspace", MaxPerMinute: new(1)},
			lane.ThrottleFields{Pattern: "a@x.org", MaxPerMinute: new(1)}, lane.ThrottleFields{Pattern: "*.x.org", MaxPerMinute: new(1)}),
			[]string{"domain_throttles[0].pattern", "domain_throttles[1].pattern", "domain_throttles[2].pattern", "domain_throttles[3].pattern"}},
		{"one domain twice", throttles(
			lane.ThrottleFields{Pattern: "bücher.example", MaxPerMinute: new(1)}, lane.ThrottleFields{Pattern: "XN--bcher-kva.example", MaxPerMinute: new(1)}),
			[]string{"domain_throttles[1].pattern"}},
		{"throttles without and with bad limits", throttles(
			lane.ThrottleFields{Pattern: "gmail"}, lane.ThrottleFields{Pattern: "aol", MaxConnections: new(0), MaxPerMinute: new(-1), MaxPerHour: new(0)}),
			[]string{"domain_throttles[0]", "domain_throttles[1].max_connections", "domain_throttles[1].max_per_minute", "domain_throttles[1].max_per_hour"}},
		{"too many throttles", throttles(many...), []string{"domain_throttles"}},
		{"a warm-up", lane.Fields{Warmup: lane.WarmupFields{Enabled: new(true), StartPerDay: new(1), GrowthPct: new(0), StartedOn: new("2025-12-31")}}, nil},
		{"a bad warm-up", lane.Fields{Warmup: lane.WarmupFields{StartPerDay: new(0), GrowthPct: new(101), StartedOn: new("31.12.2025")}},
			[]string{"warmup.start_per_day", "warmup.growth_pct", "warmup.started_on"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.fields
			f.Name, f.Type = new("x"), new(lane.Sink)
			_, err := lane.Create(t.Context(), db, box, idtest.Tenant(), f, rules, noon)
			if diff := cmp.Diff(tt.wrong, invalidPaths(t, err)); diff != "" {
				t.Errorf("Create = %v; wrong fields (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestLimitsAreKept(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box, mine := t.Context(), newBox(t), idtest.Tenant()
		f := relay("smtp.example.net")
		f.MaxPerSecond, f.MaxPerDay = to(10), to(5000)
		f.Throttles = &[]lane.ThrottleFields{{Pattern: "gmail", MaxConnections: new(5), MaxPerMinute: new(300)}}
		f.Warmup = lane.WarmupFields{Enabled: new(true)}
		c, err := lane.Create(ctx, db, box, mine, f, rules, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := c
		want.Caps = lane.Caps{MaxPerSecond: 10, MaxPerDay: 5000, MaxConnections: 10, MaxMessagesPerConnection: 100}
		want.Throttles = []lane.Throttle{{Pattern: "gmail", MaxConnections: 5, MaxPerMinute: 300}}
		want.Warmup = lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, StartedOn: "2026-03-01", Level: 200, LevelDay: "2026-03-01"}
		if got, err := lane.ByID(ctx, db, mine, c.ID); err != nil || !cmp.Equal(got, want) || !cmp.Equal(c, want) {
			t.Errorf("kept: %v\n%s", err, cmp.Diff(want, got))
		}
		got, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{MaxPerSecond: &lane.Bound{}, Throttles: &[]lane.ThrottleFields{}, Warmup: lane.WarmupFields{Enabled: new(false)}}, rules, noon)
		want.Caps.MaxPerSecond, want.Throttles, want.Warmup, want.Revision = 0, nil, lane.Warmup{StartPerDay: 200, GrowthPct: 30}, 2
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("lifted: %v\n%s", err, cmp.Diff(want, got))
		}
	})
}

func TestAThrottleIsFoundByDomainBeforeProvider(t *testing.T) {
	t.Parallel()
	c := lane.Config{Throttles: []lane.Throttle{{Pattern: "gmail"}, {Pattern: "outlook"}, {Pattern: "slow.example"}, {Pattern: "googlemail.com"}}}
	for _, tt := range []struct{ provider, domain, want string }{
		{"gmail", "gmail.com", "gmail"},
		{"gmail", "googlemail.com", "googlemail.com"},
		{"google_workspace", "shop.example", "gmail"},
		{"google_workspace", "slow.example", "slow.example"},
		{"outlook", "hotmail.com", "outlook"},
		{"microsoft365", "firm.example", "outlook"},
		{"yahoo", "yahoo.com", ""},
		{"other", "SLOW.example", "slow.example"},
		{"other", "sub.slow.example", ""},
		{"", "x.example", ""},
	} {
		got := ""
		if throttle := c.Throttle(tt.provider, tt.domain); throttle != nil {
			got = throttle.Pattern
		}
		if got != tt.want {
			t.Errorf("Throttle(%q, %q) = %q, want %q", tt.provider, tt.domain, got, tt.want)
		}
	}
	if (lane.Config{}).Throttle("gmail", "gmail.com") != nil {
		t.Error("a lane without throttles has one")
	}
}

func TestDayCap(t *testing.T) {
	t.Parallel()
	warm := lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, StartedOn: "2026-03-01"}
	earned := warm
	earned.Level, earned.LevelDay = 100, "2026-03-10"
	steep := warm
	steep.GrowthPct = 100
	for _, tt := range []struct {
		name string
		cap  int
		warm lane.Warmup
		day  spread.Day
		want int // 0: not capped
	}{
		{"nothing", 0, lane.Warmup{}, "2026-03-01", 0},
		{"a cap", 700, lane.Warmup{}, "2026-03-01", 700},
		{"the first day", 0, warm, "2026-03-01", 200},
		{"before it", 0, warm, "2026-02-01", 200},
		{"the second", 0, warm, "2026-03-02", 260},
		{"the third", 0, warm, "2026-03-03", 338},
		{"the fourth", 0, warm, "2026-03-04", 439},
		{"the 22nd", 0, warm, "2026-03-22", 49412},
		{"under a cap", 300, warm, "2026-03-02", 260},
		{"at a cap", 300, warm, "2026-03-03", 300},
		{"what was earned", 0, earned, "2026-03-10", 100},
		{"and what would be", 0, earned, "2026-03-12", 169},
		{"what is past", 0, earned, "2026-03-05", 100},
		{"long ago", 0, steep, "2126-03-05", 100_000_000},
		{"switched off", 0, lane.Warmup{StartPerDay: 200}, "2026-03-05", 0},
	} {
		c := lane.Config{Caps: lane.Caps{MaxPerDay: tt.cap}, Warmup: tt.warm}
		if n, capped := c.DayCap(tt.day); n != tt.want || capped != (tt.want > 0) {
			t.Errorf("%s: DayCap(%s) = %d, %t; want %d", tt.name, tt.day, n, capped, tt.want)
		}
	}
}

func TestWarmupsAreEarned(t *testing.T) {
	t.Parallel()
	at := lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, StartedOn: "2026-03-01", Level: 1000, LevelDay: "2026-03-07"}
	for _, tt := range []struct {
		name string
		day  lane.Day
		want int
	}{
		{"a good day", lane.Day{Tried: 1000, Sent: 990, Deferred: 10}, 1300},
		{"an idle day", lane.Day{}, 1000},
		{"deferrals", lane.Day{Tried: 1000, Sent: 950, Deferred: 50}, 1000},
		{"many deferrals", lane.Day{Tried: 1000, Sent: 800, Deferred: 200}, 500},
		{"blocks", lane.Day{Tried: 1000, Sent: 995, Blocked: 5}, 1000},
		{"many blocks", lane.Day{Tried: 1000, Sent: 950, Blocked: 50}, 500},
		{"hard bounces", lane.Day{Tried: 1000, Sent: 970, Hard: 20}, 1000},
		{"many hard bounces", lane.Day{Tried: 1000, Sent: 900, Hard: 100}, 500},
		{"one complaint is no proof", lane.Day{Tried: 200, Sent: 200, Complained: 1}, 1000},
		{"many are", lane.Day{Tried: 1000, Sent: 1000, Complained: 10}, 500},
	} {
		got := at.On("2026-03-08", tt.day)
		if got.Level != tt.want || got.LevelDay != "2026-03-08" {
			t.Errorf("%s: %d on %s, want %d on the 8th", tt.name, got.Level, got.LevelDay, tt.want)
		}
		if again := got.On("2026-03-08", lane.Day{Tried: 1}); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: a second look on one day makes %+v of %+v", tt.name, again, got)
		}
	}
	if got := at.On("2026-03-20", lane.Day{Tried: 10, Sent: 10}); got.Level != 1300 {
		t.Errorf("after skipped days:  %d, want one step, 1300", got.Level)
	}
	future := lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, StartedOn: "2026-03-09", Level: 200, LevelDay: "2026-03-07"}
	if got := future.On("2026-03-09", lane.Day{Tried: 10, Sent: 10}); got.Level != 200 {
		t.Errorf("on its first day: %d, want 200", got.Level)
	}
}

// In any series of days, a warm-up never allows 0, never grows by more than its percentage, and its
// projection never shrinks.
func TestWarmupsStayWithinTheirGrowth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		day := spread.Day("2026-03-01")
		w := lane.Warmup{
			Enabled: true, StartPerDay: rapid.IntRange(1, 5000).Draw(t, "start"), GrowthPct: rapid.IntRange(0, 100).Draw(t, "growth"), StartedOn: day.Add(rapid.IntRange(-5, 5).Draw(t, "begins")),
		}
		w = w.On(day, lane.Day{})
		for range rapid.IntRange(1, 30).Draw(t, "days") {
			before, _ := lane.Config{Warmup: w}.DayCap(day)
			day = day.Add(rapid.IntRange(1, 3).Draw(t, "until"))
			n := rapid.IntRange(0, 5000).Draw(t, "tried")
			bad := func(what string) int { return rapid.IntRange(0, n/10).Draw(t, what) }
			w = w.On(day, lane.Day{Tried: n, Sent: n, Deferred: bad("deferred"), Blocked: bad("blocked"), Hard: bad("hard"), Complained: bad("complained")})
			now, capped := lane.Config{Warmup: w}.DayCap(day)
			if !capped || now < 1 || float64(now) > max(float64(before)*(1+float64(w.GrowthPct)/100), float64(w.StartPerDay))+1 {
				t.Fatalf("%d a day becomes %d (%+v)", before, now, w)
			}
			if next, _ := (lane.Config{Warmup: w}).DayCap(day.Add(1)); next < now {
				t.Fatalf("%d today, %d tomorrow", now, next)
			}
		}
	})
}

func TestAnEnabledWarmupStartsAtTheLevelOfItsDays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box, mine := t.Context(), newBox(t), idtest.Tenant()
		change := func(f lane.WarmupFields, today spread.Day, config id.Lane) lane.Config {
			t.Helper()
			c, err := lane.Update(ctx, db, box, mine, config, lane.Fields{Warmup: f}, lane.Rules{Today: today}, noon)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		c := mustCreate(t, db, box, mine, relay("smtp.example.net"))
		if list, err := lane.WarmingUp(ctx, db); err != nil || len(list) != 0 {
			t.Fatalf("WarmingUp = %d lanes, %v; want none", len(list), err)
		}
		on := change(lane.WarmupFields{Enabled: new(true), StartedOn: new("2026-02-27")}, "2026-03-01", c.ID)
		if n, _ := on.DayCap("2026-03-01"); n != 338 || on.Warmup.LevelDay != "2026-03-01" {
			t.Errorf("two days after its start it may carry %d (%+v)", n, on.Warmup)
		}
		list, err := lane.WarmingUp(ctx, db)
		if err != nil || len(list) != 1 || !cmp.Equal(list[0], on) {
			t.Fatalf("WarmingUp = %v\n%s", err, cmp.Diff([]lane.Config{on}, list))
		}
		held := on.Warmup.On("2026-03-02", lane.Day{})
		if set, err := lane.SetWarmup(ctx, db, list[0], held); !set || err != nil {
			t.Fatalf("SetWarmup = %t, %v", set, err)
		}
		if set, err := lane.SetWarmup(ctx, db, list[0], held.On("2026-03-03", lane.Day{})); set || err != nil {
			t.Errorf("SetWarmup of one that changed = %t, %v", set, err)
		}
		if renamed := change(lane.WarmupFields{Enabled: new(true)}, "2026-03-02", c.ID); !reflect.DeepEqual(renamed.Warmup, held) {
			t.Errorf("a change of nothing makes %+v of %+v", renamed.Warmup, held)
		}
		if slower := change(lane.WarmupFields{GrowthPct: new(0)}, "2026-03-02", c.ID); slower.Warmup.Level != 200 {
			t.Errorf("at another pace: %+v", slower.Warmup)
		}
		off := change(lane.WarmupFields{Enabled: new(false)}, "2026-03-02", c.ID)
		if again := change(lane.WarmupFields{Enabled: new(true)}, "2026-03-05", c.ID); off.Warmup.StartedOn != "" || again.Warmup.StartedOn != "2026-03-05" {
			t.Errorf("off %+v, on again %+v", off.Warmup, again.Warmup)
		}
		if err := lane.Delete(ctx, db, mine, c.ID, usage.Finders{}); err != nil {
			t.Fatal(err)
		}
		if set, err := lane.SetWarmup(ctx, db, list[0], held); set || err != nil {
			t.Errorf("SetWarmup of one that is gone = %t, %v", set, err)
		}
		if _, err := lane.ByID(ctx, db, mine, c.ID); !errors.Is(err, lane.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestTheDaysOfAWarmup(t *testing.T) {
	c := lane.Config{Caps: lane.Caps{MaxPerDay: 300}, Warmup: lane.Warmup{Enabled: true, StartPerDay: 200, GrowthPct: 30, StartedOn: "2026-03-01", Level: 200, LevelDay: "2026-03-03"}}
	days := c.WarmupDays("2026-03-03")
	if len(days) != 3+lane.Ahead {
		t.Fatalf("%d days, want %d", len(days), 3+lane.Ahead)
	}
	want := []lane.WarmupDay{{"2026-03-01", 200, 0}, {"2026-03-02", 260, 0}, {"2026-03-03", 338, 200}, {"2026-03-04", 439, 260}}
	if got := days[:4]; !slices.Equal(got, want) {
		t.Errorf("the first days are %v, want %v", got, want)
	}
	if days := (lane.Config{}).WarmupDays("2026-03-03"); len(days) != 0 {
		t.Errorf("a lane without a warm-up has the days %v", days)
	}
	late := c
	late.Warmup.StartedOn = "2025-03-01"
	if days := late.WarmupDays("2026-03-03"); len(days) != 60+1+lane.Ahead {
		t.Errorf("a long warm-up has %d days", len(days))
	}
}

func TestTheLowestLimitCountsAnHour(t *testing.T) {
	for _, tt := range []struct {
		caps lane.Caps
		want int
	}{
		{lane.Caps{}, 0}, {lane.Caps{MaxPerSecond: 2}, 7200}, {lane.Caps{MaxPerSecond: 2, MaxPerMinute: 100}, 6000},
		{lane.Caps{MaxPerMinute: 100, MaxPerHour: 500}, 500}, {lane.Caps{MaxPerHour: 500, MaxPerDay: 300}, 300},
	} {
		if got, capped := tt.caps.Hourly(); got != tt.want || capped != (tt.want > 0) {
			t.Errorf("%+v: %d an hour, %v; want %d", tt.caps, got, capped, tt.want)
		}
	}
}
