package classify

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/message/track"
)

// machineScore is the sum of points from which a hit is a machine's.
const machineScore = 60

// signal is one line of the score: points for a hit that no rule decided. Their ids are stored with the
// verdict.
type signal struct {
	id     string
	points func(c *Case, i int) int
}

// signals are all signals, in the order in which they are shown. docs/api.md has them as a table.
var signals = []signal{
	{"U5", outdated},
	{"H1", strangeHeaders},
	{"H2", navigated},
	{"T2", within(2*time.Second, 10*time.Second, 50, 30, 10)},
	{"T3", within(10*time.Second, time.Minute, 25, 10, 0)},
	{"T4", behindGateway},
	{"B4", afterProbe},
	{"B5", slowWalk},
	{"N2", fromCloud},
	{"N2b", fromOwnGateway},
	{"G1", calm},
	{"G2", late},
	{"G3", familiar},
	{"G4", proven},
}

// score decides about a hit that no rule decided, and returns the ids of the signals. A lone click is a
// person's whatever the score (L1).
func (c *Case) score(i int) (track.Class, string) {
	sum := 0
	var ids []string
	for _, s := range signals {
		if p := s.points(c, i); p != 0 {
			sum += p
			ids = append(ids, s.id)
		}
	}
	class := track.Human
	if sum >= machineScore {
		if class = track.Bot; c.lone(i) {
			class = track.Human
			ids = append(ids, "L1")
		}
	}
	return class, strings.Join(ids, " ")
}

// The bounds of signals.
const (
	outdatedMajors = 30
	headersStrange = 40               // points of H1 from which G1 and G2 do not apply
	probeWindow    = 5 * time.Second  // B4
	walkWindow     = 5 * time.Minute  // B5
	walkStart      = 15 * time.Minute // B5: the first click after acceptance is before
	walkLinks      = 4                // B5: distinct links at least
	walkShare      = 0.6              // B5: of all links
	gatewayTime    = 10 * time.Minute // N2b
	calmTime       = 30 * time.Second // G1
	calmLinks      = 3                // G1
	lateTime       = 10 * time.Minute // G2
	lateAlone      = time.Minute      // G2: no other link
	proofWindow    = time.Hour        // G4: before the proof
)

// choose returns the points for a click or an open.
func choose(h *track.Hit, click, open int) int {
	if h.Click {
		return click
	}
	return open
}

// within returns a signal about the time since acceptance, which is after low and before high. Points
// of opens by image proxies differ.
func within(low, high time.Duration, click, open, proxy int) func(*Case, int) int {
	return func(c *Case, i int) int {
		h := &c.Hits[i]
		if h.SinceSent == nil || *h.SinceSent < low || *h.SinceSent >= high {
			return 0
		}
		if !h.Click && track.ImageProxy(h.Agent) {
			return proxy
		}
		return choose(h, click, open)
	}
}

// majorVersion finds the major version that a browser states.
var majorVersion = regexp.MustCompile(`\b(Chrome|CriOS|Firefox|FxiOS)/(\d{1,4})\b`)

// currentMajors are the releases from which the current version of a browser is estimated: one every
// four weeks.
var currentMajors = map[byte]struct {
	major int
	at    time.Time
}{
	'C': {142, time.Date(2025, 10, 28, 0, 0, 0, 0, time.UTC)},
	'F': {145, time.Date(2025, 11, 11, 0, 0, 0, 0, time.UTC)},
}

// outdated is U5: the agent states a browser that is many versions old, or Sec-CH-UA contradicts it.
func outdated(c *Case, i int) int {
	h := &c.Hits[i]
	if h.Proxied() {
		return 0
	}
	old := h.Signals&track.BrandMismatch != 0
	if m := majorVersion.FindStringSubmatch(h.Agent); m != nil && !old {
		major, _ := strconv.Atoi(m[2]) // at most four digits
		known := currentMajors[m[1][0]]
		current := known.major + int(h.At.Sub(known.at)/(28*24*time.Hour))
		old = current-major >= outdatedMajors
	}
	if !old {
		return 0
	}
	return choose(h, 20, 10)
}

