package classify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
)

// Replay is the result of a scenario.
type Replay struct {
	Scenario    string    `json:"scenario"`
	Events      []Verdict `json:"events"` // of the opens and clicks, in the order of the file
	Counters    Counters  `json:"counters"`
	AsExpected  *bool     `json:"as_expected"` // null: the scenario does not say what it expects
	Differences []string  `json:"differences"`
}

// Verdict is what was decided about one open or click.
type Verdict struct {
	Class  track.Class `json:"class"` // empty if it was not stored and equals none that was
	Rule   string      `json:"rule"`
	Stored bool        `json:"stored"`
}

// Counters are the numbers of recipients that a report shows.
type Counters struct {
	ApparentOpened  int `json:"apparent_opened"`
	VerifiedOpened  int `json:"verified_opened"`
	TotalOpened     int `json:"total_opened"`
	ConfirmedOpened int `json:"confirmed_opened"`
	BotOpened       int `json:"bot_opened"`
	PendingOpened   int `json:"pending_opened"`
	TotalClicked    int `json:"total_clicked"`
	BotClicked      int `json:"bot_clicked"`
	PendingClicked  int `json:"pending_clicked"`
}

// named returns the counters by their names in files.
func (c *Counters) named() map[string]*int {
	return map[string]*int{
		"apparent_opened": &c.ApparentOpened, "verified_opened": &c.VerifiedOpened, "total_opened": &c.TotalOpened,
		"confirmed_opened": &c.ConfirmedOpened, "bot_opened": &c.BotOpened, "pending_opened": &c.PendingOpened,
		"total_clicked": &c.TotalClicked, "bot_clicked": &c.BotClicked, "pending_clicked": &c.PendingClicked,
	}
}

// counterFlags are the flags that the counters count.
var counterFlags = map[string]track.Flags{
	"apparent_opened": track.ApparentOpened, "verified_opened": track.VerifiedOpened, "total_opened": track.HumanOpened,
	"confirmed_opened": track.Confirmed, "bot_opened": track.BotOpened, "pending_opened": track.PendingOpened,
	"total_clicked": track.HumanClicked, "bot_clicked": track.BotClicked, "pending_clicked": track.PendingClicked,
}

// Classify judges the requests of a scenario as an Engine would have until AsOf, which must not be
// zero. It uses no database and no clock; the order of the events does not matter. lists may be nil.
func (s *Scenario) Classify(lists *Lists) Replay {
	stored, first := s.store()
	fanOut := fanOutOf(stored)
	byMessage := map[id.Message][]track.Hit{}
	for _, h := range stored {
		byMessage[h.Message] = append(byMessage[h.Message], h)
	}
	extra := s.others()
	agents := NewAgents(lists)
	found := map[id.Hit]track.Hit{}
	out := Replay{Scenario: s.Name, Events: []Verdict{}, Differences: []string{}}
	counters := out.Counters.named()
	for _, m := range slices.SortedFunc(maps.Keys(byMessage), id.Compare) {
		hits := s.judge(byMessage[m], extra[m], Case{
			Links: s.Links, Agents: agents, Lists: lists, Gateway: s.Gateway,
			FanOut: func(h *track.Hit) bool { return fanOut[h.ID] },
		})
		flags := track.Derive(hits)
		for name, flag := range counterFlags {
			if flags&flag != 0 {
				*counters[name]++
			}
		}
		for _, h := range hits {
			found[h.ID] = h
		}
	}
	for i, h := range s.Hits {
		h.Prepare()
		v := Verdict{}
		if j, ok := first[h.ID]; ok {
			v = Verdict{Class: found[h.ID].Class, Rule: found[h.ID].Rule, Stored: i == j}
		}
		out.Events = append(out.Events, v)
	}
	s.compare(&out)
	return out
}

