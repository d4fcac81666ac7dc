package classify

import (
	"regexp"
	"time"

	"github.com/x-way/crawlerdetect"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/message/track"
)

// robots matches the names of programs with which nobody reads: crawlers, link checkers, previews of
// links, and scanners of mail security vendors.
var robots = regexp.MustCompile(`(?i)(\b|_)(bot|crawl\w*|spider|slurp|scan(ner)?|monitor(ing)?|fetch(er)?|headless\w*|phantom(js|as)|` +
	`(existence|protocol) discovery|` +
	`barracuda\w*|mimecast|proofpoint|symantec\w*|trendmicro|tmes|ironport|forcepoint|zscaler|fireeye|sophos\w*|f-secure|` +
	`checkpoint|avanan|vade|cloudmark|\w*safelinks\w*|google-safety|catchpoint|cloudflare\w*|cloudfront|` +
	`bingpreview|skypeuripreview|linkexpander|facebookexternalhit|whatsapp|viberurl\w*)(\b|_|/)|` +
	`(bot|preview)\b|^viber\b|\bcisco(/|[- ](esa|secure|email|umbrella|talos)|$)`)

// introduced matches programs that say where to read about them, or that only claim to be compatible
// with a browser; imitators are the browsers and mail programs that made the same claim.
var (
	introduced = regexp.MustCompile(`(?i)https?://|\+mailto:|[(;] ?compatible;`)
	imitators  = regexp.MustCompile(`(?i)\b(msie|konqueror|trident|icab|omniweb|lotus-notes|ms-?office|linux|windows|amiga\w*|beos|risc os|haiku|brew|u;)`)
)

// readers matches the names of mail programs, office suites and browsers that the list of crawlerdetect
// names, or that also state a library.
var readers = regexp.MustCompile(`(?i)\b(mac|one)?outlook\b|\bms-?office\b|\bmicrosoft (office|word|excel|powerpoint|onenote)\b|` +
	`^(word|excel|powerpoint|onenote)/|\b(libre|open)office\b|^mail/\d|\bairmail\b|\bcanary\b|\bpolymail\b|\byahoomobile(mail)?\b|\bdav(droid|x5)\b|` +
	`\b(1password|yasearchbrowser|coc_?coc(browser)?|readerservices)/`)

// libraries matches the names of libraries that make requests.
var libraries = regexp.MustCompile(`(?i)(\b|_)(curl|wget|python[-/ ]?\w*|libwww\S*|go-http-client|java/\S+|okhttp|axios|node-fetch|apache-httpclient)(\b|_|/)`)

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
	if track.ImageProxy(agent) {
		return false
	}
	names := products(agent)
	switch {
	case names == "" || robots.MatchString(names):
		return true
	case readers.MatchString(names):
		return false
	case introduced.MatchString(agent) && !imitators.MatchString(names):
		return true
	}
	return libraries.MatchString(names) || crawlerdetect.IsCrawler(names)
}
