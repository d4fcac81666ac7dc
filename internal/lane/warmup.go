package lane

import (
	"math"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/traffic"
)

// Warmup lets a new lane carry a little more each day: so many messages on the
// day it starts, and so many percent more on each day that follows one that
// went well.
type Warmup struct {
	Enabled     bool       `json:"enabled,omitempty"`
	StartPerDay int        `json:"start_per_day"`
	GrowthPct   int        `json:"growth_pct"`
	StartedOn   spread.Day `json:"started_on,omitempty"` // in the account's time zone
	Level       int        `json:"level,omitempty"`      // what was earned until LevelDay; 0: what the days alone give
	LevelDay    spread.Day `json:"level_day,omitempty"`  // the day that Level is for
}

// WarmupFields are what a caller may set of a warm-up. A nil field was not given.
type WarmupFields struct {
	Enabled     *bool
	StartPerDay *int
	GrowthPct   *int
	StartedOn   *string // empty: none, or today if the warm-up is on
}

// noWarmup is the warm-up of a lane that needs none.
var noWarmup = Warmup{StartPerDay: 200, GrowthPct: 30}

// apply sets what f gives. A warm-up that is switched on, or whose pace is
// changed, is where its days put it; from then on it has to earn its growth.
func (f WarmupFields) apply(w Warmup, today spread.Day, p *fault.Problems) Warmup {
	before := w
	set(&w.Enabled, f.Enabled)
	set(&w.StartPerDay, f.StartPerDay)
	set(&w.GrowthPct, f.GrowthPct)
	between(p, "warmup.start_per_day", w.StartPerDay, 1, maxRate)
	between(p, "warmup.growth_pct", w.GrowthPct, 0, 100)
	switch {
	case f.StartedOn != nil && *f.StartedOn != "":
		day, err := spread.ParseDay(*f.StartedOn)
		if err != nil {
			p.Add("warmup.started_on", "must be a day, such as 2026-03-02")
			return w
		}
		w.StartedOn = day
	case f.StartedOn != nil, before.Enabled && !w.Enabled:
		w.StartedOn = ""
	}
	if !w.Enabled {
		w.Level, w.LevelDay = 0, ""
		return w
	}
	if w.StartedOn == "" {
		w.StartedOn = today
	}
	moved := before.Enabled != w.Enabled || before.StartPerDay != w.StartPerDay || before.GrowthPct != w.GrowthPct || before.StartedOn != w.StartedOn
	if moved && today != "" {
		w.Level, w.LevelDay = 0, ""
		w.Level, w.LevelDay = w.cap(today), today
	}
	return w
}

// DayCap returns how many messages the lane may carry on a day: the lower of
// its cap and what its warm-up allows, which for days to come supposes that
// growth is earned on every day before them. Without a cap and a warm-up it is
// not capped.
func (c Config) DayCap(day spread.Day) (n int, capped bool) {
	n = c.Caps.MaxPerDay
	if c.Warmup.Enabled {
		if w := c.Warmup.cap(day); n == 0 || w < n {
			n = w
		}
	}
	return n, n > 0
}

// cap returns what the warm-up allows on a day. Before it starts it allows what
// it allows on its first day.
func (w Warmup) cap(day spread.Day) int {
	from, level := w.StartedOn, w.StartPerDay
	if w.LevelDay != "" && w.LevelDay >= from {
		from, level = w.LevelDay, w.Level
	}
	days := daysBetween(from, day)
	if days <= 0 {
		return max(level, 1)
	}
	n := float64(level) * math.Pow(1+float64(w.GrowthPct)/100, float64(days))
	const almost = 1e-6 // 200 grown by 30% twice is 338, not 337.99…
	return int(max(1, min(n+almost, maxRate)))
}

func daysBetween(from, to spread.Day) int {
	a, err := time.Parse(time.DateOnly, string(from))
	b, bad := time.Parse(time.DateOnly, string(to))
	if err != nil || bad != nil {
		return 0
	}
	return int(b.Sub(a) / (24 * time.Hour))
}

// Day is what a lane carried on one day.
type Day struct {
	Sent       int // messages that a server took
	Tried      int // messages that a server gave an answer for
	Deferred   int
	Blocked    int
	Hard       int
	Complained int
}

// On returns the warm-up with what it allows today, judged by what the lane
// carried yesterday. Growth is earned: by a day of use on which few messages
// were put off, refused or complained of. A day without use, and one that
// nobody looked at, changes nothing; a day on which surely far too many were
// halves what may be carried.
func (w Warmup) On(today spread.Day, yesterday Day) Warmup {
	level := w.Level
	switch {
	case w.LevelDay >= today:
		return w
	case w.LevelDay == "" || today <= w.StartedOn:
		w.LevelDay = ""
		level = w.cap(today)
	case yesterday.worst(traffic.AtLeast) >= 3: // surely, or one complaint of a first small day would do it
		level = max(w.Level/2, 1)
	case yesterday.Tried > 0 && yesterday.worst(traffic.Rate) < 1:
		w.LevelDay = today.Add(-1)
		level = w.cap(today)
	}
	w.Level, w.LevelDay = level, today
	return w
}

// worst returns how far the worst of the day's rates is from its limit: 1 is at
// it, 3 is three times as much.
func (d Day) worst(rate func(n, of int) float64) (over float64) {
	for _, r := range []struct {
		n, of int
		limit float64
	}{
		{d.Deferred, d.Tried, 0.05}, {d.Blocked, d.Tried, 0.005}, {d.Hard, d.Tried, 0.02}, {d.Complained, d.Sent, 0.001},
	} {
		over = max(over, rate(r.n, r.of)/r.limit)
	}
	return over
}
