package lane

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"net/netip"
	"slices"

	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// SourceWarmup is the warm-up of one source address of a lane of type direct_mx: providers judge the
// addresses that mail comes from, each for itself. Mail to each provider has a limit of its own below
// that of the address.
type SourceWarmup struct {
	IP        netip.Addr       `json:"ip"`
	StartedOn spread.Day       `json:"started_on"`
	Level     int              `json:"level"` // daily limit that applies to LevelDay
	LevelDay  spread.Day       `json:"level_day"`
	Providers []ProviderWarmup `json:"providers"` // one for each of WarmupProviders
}

// ProviderWarmup is the daily limit of mail from one address to one provider.
type ProviderWarmup struct {
	Provider string     `json:"provider"`
	Level    int        `json:"level"`
	LevelDay spread.Day `json:"level_day"`
}

// WarmupProviders returns the provider groups that have limits of their own, and that of all others.
func WarmupProviders() []string {
	names := make([]string, 0, len(groups)+1)
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return append(names, traffic.OtherProviders)
}

// WarmupProvider returns the name in WarmupProviders of a contact's provider.
func WarmupProvider(provider string) string {
	if g := Group(provider); g != "" {
		return g
	}
	return traffic.OtherProviders
}

// WarmsSources reports whether the lane's addresses warm up, each for itself.
func (c Config) WarmsSources() bool { return c.Type == DirectMX && c.Warmup.Enabled }

// at returns the warm-up with another level.
func (w Warmup) at(started spread.Day, level int, day spread.Day) Warmup {
	w.StartedOn, w.Level, w.LevelDay, w.Sources = started, level, day, nil
	return w
}

// withSources returns the lane's warm-up with one for each of its addresses. An address that was added
// begins today. If the parameters changed, all levels are computed again from the days since the start.
func (c Config) withSources(before Warmup, today spread.Day) Warmup {
	w := c.Warmup
	if !c.WarmsSources() {
		w.Sources = nil
		return w
	}
	if today == "" {
		return w
	}
	moved := w.StartPerDay != before.StartPerDay || w.GrowthPct != before.GrowthPct
	restarted := !before.Enabled || w.StartedOn != before.StartedOn
	list := make([]SourceWarmup, 0, len(c.Direct.IPs))
	for _, ip := range c.Direct.IPs {
		i := slices.IndexFunc(before.Sources, func(s SourceWarmup) bool { return s.IP == ip.IP })
		switch {
		case restarted:
			list = append(list, w.newSource(ip.IP, w.StartedOn, w.at(w.StartedOn, w.Level, w.LevelDay).cap(today), today))
		case i < 0 && len(before.Sources) == 0: // the addresses warmed up together until now
			level := w.at(w.StartedOn, w.Level, w.LevelDay).cap(today) / len(c.Direct.IPs)
			list = append(list, w.newSource(ip.IP, w.StartedOn, max(level, 1), today))
		case i < 0:
			list = append(list, w.newSource(ip.IP, today, w.StartPerDay, today))
		case moved:
			from := before.Sources[i].StartedOn
			list = append(list, w.newSource(ip.IP, from, w.at(from, 0, "").cap(today), today))
		default:
			list = append(list, before.Sources[i])
		}
	}
	w.Sources = list
	return w
}

func (w Warmup) newSource(ip netip.Addr, started spread.Day, level int, today spread.Day) SourceWarmup {
	s := SourceWarmup{IP: ip, StartedOn: started, Level: level, LevelDay: today}
	for _, p := range WarmupProviders() {
		s.Providers = append(s.Providers, ProviderWarmup{p, level, today})
	}
	return s
}

// SourceCap returns the warm-up's limit of a source address on a day.
func (c Config) SourceCap(ip netip.Addr, day spread.Day) (n int, capped bool) {
	if !c.WarmsSources() {
		return 0, false
	}
	for _, s := range c.Warmup.Sources {
		if s.IP == ip {
			return c.Warmup.at(s.StartedOn, s.Level, s.LevelDay).cap(day), true
		}
	}
	return c.Warmup.StartPerDay, true // the watch adds it
}

// ProviderCap returns the warm-up's limit of mail from an address to a provider on a day. The limit grows
// when a good day was evaluated, not by the day alone.
func (c Config) ProviderCap(ip netip.Addr, provider string) (n int, capped bool) {
	if !c.WarmsSources() {
		return 0, false
	}
	for _, s := range c.Warmup.Sources {
		for _, p := range s.Providers {
			if s.IP == ip && p.Provider == provider {
				return max(p.Level, 1), true
			}
		}
	}
	return c.Warmup.StartPerDay, true
}

