package classify

import (
	"regexp"
	"strings"
	"time"

	"github.com/x-way/crawlerdetect"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/message/track"
)

// machinePatterns matches agents of programs: libraries, crawlers, link checkers and scanners of
// mail security vendors.
var machinePatterns = regexp.MustCompile(`(?i)(\b|_)(bot|crawl\w*|spider|slurp|scan(ner)?|monitor(ing)?|fetch(er)?|headless\w*|phantom\w*|curl|wget|` +
	`python[-/ ]?\w*|libwww\S*|go-http-client|java/\S+|okhttp|axios|node-fetch|apache-httpclient|` +
	`barracuda\w*|mimecast|proofpoint|symantec\w*|trendmicro|tmes|ironport|cisco|forcepoint|zscaler|fireeye|sophos\w*|f-secure|` +
	`checkpoint|avanan|vade|cloudmark|safelinks|bingpreview|skypeuripreview|facebookexternalhit|whatsapp)(\b|_|/)|` +
	`(bot|preview)\b`)

// peoplePatterns matches agents of people that machinePatterns matches by accident.
var peoplePatterns = regexp.MustCompile(`(?i)\bcubot\b|webex`)

// clientPatterns matches mail clients that crawlerdetect considers crawlers.
var clientPatterns = regexp.MustCompile(`(?i)microsoft outlook|ms-?office|\boutlook-(ios|android)\b|\bmail/\S+ cfnetwork\b|\bairmail\b`)

// Agents caches which agents are programs: matching the patterns takes more time than everything
// else about a hit. The zero value is ready to use; a nil *Agents caches nothing. It is safe for
// concurrent use.
type Agents struct {
	lists *Lists                    // may be nil
	kept  cache.Cache[string, bool] // bounded, since anyone can send any string
}

// NewAgents returns agents that also use an operator's lists, which may be nil.
func NewAgents(lists *Lists) *Agents { return &Agents{lists: lists} }

// Machine reports whether an agent is empty or that of a program (rule R2): in our patterns, or a
// crawler in the list of crawlerdetect.
func (a *Agents) Machine(agent string) bool {
	if a == nil {
		return isMachine(agent)
	}
	is, ok := a.kept.Get(agent, time.Time{})
	if !ok {
		is = a.lists.isMachine(agent)
		a.kept.Put(agent, is, time.Time{}, 0)
	}
	return is
}

func isMachine(agent string) bool {
	switch {
	case strings.TrimSpace(agent) == "":
		return true
	case track.ImageProxy(agent) || peoplePatterns.MatchString(agent):
		return false
	}
	return machinePatterns.MatchString(agent) || !clientPatterns.MatchString(agent) && crawlerdetect.IsCrawler(agent)
}