// strangeHeaders is H1.
func strangeHeaders(c *Case, i int) int { return headerPoints(&c.Hits[i]) }

func headerPoints(h *track.Hit) int {
	sum := 0
	add := func(signal track.Signals, points int) {
		if h.Signals&signal != 0 {
			sum += points
		}
	}
	if !h.Proxied() {
		add(track.HTTP10, 20)
	}
	if h.Click {
		add(track.NoLanguage, 20)
		add(track.AnyAccept, 10)
		add(track.NoEncoding, 15)
		if strings.Contains(h.Agent, "Chrome/") {
			add(track.NoFetchMetadata, 25)
		}
	}
	return sum
}

// navigated is H2: the headers of a person's navigation.
func navigated(c *Case, i int) int {
	if h := &c.Hits[i]; h.Click && h.Signals&track.Navigated != 0 {
		return -20
	}
	return 0
}

// behindGateway is T4: at the time at which gateways scan.
func behindGateway(c *Case, i int) int {
	h := &c.Hits[i]
	if !h.Click || c.Gateway == "" || h.SinceSent == nil || *h.SinceSent < time.Minute || *h.SinceSent >= 5*time.Minute {
		return 0
	}
	return 15
}

// afterProbe is B4: a GET after a probe (rule R1) of the same link from the same address.
func afterProbe(c *Case, i int) int {
	h := &c.Hits[i]
	if !h.Click {
		return 0
	}
	for j := range c.Hits {
		o := &c.Hits[j]
		if wait := h.At.Sub(o.At); o.Click && o.URL == h.URL && o.IP == h.IP && h.IP != "" &&
			(o.Method != "GET" || o.Prefetch) && wait >= 0 && wait <= probeWindow {
			return 60
		}
	}
	return 0
}

// slowWalk is B5.
func slowWalk(c *Case, i int) int {
	if c.walked[i] {
		return 60
	}
	return 0
}

// walkers finds clicks of programs that follow link after link too slowly for rule R6: clicks of one
// address, or of one agent, on most links within five minutes, the first soon after acceptance.
func (c *Case) walkers() []bool {
	walked := make([]bool, len(c.Hits))
	enough := walkLinks
	for enough < c.Links && float64(enough) < walkShare*float64(c.Links) {
		enough++
	}
	for _, key := range []func(*track.Hit) string{
		func(h *track.Hit) string { return h.IP },
		func(h *track.Hit) string { return h.Agent },
	} {
		of := map[string][]int{}
		for _, i := range c.order {
			if h := &c.Hits[i]; h.Click && !h.Honeypot && h.Method == "GET" && key(h) != "" {
				of[key(h)] = append(of[key(h)], i)
			}
		}
		for _, list := range of {
			c.walk(list, enough, walked)
		}
	}
	return walked
}

// walk marks those of the clicks, given by time, that are within a window of a slow walker.
func (c *Case) walk(list []int, enough int, walked []bool) {
	urls := map[string]int{}
	last, marked := 0, 0
	for first, i := range list {
		h := &c.Hits[i]
		for ; last < len(list) && c.Hits[list[last]].At.Sub(h.At) <= walkWindow; last++ {
			urls[c.Hits[list[last]].URL]++
		}
		if len(urls) >= enough && h.SinceSent != nil && *h.SinceSent < walkStart {
			for marked = max(marked, first); marked < last; marked++ {
				walked[list[marked]] = true
			}
		}
		if urls[h.URL]--; urls[h.URL] == 0 {
			delete(urls, h.URL)
		}
	}
}

// fromCloud is N2.
func fromCloud(c *Case, i int) int {
	if c.Hits[i].Click && c.nets[i].kind == cloudNetwork {
		return 45
	}
	return 0
}

// fromOwnGateway is N2b: the network is that of the vendor that receives the recipient's mail.
func fromOwnGateway(c *Case, i int) int {
	h, is := &c.Hits[i], c.nets[i]
	if !h.Click || is.kind != cloudNetwork || is.vendor == "" || is.vendor != c.Gateway || h.SinceSent == nil || *h.SinceSent >= gatewayTime {
		return 0
	}
	return 30
}

