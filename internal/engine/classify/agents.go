package classify

import (
	"regexp"
	"strings"
	"time"

	"github.com/x-way/crawlerdetect"

	"github.com/packetboat/packetboat/internal/cache"
	"github.com/packetboat/packetboat/internal/track"
)

// machines matches agents of programs: libraries, crawlers, link checkers and
// the scanners of mail security vendors.
var machines = regexp.MustCompile(`(?i)(\b|_)(bot|crawl\w*|spider|slurp|scan(ner)?|monitor(ing)?|fetch(er)?|headless\w*|phantom\w*|curl|wget|` +
	`python[-/ ]?\w*|libwww\S*|go-http-client|java/\S+|okhttp|axios|node-fetch|apache-httpclient|` +
	`barracuda\w*|mimecast|proofpoint|symantec\w*|trendmicro|tmes|ironport|cisco|forcepoint|zscaler|fireeye|sophos\w*|f-secure|` +
	`checkpoint|avanan|vade|cloudmark|safelinks|bingpreview|skypeuripreview|facebookexternalhit|whatsapp)(\b|_|/)|` +
	`(bot|preview)\b`)

// people are agents that the words above find by accident.
var people = regexp.MustCompile(`(?i)\bcubot\b|webex`)

// clients are mail programs that the library takes for crawlers.
var clients = regexp.MustCompile(`(?i)microsoft outlook|ms-?office|\boutlook-(ios|android)\b|\bmail/\S+ cfnetwork\b|\bairmail\b`)

// Agents remembers which agents are programs': matching the patterns takes longer
// than everything else about a hit together. The zero value is ready for use; a
// nil one remembers nothing. It is safe for concurrent use.
type Agents struct {
	kept cache.Cache[string, bool] // bounded: strangers choose the strings
}

// Machine reports whether an agent is empty or a program's (rule R2): on our
// list, or among the crawlers of a maintained library.
func (a *Agents) Machine(agent string) bool {
	if a == nil {
		return machine(agent)
	}
	is, ok := a.kept.Get(agent, time.Time{})
	if !ok {
		is = machine(agent)
		a.kept.Put(agent, is, time.Time{}, 0)
	}
	return is
}

func machine(agent string) bool {
	switch {
	case strings.TrimSpace(agent) == "":
		return true
	case track.ImageProxy(agent) || people.MatchString(agent):
		return false
	}
	return machines.MatchString(agent) || !clients.MatchString(agent) && crawlerdetect.IsCrawler(agent)
}