// store returns the hits that are stored: those of our tokens, the first of equal ones, at most
// track.MaxHits of a message. first has the index of each in Hits.
func (s *Scenario) store() (stored []track.Hit, first map[id.Hit]int) {
	first = map[id.Hit]int{}
	count := map[id.Message]int{}
	for _, e := range s.events {
		if e.hit < 0 || e.recipient < 0 {
			continue
		}
		h := s.Hits[e.hit]
		if s.accepted {
			h.SinceSent = new(h.At.Sub(s.from))
		}
		h.Prepare()
		if _, ok := first[h.ID]; ok || count[h.Message] == track.MaxHits {
			continue
		}
		first[h.ID] = e.hit
		count[h.Message]++
		stored = append(stored, h)
	}
	return stored, first
}

// others returns the events that are no opens or clicks until AsOf, by message.
func (s *Scenario) others() map[id.Message][]event {
	byMessage := map[id.Message][]event{}
	for _, e := range s.events {
		if e.hit < 0 && !e.at.After(s.AsOf) {
			m := recipientMessage(e.recipient)
			byMessage[m] = append(byMessage[m], e)
		}
	}
	return byMessage
}

// judge sets the verdicts of a message's hits; those that are not due are pending.
func (s *Scenario) judge(hits []track.Hit, others []event, c Case) []track.Hit {
	slices.SortStableFunc(hits, func(a, b track.Hit) int { return a.At.Compare(b.At) })
	var known []track.Familiar
	for _, e := range others {
		if e.kind == "proof" {
			c.Proofs = append(c.Proofs, e.at)
		} else {
			known = append(known, track.Familiar{At: e.at, IP: e.ip, Agent: e.agent})
		}
	}
	c.Hits = slices.Clone(hits)
	c.Familiar = func(h *track.Hit) bool { return isFamiliar(h, known) }
	c.Judge()
	for i, h := range c.Hits {
		if h.At.After(s.AsOf) || s.Live && s.AsOf.Sub(h.At) < minimumSettle {
			c.Hits[i] = hits[i]
		}
	}
	return c.Hits
}

// fanOutOf returns the hits to which rule R7 applies.
func fanOutOf(hits []track.Hit) map[id.Hit]bool {
	networks := map[string][]track.SourceHit{}
	for _, h := range hits {
		if h.IP != "" && !h.Proxied() {
			net := track.Network(h.IP)
			networks[net] = append(networks[net], track.SourceHit{ID: h.ID, Message: h.Message, IP: h.IP, At: h.At})
		}
	}
	applies := map[id.Hit]bool{}
	for _, list := range networks {
		if len(list) < fanOut {
			continue
		}
		slices.SortFunc(list, func(a, b track.SourceHit) int { return cmp.Or(a.At.Compare(b.At), id.Compare(a.ID, b.ID)) })
		at := 0
		holds, _ := fannedOut(list, func(from time.Time) (*track.SourceHit, error) { // only next returns errors
			for at < len(list) && list[at].At.Before(from) {
				at++
			}
			if at == len(list) {
				return nil, nil
			}
			at++
			return &list[at-1], nil
		})
		for i, h := range list {
			applies[h.ID] = holds[i]
		}
	}
	return applies
}

// compare adds what differs from the expectation.
func (s *Scenario) compare(r *Replay) {
	if s.Expected == nil {
		return
	}
	differ := func(format string, args ...any) { r.Differences = append(r.Differences, fmt.Sprintf(format, args...)) }
	if n := len(s.Expected.Classes); n > 0 && n != len(r.Events) {
		differ("%d classes are expected of %d opens and clicks", n, len(r.Events))
	} else if n > 0 {
		for i, want := range s.Expected.Classes {
			v := r.Events[i]
			if got := verdictText(v.Class, v.Rule); want != string(v.Class) && want != got {
				differ("open or click %d is %q, expected %q", i+1, got, want)
			}
		}
	}
	counters := r.Counters.named()
	for _, name := range slices.Sorted(maps.Keys(s.Expected.Counters)) {
		if got, ok := counters[name]; !ok {
			differ("there is no counter %q", name)
		} else if want := s.Expected.Counters[name]; *got != want {
			differ("%s is %d, expected %d", name, *got, want)
		}
	}
	ok := len(r.Differences) == 0
	r.AsExpected = &ok
}
