package classify

import (
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/message/track"
)

// The bounds of the rules (docs/api.md, Opens and clicks).
const (
	clickTooSoon  = 2 * time.Second  // R5
	openTooSoon   = time.Second      // R5
	trapWindow    = 10 * time.Minute // R4: hits from the same network
	sweepWindow   = 10 * time.Second // R6
	sweepLinks    = 3                // R6: distinct links, or all there are
	sweepOpens    = 60 * time.Second // R6: opens from the same network
	fanOutWindow  = 60 * time.Second // R7
	fanOut        = 10               // R7: different recipients of one address
	fanOutNetwork = 30               // R7: different recipients of one network
	reopenWindow  = 10 * time.Minute // a new hit re-opens the verdicts of those around it
	minimumSettle = 20 * time.Second // how long a hit stays pending, so that its neighbours can arrive
)

// Case is the evidence about one message: all of its hits, its number of links, and to which hits
// rule R7 applies. It is judged once.
type Case struct {
	Hits   []track.Hit
	Links  int
	FanOut func(*track.Hit) bool
	Agents *Agents // may be nil
	Lists  *Lists  // nil: the bundled ones

	Gateway  string                // vendor of the recipient's mail gateway; empty: unknown
	Proofs   []time.Time           // when the recipient did what only a person does (rule G4)
	Familiar func(*track.Hit) bool // rule G3; may be nil

	swept  []bool // for each hit: whether it is a click in a sweep
	sweeps []int  // the indexes of these clicks
	traps  []int  // the indexes of fetches of the invisible link
	order  []int  // the indexes of hits by time
	walked []bool // for each hit: whether it is one of a slow walker (rule B5)
	nets   []network

	previous, links []int // set by look
}

// Judge sets the class and the rules of each hit. The first rule that matches decides: R1 to R7 make
// a bot, P1 to P4 a privacy proxy. Of the others, the score decides (score.go). The verdicts do not
// depend on the order of arrival.
func (c *Case) Judge() {
	c.swept = sweeps(c.Hits, c.Links)
	c.nets = make([]network, len(c.Hits))
	for i, h := range c.Hits {
		c.nets[i] = c.Lists.find(h.IP)
		c.order = append(c.order, i)
		if c.swept[i] {
			c.sweeps = append(c.sweeps, i)
		}
		if h.Honeypot {
			c.traps = append(c.traps, i)
		}
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return c.Hits[a].At.Compare(c.Hits[b].At) })
	c.walked = c.walkers()
	c.look()
	type verdict struct {
		class track.Class
		rules string
	}
	verdicts := make([]verdict, len(c.Hits)) // set afterwards, since rules read hits as they arrived
	for i := range c.Hits {
		verdicts[i].class, verdicts[i].rules = c.judge(i)
	}
	for i, v := range verdicts {
		c.Hits[i].Class, c.Hits[i].Rule = v.class, v.rules
	}
}

// judge asks the privacy rules before those about time and neighbours: a mailbox provider fetches images
// the moment it has the mail, and for many recipients. What declares itself a prefetch is one, too, if
// it is such a provider's.
func (c *Case) judge(i int) (track.Class, string) {
	h := &c.Hits[i]
	privacy := c.privacy(i)
	switch {
	case h.Method != "GET" || h.Prefetch && privacy == "":
		return track.Bot, "R1"
	case c.Agents.Machine(h.Agent):
		return track.Bot, "R2"
	case c.nets[i].kind == scannerNetwork && (h.Click || !track.ImageProxy(h.Agent)):
		return track.Bot, "R3"
	case c.trapped(h):
		return track.Bot, "R4"
	case privacy != "":
		return track.Privacy, privacy
	case tooSoon(h):
		return track.Bot, "R5"
	case c.swept[i] || !h.Click && c.besideSweep(h):
		return track.Bot, "R6"
	case !c.proxied(i) && c.FanOut(h):
		return track.Bot, "R7"
	}
	return c.score(i)
}

// trapped is rule R4: the invisible link was fetched from the network of the hit within ten minutes.
func (c *Case) trapped(h *track.Hit) bool {
	return slices.ContainsFunc(c.traps, func(i int) bool {
		o := &c.Hits[i]
		return timeBetween(o.At, h.At) <= trapWindow && (h == o || sameNetwork(o.IP, h.IP))
	})
}

// proxied reports whether rule R7 does not apply to a hit, because its address is shared by many
// recipients: that of a proxy of a mailbox provider. Outlook's has no agent of its own, so opens from
// the networks of mailbox providers are exempt.
func (c *Case) proxied(i int) bool {
	h, vendor := &c.Hits[i], c.nets[i].vendor
	return h.Proxied() || !h.Click && (vendor == vendorMicrosoft || vendor == vendorGoogle || vendor == vendorApple)
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
		if h.Click && !h.Honeypot {
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

// privacy returns the privacy rule that applies to an open, or "".
func (c *Case) privacy(i int) string {
	h := &c.Hits[i]
	if h.Click {
		return ""
	}
	byApple, byGmail := track.Prefetching(h.Agent)
	switch {
	case byApple:
		return "P1"
	case byGmail && c.nets[i].vendor == vendorGoogle:
		return "P2"
	case c.nets[i].kind == relayNetwork && !slices.ContainsFunc(c.Hits, func(o track.Hit) bool {
		return o.Click && !o.Honeypot && timeBetween(o.At, h.At) <= reopenWindow // a later click does not change a settled verdict
	}):
		return "P3"
	case track.ImageProxy(h.Agent) && tooSoon(h):
		return "P4"
	}
	return ""
}

// sameNetwork reports whether two addresses share a /24 (IPv4) or /64 (IPv6). Hits whose address was
// removed share none.
func sameNetwork(a, b string) bool { return a != "" && track.Network(a) == track.Network(b) }
