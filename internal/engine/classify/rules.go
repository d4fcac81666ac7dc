package classify

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/track"
)

// The bounds of the rules (docs/api.md, Opens and clicks).
const (
	clickTooSoon  = 2 * time.Second  // R5
	openTooSoon   = time.Second      // R5
	sweepWindow   = 10 * time.Second // R6
	sweepLinks    = 3                // R6: distinct links, or all there are
	sweepOpens    = 60 * time.Second // R6: opens from the same network
	fanOutWindow  = 60 * time.Second // R7
	fanOut        = 10               // R7: different recipients of one address
	reopenWindow  = 10 * time.Minute // a new hit re-opens the verdicts of those around it
	minimumSettle = 20 * time.Second // how long a hit stays pending, so that its neighbours can arrive
)

// Case is the evidence about one message: all of its hits, its number of links, and to which hits
// rule R7 applies.
type Case struct {
	Hits   []track.Hit
	Links  int
	FanOut func(*track.Hit) bool
	Agents *Agents // may be nil

	swept  []bool // for each hit: whether it is a click in a sweep
	sweeps []int  // the indexes of these clicks
}

// Judge sets the class and the rule of each hit. The first rule that matches decides: R1 to R7 make
// a bot, then the privacy rules; all others are human. The verdicts do not depend on the order of
// arrival.
func (c *Case) Judge() {
	c.swept, c.sweeps = sweeps(c.Hits, c.Links), nil
	for i, is := range c.swept {
		if is {
			c.sweeps = append(c.sweeps, i)
		}
	}
	for i := range c.Hits {
		c.Hits[i].Class, c.Hits[i].Rule = c.judge(i)
	}
}

func (c *Case) judge(i int) (track.Class, string) {
	h := &c.Hits[i]
	switch {
	case h.Method != "GET" || h.Prefetch:
		return track.Bot, "R1"
	case c.Agents.Machine(h.Agent):
		return track.Bot, "R2"
	case inDataCentre(h.IP) && (h.Click || !track.ImageProxy(h.Agent)):
		return track.Bot, "R3"
	case tooSoon(h):
		return track.Bot, "R5"
	case c.swept[i] || !h.Click && c.besideSweep(h):
		return track.Bot, "R6"
	case !track.ImageProxy(h.Agent) && c.FanOut(h):
		return track.Bot, "R7"
	}
	if !h.Click {
		if rule := privacy(h, c.Hits); rule != "" {
			return track.Privacy, rule
		}
	}
	return track.Human, ""
}

// tooSoon is rule R5: less time since the mail was accepted than a person needs.
func tooSoon(h *track.Hit) bool {
	if h.SinceSent == nil {
		return false
	}
	if h.Click {
		return *h.SinceSent <= clickTooSoon
	}
	return *h.SinceSent <= openTooSoon
}

// sweeps is rule R6: a program fetches link after link. It reports for each hit whether it is a
// click in a window of ten seconds with clicks on enough different links.
func sweeps(hits []track.Hit, links int) []bool {
	enough := sweepLinks
	if links >= 2 {
		enough = min(enough, links)
	}
	var clicks []int
	for i, h := range hits {
		if h.Click {
			clicks = append(clicks, i)
		}
	}
	slices.SortStableFunc(clicks, func(a, b int) int { return hits[a].At.Compare(hits[b].At) })
	swept := make([]bool, len(hits))
	urls := map[string]int{} // in the window from first to last
	last, marked := 0, 0
	for first := range clicks {
		for ; last < len(clicks) && hits[clicks[last]].At.Sub(hits[clicks[first]].At) <= sweepWindow; last++ {
			urls[hits[clicks[last]].URL]++
		}
		if len(urls) >= enough {
			for marked = max(marked, first); marked < last; marked++ {
				swept[clicks[marked]] = true
			}
		}
		url := hits[clicks[first]].URL
		if urls[url]--; urls[url] == 0 {
			delete(urls, url)
		}
	}
	return swept
}

// besideSweep reports whether there was a sweep near an open, from the same network.
func (c *Case) besideSweep(open *track.Hit) bool {
	for _, i := range c.sweeps {
		if timeBetween(open.At, c.Hits[i].At) <= sweepOpens && sameNetwork(open.IP, c.Hits[i].IP) {
			return true
		}
	}
	return false
}

func timeBetween(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// gmailPrefetch is the end of the agent with which Gmail fetches images at delivery.
const gmailPrefetch = "Edge/12.246 Mozilla/5.0"

// privacy returns the privacy rule that applies to an open, or "".
func privacy(h *track.Hit, all []track.Hit) string {
	switch {
	case h.Agent == "Mozilla/5.0":
		return "P1"
	case strings.HasSuffix(h.Agent, gmailPrefetch) && inNetworks(h.IP, googleNetworks):
		return "P2"
	case inNetworks(h.IP, relayNetworks) && !slices.ContainsFunc(all, func(o track.Hit) bool {
		return o.Click && timeBetween(o.At, h.At) <= reopenWindow // a later click does not change a settled verdict
	}):
		return "P3"
	}
	return ""
}

// sameNetwork reports whether two addresses share a /24 (IPv4) or /64 (IPv6).
func sameNetwork(a, b string) bool {
	p, err1 := netip.ParseAddr(a)
	q, err2 := netip.ParseAddr(b)
	if err1 != nil || err2 != nil || p.Is4() != q.Is4() {
		return a == b
	}
	bits := 64
	if p.Is4() {
		bits = 24
	}
	prefix, err := p.Prefix(bits)
	return err == nil && prefix.Contains(q)
}