// calm is G1: some time after the recipient's previous hit, with the same address and agent.
func calm(c *Case, i int) int {
	h := &c.Hits[i]
	if headerPoints(h) >= headersStrange || c.walked[i] {
		return 0
	}
	if c.previous[i] < 0 {
		return 0
	}
	previous := &c.Hits[c.previous[i]]
	if h.At.Sub(previous.At) < calmTime || previous.IP != h.IP || h.IP == "" || previous.Agent != h.Agent || c.links[i] > calmLinks {
		return 0
	}
	return choose(h, -30, -20)
}

// look sets previous and links: for each hit the last one before it, and the number of distinct links
// that were followed until then, its own included.
func (c *Case) look() {
	c.previous, c.links = make([]int, len(c.Hits)), make([]int, len(c.Hits))
	urls := map[string]bool{}
	before := -1 // the last hit before those of the same time
	for first := 0; first < len(c.order); {
		last := first
		for last < len(c.order) && c.Hits[c.order[last]].At.Equal(c.Hits[c.order[first]].At) {
			i := c.order[last]
			c.previous[i], c.links[i] = before, len(urls)
			if h := &c.Hits[i]; h.Click && !h.Honeypot && !urls[h.URL] {
				c.links[i]++
			}
			last++
		}
		for _, i := range c.order[first:last] {
			if h := &c.Hits[i]; h.Click && !h.Honeypot {
				urls[h.URL] = true
			}
		}
		before, first = c.order[last-1], last
	}
}

// late is G2: a while after acceptance, and no other link about the same time.
func late(c *Case, i int) int {
	h := &c.Hits[i]
	if h.SinceSent == nil || *h.SinceSent < lateTime || headerPoints(h) >= headersStrange {
		return 0
	}
	for j := range c.Hits {
		if o := &c.Hits[j]; j != i && o.Click && (!h.Click || o.URL != h.URL) && timeBetween(o.At, h.At) <= lateAlone {
			return 0
		}
	}
	return choose(h, -30, -15)
}

// familiar is G3: the contact had a human hit from this network with an agent of this family before.
func familiar(c *Case, i int) int {
	h := &c.Hits[i]
	if c.Familiar == nil || h.IP == "" || !c.Familiar(h) {
		return 0
	}
	return choose(h, -30, -20)
}

// proven is G4: soon afterwards, the recipient did what only a person does.
func proven(c *Case, i int) int {
	for _, p := range c.Proofs {
		if provenBy(&c.Hits[i], p) {
			return -100
		}
	}
	return 0
}

// provenBy reports whether a proof is about a hit.
func provenBy(h *track.Hit, proof time.Time) bool {
	wait := proof.Sub(h.At)
	return wait >= 0 && wait <= proofWindow
}

// lone reports whether a hit is the only click within ten minutes, apart from repetitions, from a
// network in no list, and not too soon after acceptance.
func (c *Case) lone(i int) bool {
	h := &c.Hits[i]
	if !h.Click || h.Honeypot || c.nets[i].kind == scannerNetwork || c.nets[i].kind == cloudNetwork || !strings.HasPrefix(h.Agent, "Mozilla/") {
		return false
	}
	for j := range c.Hits {
		o := &c.Hits[j]
		same := o.URL == h.URL && o.IP == h.IP && o.Agent == h.Agent && o.Method == h.Method && !o.Honeypot
		if o.Click && !same && timeBetween(o.At, h.At) <= reopenWindow {
			return false
		}
	}
	return true
}

// browserFamily returns the kind of browser or mail client of an agent, without versions, for rule G3.
func browserFamily(agent string) string {
	for _, name := range []string{"Edg", "OPR", "SamsungBrowser", "Firefox", "FxiOS", "CriOS", "Chrome", "Outlook", "Thunderbird", "Safari", "AppleWebKit"} {
		if strings.Contains(agent, name) {
			mobile := ""
			if strings.Contains(agent, "Mobile") || strings.Contains(agent, "Android") {
				mobile = " mobile"
			}
			return name + mobile
		}
	}
	name, _, _ := strings.Cut(agent, "/")
	return name
}
