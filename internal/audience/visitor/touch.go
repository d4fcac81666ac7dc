package visitor

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// SessionTimeout is the time without a request after which a session ends.
const SessionTimeout = 30 * time.Minute

// touch is where a visitor came from with a page view.
type touch struct {
	At       time.Time `json:"at"`
	Source   string    `json:"source"`
	Medium   string    `json:"medium"`
	Campaign string    `json:"campaign,omitempty"`
	Landing  string    `json:"landing_url,omitempty"`
	Referrer string    `json:"referrer,omitempty"` // host and path, of another website
	Country  string    `json:"country,omitempty"`
	Timezone string    `json:"timezone,omitempty"`
}

// origin says by what a page view is attributed.
type origin struct{ campaign, external bool }

// The sources and media of visits without UTM parameters.
const (
	direct   = "direct"
	none     = "none"
	referral = "referral"
)

// touchOf returns the touch of a page view, and whether the page has UTM parameters or a
// referrer of another website. tracked are the tenant's own hosts.
func touchOf(r Request, tracked []string) (touch, origin) {
	t := touch{At: r.At, Landing: r.URL, Country: r.Country, Timezone: r.Timezone}
	var o origin
	page, err := url.Parse(r.URL)
	if err != nil { // it was valid when the request was parsed
		page = &url.URL{}
	}
	source, medium := direct, none
	if host, path, external := externalReferrer(r.Referrer, page, tracked); external {
		source, medium, t.Referrer, o.external = host, referral, host+path, true
	}
	values := page.Query()
	utm := func(name string) string { return clip.Runes(plain(strings.TrimSpace(values.Get(name))), maxUTM) }
	t.Source, t.Medium, t.Campaign = utm("utm_source"), utm("utm_medium"), utm("utm_campaign")
	o.campaign = t.Source != "" || t.Medium != "" || t.Campaign != ""
	t.Source, t.Medium = cmp.Or(t.Source, source), cmp.Or(t.Medium, medium)
	return t, o
}

// externalReferrer returns host and path of a referrer, and whether it is another website
// than that of the page: neither of the same registered domain nor one of the tracked hosts.
func externalReferrer(referrer string, page *url.URL, tracked []string) (host, path string, external bool) {
	if referrer == "" {
		return "", "", false
	}
	u, err := url.Parse(referrer)
	if err != nil || u.Hostname() == "" {
		return "", "", false
	}
	host = strings.ToLower(u.Hostname())
	if site(host) == site(strings.ToLower(page.Hostname())) {
		return "", "", false
	}
	for _, d := range tracked {
		if site(d) == site(host) {
			return "", "", false
		}
	}
	if path = u.EscapedPath(); path == "/" {
		path = ""
	}
	return host, path, true
}

// site returns the registered domain of a host, or the host if it has none.
func site(host string) string {
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// visit returns the touch for package contact; nil stays nil.
func (t *touch) visit() *contact.Visit {
	if t == nil {
		return nil
	}
	return &contact.Visit{
		At: t.At, Source: t.Source, Medium: t.Medium, Campaign: t.Campaign,
		Country: t.Country, Timezone: t.Timezone, LandingURL: t.Landing, Referrer: t.Referrer,
	}
}
