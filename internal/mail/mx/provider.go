package mx

import (
	"regexp"
	"strings"
)

// Provider is the mailbox provider of a domain.
type Provider string

// The providers. Gmail and Outlook are the consumer services,
// GoogleWorkspace and Microsoft365 host the domains of their customers.
const (
	Gmail           Provider = "gmail"
	GoogleWorkspace Provider = "google_workspace"
	Outlook         Provider = "outlook"
	Microsoft365    Provider = "microsoft365"
	Yahoo           Provider = "yahoo"
	AOL             Provider = "aol"
	ICloud          Provider = "icloud"
	Proton          Provider = "proton"
	Zoho            Provider = "zoho"
	Other           Provider = "other"
)

// Providers lists them all.
func Providers() []Provider {
	return []Provider{Gmail, GoogleWorkspace, Outlook, Microsoft365, Yahoo, AOL, ICloud, Proton, Zoho, Other}
}

// consumers are the domains of mailboxes that providers offer to the public.
var consumers = map[string]Provider{
	"gmail.com": Gmail, "googlemail.com": Gmail,
	"msn.com": Outlook, "windowslive.com": Outlook, "passport.com": Outlook,
	"ymail.com": Yahoo, "rocketmail.com": Yahoo, "myyahoo.com": Yahoo,
	"aim.com": AOL, "wow.com": AOL, "games.com": AOL, "love.com": AOL,
	"icloud.com": ICloud, "me.com": ICloud, "mac.com": ICloud,
	"proton.me": Proton, "pm.me": Proton, "protonmail.com": Proton, "protonmail.ch": Proton,
	"zoho.com": Zoho, "zohomail.com": Zoho, "zohomail.eu": Zoho, "zohomail.in": Zoho,
}

// countryDomains matches domains with the same name in many countries.
var (
	countryDomains = regexp.MustCompile(`^(yahoo|hotmail|live|outlook|aol)\.(com|[a-z]{2}|com?\.[a-z]{2})$`)
	country        = map[string]Provider{"yahoo": Yahoo, "hotmail": Outlook, "live": Outlook, "outlook": Outlook, "aol": AOL}
)

// Consumer returns the provider of public mailboxes under a domain.
func Consumer(domain string) (Provider, bool) {
	domain = strings.ToLower(domain)
	if p, ok := consumers[domain]; ok {
		return p, true
	}
	if m := countryDomains.FindStringSubmatch(domain); m != nil {
		return country[m[1]], true
	}
	return "", false
}

// servers are suffixes of the providers' server names; the first that matches decides.
var servers = []struct {
	suffix   string
	provider Provider
}{
	{"olc.protection.outlook.com", Outlook},
	{"protection.outlook.com", Microsoft365},
	{"mx.microsoft", Microsoft365},
	{"protection.office365.us", Microsoft365},
	{"protection.partner.outlook.cn", Microsoft365},
	{"google.com", GoogleWorkspace},
	{"googlemail.com", GoogleWorkspace},
	{"mx-aol.mail.gm0.yahoodns.net", AOL},
	{"mx.aol.com", AOL},
	{"yahoodns.net", Yahoo},
	{"yahoo.com", Yahoo},
	{"mail.icloud.com", ICloud},
	{"mail.me.com", ICloud},
	{"protonmail.ch", Proton},
	{"proton.me", Proton},
	{"zoho.com", Zoho}, {"zoho.eu", Zoho}, {"zoho.in", Zoho}, {"zoho.com.au", Zoho}, {"zoho.com.cn", Zoho}, {"zoho.jp", Zoho}, {"zohomail.com", Zoho},
}

// Classify returns the provider of a domain with these mail servers, given in order of preference. A
// filter in front of a provider's servers hides the provider.
func Classify(domain string, hosts []string) Provider {
	if p, ok := Consumer(domain); ok {
		return p
	}
	if len(hosts) == 0 {
		return Other
	}
	host := strings.ToLower(strings.TrimSuffix(hosts[0], "."))
	for _, s := range servers {
		if host == s.suffix || strings.HasSuffix(host, "."+s.suffix) {
			return s.provider
		}
	}
	return Other
}

// Or returns the provider, or if it is not known that of public mailboxes under a domain.
func (p Provider) Or(domain string) Provider {
	if p == "" {
		p, _ = Consumer(domain)
	}
	return p
}

// Directory returns a name for the directory in which the servers of a domain look up recipients: the provider's,
// which is the same for its own domains and those of its customers, or that of the server that is tried first. It is
// empty if neither is known.
func Directory(domain string, p Provider, server string) string {
	switch p = p.Or(domain); p {
	case GoogleWorkspace:
		return string(Gmail)
	case Microsoft365:
		return string(Outlook)
	case Other, "":
		if server == Null {
			return ""
		}
		return server
	}
	return string(p)
}
