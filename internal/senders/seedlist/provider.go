package seedlist

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/address"
)

// Provider is the mailbox provider of a seed.
type Provider string

// The providers.
const (
	Gmail   Provider = "gmail"
	Outlook Provider = "outlook"
	Yahoo   Provider = "yahoo"
	AOL     Provider = "aol"
	ICloud  Provider = "icloud"
	Proton  Provider = "proton"
	Other   Provider = "other"
)

// Providers returns every provider.
func Providers() []Provider { return []Provider{Gmail, Outlook, Yahoo, AOL, ICloud, Proton, Other} }

// parseProvider returns the provider with a label, and whether there is one.
func parseProvider(label string) (Provider, bool) {
	p := Provider(strings.ToLower(strings.TrimSpace(label)))
	return p, slices.Contains(Providers(), p)
}

// domains are the providers of domains, and international those of brands that have domains of the
// same name in several countries.
var (
	domains = map[string]Provider{
		"gmail.com": Gmail, "googlemail.com": Gmail, "ymail.com": Yahoo, "rocketmail.com": Yahoo,
		"icloud.com": ICloud, "me.com": ICloud, "mac.com": ICloud, "proton.me": Proton, "pm.me": Proton,
	}
	international = map[string]Provider{
		"outlook": Outlook, "hotmail": Outlook, "live": Outlook, "msn": Outlook, "yahoo": Yahoo, "aol": AOL, "protonmail": Proton,
	}
)

// inferProvider returns the provider of a normalized address.
func inferProvider(email string) Provider {
	domain := address.Domain(email)
	if p, ok := domains[domain]; ok {
		return p
	}
	brand, suffix, _ := strings.Cut(domain, ".")
	if p, ok := international[brand]; ok && isPublicSuffix(suffix) {
		return p
	}
	return Other
}

// isPublicSuffix reports whether s is a top-level domain, or a second-level domain under which
// countries register names, such as co.uk.
func isPublicSuffix(s string) bool {
	second, country, nested := strings.Cut(s, ".")
	return !nested || len(country) == 2 && slices.Contains([]string{"ac", "co", "com", "ne", "net", "or", "org"}, second)
}