// NewDomainCap returns the limit of a day of mail from a sending domain with so many good days behind it:
// half of that of an address.
func (w Warmup) NewDomainCap(days int) int {
	n := float64(w.StartPerDay) * math.Pow(1+float64(w.GrowthPct)/100, float64(days)) / 2
	return int(max(1, min(n+1e-6, maxRate)))
}

// PickSource selects the address of a list for a contact's mail, in proportion to the addresses' limits
// today. As limits grow, few contacts change their address (weighted rendezvous hashing).
func (c Config) PickSource(list []netip.Addr, contact uint64, today spread.Day) netip.Addr {
	var best netip.Addr
	most := math.Inf(-1)
	for _, ip := range list {
		n, _ := c.SourceCap(ip, today)
		h := fnv.New64a()
		_, _ = h.Write(binary.BigEndian.AppendUint64(ip.AsSlice(), contact)) // never fails
		x := h.Sum64()
		x = (x ^ x>>33) * 0xff51afd7ed558ccd
		x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
		x ^= x >> 33
		u := (float64(x>>11) + 0.5) / (1 << 53)
		if score := -float64(n) / math.Log(u); score > most {
			best, most = ip, score
		}
	}
	return best
}

// OnSources returns the warm-up of a lane's addresses with their limits for today, depending on
// yesterday's traffic of each address to each provider. That to unknown addresses is reports about mail
// from all of them.
//
// The limit of an address to a provider follows On. The limit of the address does, too, by its traffic to
// the providers to which it went well: one that refuses mail slows down its own share only.
func (c Config) OnSources(today spread.Day, yesterday map[traffic.SourceProvider]traffic.ProviderCounts) Warmup {
	w := c.withSources(c.Warmup, today)
	for i, s := range w.Sources {
		var all, good Day
		providers := slices.Clone(s.Providers)
		for j, p := range providers {
			d := dayOf(yesterday, s.IP, p.Provider)
			next := w.at(s.StartedOn, p.Level, p.LevelDay).On(today, d)
			providers[j].Level, providers[j].LevelDay = next.Level, today
			all = all.plus(d)
			if d.worst(traffic.Rate) < 1 {
				good = good.plus(d)
			}
		}
		if good.Tried > 0 {
			all = good
		}
		next := w.at(s.StartedOn, s.Level, s.LevelDay).On(today, all)
		w.Sources[i] = SourceWarmup{s.IP, s.StartedOn, next.Level, today, providers}
	}
	return w
}

// dayOf returns the day of an address with a provider. Of the reports about all addresses it gets a part
// by its share of the deliveries.
func dayOf(yesterday map[traffic.SourceProvider]traffic.ProviderCounts, ip netip.Addr, provider string) Day {
	own, shared := yesterday[traffic.SourceProvider{Source: ip, Provider: provider}], yesterday[traffic.SourceProvider{Provider: provider}]
	delivered := 0
	for k, n := range yesterday {
		if k.Provider == provider {
			delivered += n.Delivered
		}
	}
	part := func(n int) int { return int(math.Round(float64(n) * traffic.Rate(own.Delivered, delivered))) }
	d := DayOf(own.Counts)
	d.Hard += part(shared.Late)
	d.Complained += part(shared.Complained)
	return d
}

// DayOf returns the day with these counts.
func DayOf(n traffic.Counts) Day {
	return Day{
		Sent: n.Delivered, Tried: n.Delivered + n.Deferred + n.Hard + n.Block,
		Deferred: n.Deferred, Blocked: n.Block, Hard: n.Hard + n.Late, Complained: n.Complained,
	}
}

func (d Day) plus(o Day) Day {
	return Day{d.Sent + o.Sent, d.Tried + o.Tried, d.Deferred + o.Deferred, d.Blocked + o.Blocked, d.Hard + o.Hard, d.Complained + o.Complained}
}

// Good reports whether a day had traffic that allows more on the next.
func (d Day) Good() bool { return d.Tried > 0 && d.worst(traffic.Rate) < 1 }

// Bad reports whether a day's rates were certainly far too high.
func (d Day) Bad() bool { return d.worst(traffic.AtLeast) >= 3 }
