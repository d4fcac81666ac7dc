package lane

import (
	"math"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// Warmup raises a new lane's daily limit: StartPerDay on the first day, and GrowthPct percent more
// after each good day.
type Warmup struct {
	Enabled     bool       `json:"enabled,omitempty"`
	StartPerDay int        `json:"start_per_day"`
	GrowthPct   int        `json:"growth_pct"`
	StartedOn   spread.Day `json:"started_on,omitempty"` // in the account's time zone
	Level       int        `json:"level,omitempty"`      // daily limit earned until LevelDay; 0: as computed from the days alone
	LevelDay    spread.Day `json:"level_day,omitempty"`  // the day that Level applies to

	Sources []SourceWarmup `json:"sources,omitempty"` // of a lane of type direct_mx, in place of Level
}

// WarmupFields are the fields of a request. A nil field is absent.
type WarmupFields struct {
	Enabled     *bool
	StartPerDay *int
	GrowthPct   *int
	StartedOn   *string // empty: none, or today if the warm-up is enabled
}

// noWarmup is a disabled warm-up with defaults.
var noWarmup = Warmup{StartPerDay: 200, GrowthPct: 30}

// apply sets the fields in f. When a warm-up is enabled, or its parameters are changed, its level
// is computed from the days since its start; afterwards growth must be earned.
func (f WarmupFields) apply(w Warmup, today spread.Day, p *fault.Problems) Warmup {
	before := w
	set(&w.Enabled, f.Enabled)
	set(&w.StartPerDay, f.StartPerDay)
	set(&w.GrowthPct, f.GrowthPct)
	checkRange(p, "warmup.start_per_day", w.StartPerDay, 1, maxRate)
	checkRange(p, "warmup.growth_pct", w.GrowthPct, 0, 100)
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

// DayCap returns the maximum number of messages on a day: the lower of the lane's cap and the
// warm-up's limit, which is the sum of those of its addresses. For future days it assumes that growth is earned on each day before. Without
// both, capped is false.
func (c Config) DayCap(day spread.Day) (n int, capped bool) {
	n = c.Caps.MaxPerDay
	switch {
	case c.WarmsSources():
		sum := 0
		for _, s := range c.Direct.IPs {
			w, _ := c.SourceCap(s.IP, day)
			sum += w
		}
		if n == 0 || sum < n {
			n = sum
		}
	case c.Warmup.Enabled:
		if w := c.Warmup.cap(day); n == 0 || w < n {
			n = w
		}
	}
	return n, n > 0
}

// cap returns the warm-up's limit on a day; before the start, that of the first day.
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
	const almost = 1e-6 // 200 grown by 30 % twice is 338, not 337.99…
	return int(max(1, min(n+almost, maxRate)))
}

// WarmupDay is a day of a warm-up.
type WarmupDay struct {
	Date    spread.Day
	Planned int // the limit if every day before was good
	Limit   int // the limit as it was earned; in the future as it will be if every day is good; 0: a past day, of which only today's limit tells
}

// Ahead is the number of days after today that WarmupDays returns.
const Ahead = 14

// WarmupDays returns the days of the warm-up from its start, at most 60 days ago, to some days ahead, and none
// if it is off.
func (c Config) WarmupDays(today spread.Day) []WarmupDay {
	if !c.Warmup.Enabled || today == "" {
		return nil
	}
	sources := 1
	if c.WarmsSources() {
		sources = len(c.Direct.IPs)
	}
	plan := c.Warmup.at(c.Warmup.StartedOn, 0, "")
	unlimited := c
	unlimited.Caps.MaxPerDay = 0
	from := max(min(c.Warmup.StartedOn, today), today.Add(-60))
	days := []WarmupDay{}
	for day := from; day <= today.Add(Ahead); day = day.Add(1) {
		d := WarmupDay{Date: day, Planned: sources * plan.cap(day)}
		if day >= today {
			d.Limit, _ = unlimited.DayCap(day)
		}
		days = append(days, d)
	}
	return days
}

func daysBetween(from, to spread.Day) int {
	a, err := time.Parse(time.DateOnly, string(from))
	b, bad := time.Parse(time.DateOnly, string(to))
	if err != nil || bad != nil {
		return 0
	}
	return int(b.Sub(a) / (24 * time.Hour))
}

// Day is the traffic of a lane on one day.
type Day struct {
	Sent       int // accepted messages
	Tried      int // messages that a server answered
	Deferred   int
	Blocked    int
	Hard       int
	Complained int
}

// On returns the warm-up with its limit for today, depending on yesterday's traffic. The limit
// grows after a day of use with few deferrals, refusals and complaints. It does not change after a
// day without use, or for days that were skipped. It is halved after a day whose rates were
// certainly far too high.
func (w Warmup) On(today spread.Day, yesterday Day) Warmup {
	level := w.Level
	switch {
	case w.LevelDay >= today:
		return w
	case w.LevelDay == "" || today <= w.StartedOn:
		w.LevelDay = ""
		level = w.cap(today)
	case yesterday.worst(traffic.AtLeast) >= 3: // by the lower bound: one complaint on a small first day must not suffice
		level = max(w.Level/2, 1)
	case yesterday.Tried > 0 && yesterday.worst(traffic.Rate) < 1:
		w.LevelDay = today.Add(-1)
		level = w.cap(today)
	}
	w.Level, w.LevelDay = level, today
	return w
}

// worst returns the ratio of the day's worst rate to its threshold: 1 is at the threshold, 3 three
// times as high.
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
