package classify

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

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
	reopenWindow  = 10 * time.Minute // a new hit re-opens the verdicts of those before it
	minimumSettle = 20 * time.Second // a hit is left alone for this long, for its neighbours to come
)

// Case is the evidence on one message: all of its hits by time, how many links
// it has, and for each address how many recipients it hit around that time.
type Case struct {
	Hits   []track.Hit
	Links  int
	FanOut func(ip string, at time.Time) (int, error)
}

// Judge gives every hit of the case a class and the rule that decided, first
// match first: R1 to R7 make a bot, then the privacy rules, else a human. The
// verdicts depend on the hits and not on the order in which they came in.
func (c *Case) Judge() error {
	for i := range c.Hits {
		h := &c.Hits[i]
		class, rule, err := c.judge(h)
		if err != nil {
			return err
		}
		h.Class, h.Rule = class, rule
	}
	return nil
}

func (c *Case) judge(h *track.Hit) (track.Class, string, error) {
	switch {
	case h.Method != "GET" || h.Prefetch:
		return track.Bot, "R1", nil
	case Machine(h.Agent):
		return track.Bot, "R2", nil
	case dataCentre(h.IP) && (h.Click || !track.ImageProxy(h.Agent)):
		return track.Bot, "R3", nil
	case tooSoon(h):
		return track.Bot, "R5", nil
	case c.sweep(h):
		return track.Bot, "R6", nil
	}
	if !track.ImageProxy(h.Agent) {
		n, err := c.FanOut(h.IP, h.At)
		if err != nil {
			return "", "", err
		}
		if n >= fanOut {
			return track.Bot, "R7", nil
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

// sweep is rule R6: somebody fetches link after link.
func (c *Case) sweep(h *track.Hit) bool {
	if h.Click {
		return c.swept(h.At)
	}
	for _, other := range c.Hits { // an open belongs to a sweep of its network
		if other.Click && sameNetwork(h.IP, other.IP) && apart(h.At, other.At) <= sweepOpens && c.swept(other.At) {
			return true
		}
	}
	return false
}

// swept reports whether some window of ten seconds that holds at has clicks on
// enough distinct links.
func (c *Case) swept(at time.Time) bool {
	for _, first := range c.Hits {
		if !first.Click || first.At.After(at) || at.Sub(first.At) > sweepWindow {
			continue
		}
		urls := map[string]bool{}
		for _, h := range c.Hits {
			if h.Click && !h.At.Before(first.At) && h.At.Sub(first.At) <= sweepWindow {
				urls[h.URL] = true
			}
		}
		if len(urls) >= sweepLinks || (c.Links >= 2 && len(urls) >= c.Links) {
			return true
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
	case within(h.IP, relayNetworks) && !slices.ContainsFunc(all, func(o track.Hit) bool { return o.Click }):
		return "P3"
	}
	return ""
}

// machines matches agents of programs: libraries, crawlers, link checkers and
// the scanners of mail security vendors (mail-notes 7.1).
var machines = regexp.MustCompile(`(?i)(\b|_)(bot|crawl\w*|spider|slurp|scan(ner)?|monitor(ing)?|fetch(er)?|headless\w*|phantom\w*|curl|wget|` +
	`python[-/ ]?\w*|libwww\S*|go-http-client|java/\S+|okhttp|axios|node-fetch|apache-httpclient|` +
	`barracuda\w*|mimecast|proofpoint|symantec\w*|trendmicro|tmes|ironport|cisco|forcepoint|zscaler|fireeye|sophos\w*|f-secure|` +
	`checkpoint|avanan|vade|cloudmark|safelinks|bingpreview|skypeuripreview|facebookexternalhit|whatsapp)(\b|_|/)|` +
	`(bot|preview)\b`)

// people are agents that the words above find by accident.
var people = regexp.MustCompile(`(?i)\bcubot\b|webex`)

// Machine reports whether an agent is empty or a program's (rule R2). The list is
// ours; the crawler patterns of a maintained library stand beside it.
func Machine(agent string) bool {
	if strings.TrimSpace(agent) == "" {
		return true
	}
	if track.ImageProxy(agent) || people.MatchString(agent) {
		return false
	}
	return machines.MatchString(agent)
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
