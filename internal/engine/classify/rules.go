package classify

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/track"
)

// The bounds of the rules (contract 12.1).
const (
	clickTooSoon  = 2 * time.Second  // R5
	openTooSoon   = time.Second      // R5
	sweepWindow   = 10 * time.Second // R6
	sweepLinks    = 3                // R6: distinct links, or all there are
	sweepOpens    = 60 * time.Second // R6: opens from the same network
	fanOutWindow  = 60 * time.Second // R7
	fanOut        = 10               // R7: different recipients of one address
	reopenWindow  = 10 * time.Minute // a new hit re-opens the verdicts of those around it
	minimumSettle = 20 * time.Second // a hit is left alone for this long, for its neighbours to come
)

// Case is the evidence on one message: all of its hits, how many links it has,
// and whether the address of one of them hit too many recipients around that time.
type Case struct {
	Hits   []track.Hit
	Links  int
	FanOut func(*track.Hit) (bool, error)
	Agents *Agents // may be nil

	swept []bool // of each hit: a click in a sweep
}

// Judge gives every hit of the case a class and the rule that decided, first
// match first: R1 to R7 make a bot, then the privacy rules, else a human. The
// verdicts depend on the hits and not on the order in which they came in.
func (c *Case) Judge() error {
	c.swept = sweeps(c.Hits, c.Links)
	for i := range c.Hits {
		class, rule, err := c.judge(i)
		if err != nil {
			return err
		}
		c.Hits[i].Class, c.Hits[i].Rule = class, rule
	}
	return nil
}

func (c *Case) judge(i int) (track.Class, string, error) {
	h := &c.Hits[i]
	switch {
	case h.Method != "GET" || h.Prefetch:
		return track.Bot, "R1", nil
	case c.Agents.Machine(h.Agent):
		return track.Bot, "R2", nil
	case dataCentre(h.IP) && (h.Click || !track.ImageProxy(h.Agent)):
		return track.Bot, "R3", nil
	case tooSoon(h):
		return track.Bot, "R5", nil
	case c.swept[i] || !h.Click && c.besideSweep(h):
		return track.Bot, "R6", nil
	}
	if !track.ImageProxy(h.Agent) {
		if is, err := c.FanOut(h); err != nil || is {
			return track.Bot, "R7", err
		}
	}
	if !h.Click {
		if rule := privacy(h, c.Hits); rule != "" {
			return track.Privacy, rule, nil
		}
	}
	return track.Human, "", nil
}

// tooSoon is rule R5: nobody reads that fast.
func tooSoon(h *track.Hit) bool {
	if h.SinceSent == nil {
		return false
	}
	if h.Click {
		return *h.SinceSent <= clickTooSoon
	}
	return *h.SinceSent <= openTooSoon
}

// sweeps is rule R6: somebody fetches link after link. It tells for each hit
// whether it is a click in some window of ten seconds that has clicks on enough
// distinct links.
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

// besideSweep reports whether a sweep from the open's network was close in time.
func (c *Case) besideSweep(open *track.Hit) bool {
	for i := range c.Hits {
		if c.swept[i] && apart(open.At, c.Hits[i].At) <= sweepOpens && sameNetwork(open.IP, c.Hits[i].IP) {
			return true
		}
	}
	return false
}

// fannedOut is rule R7: some window of sixty seconds that holds at has hits on
// enough different messages. Neighbours are by time; those of image proxies, who
// fetch for everybody, do not count.
func fannedOut(neighbours []track.Neighbour, at time.Time) bool {
	near := make([]track.Neighbour, 0, len(neighbours))
	for _, n := range neighbours {
		if apart(n.At, at) <= fanOutWindow && !track.ImageProxy(n.Agent) {
			near = append(near, n)
		}
	}
	messages := map[id.Message]int{}
	last := 0
	for first := 0; first < len(near) && !near[first].At.After(at); first++ {
		for ; last < len(near) && near[last].At.Sub(near[first].At) <= fanOutWindow; last++ {
			messages[near[last].Message]++
		}
		if len(messages) >= fanOut {
			return true
		}
		m := near[first].Message
		if messages[m]--; messages[m] == 0 {
			delete(messages, m)
		}
	}
	return false
}

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// gmailPrefetch ends the agent with which Gmail fetches images at delivery.
const gmailPrefetch = "Edge/12.246 Mozilla/5.0"

// privacy returns the privacy rule an open falls under, or nothing.
func privacy(h *track.Hit, all []track.Hit) string {
	switch {
	case h.Agent == "Mozilla/5.0":
		return "P1"
	case strings.HasSuffix(h.Agent, gmailPrefetch) && within(h.IP, googleNetworks):
		return "P2"
	case within(h.IP, relayNetworks) && !slices.ContainsFunc(all, func(o track.Hit) bool {
		return o.Click && apart(o.At, h.At) <= reopenWindow // later ones find the verdict settled
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
