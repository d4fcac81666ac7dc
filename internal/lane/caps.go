package lane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/mx"
)

// Caps bound what a lane carries. They are the installation's, however many
// processes send by the lane. A rate of 0 is no limit.
type Caps struct {
	MaxPerSecond             int `json:"max_per_second,omitempty"`
	MaxPerMinute             int `json:"max_per_minute,omitempty"`
	MaxPerHour               int `json:"max_per_hour,omitempty"`
	MaxPerDay                int `json:"max_per_day,omitempty"` // a day of the account's time zone
	MaxConnections           int `json:"max_connections"`
	MaxMessagesPerConnection int `json:"max_messages_per_connection"`
}

// Throttle bounds what a lane carries to one provider or to one domain. A limit
// of 0 is none.
type Throttle struct {
	Pattern        string `json:"pattern"` // a group of providers, or a domain
	MaxConnections int    `json:"max_connections,omitempty"`
	MaxPerMinute   int    `json:"max_per_minute,omitempty"`
	MaxPerHour     int    `json:"max_per_hour,omitempty"`
}

// Bound is a limit that a caller sets, or lifts.
type Bound struct {
	To *int // nil lifts it
}

// ThrottleFields are what a caller says of one throttle. Nil is no limit.
type ThrottleFields struct {
	Pattern        string
	MaxConnections *int
	MaxPerMinute   *int
	MaxPerHour     *int
}

// groups are the providers that a throttle may name, with the
// contacts' providers that each of them covers.
var groups = map[string][]mx.Provider{
	"gmail":   {mx.Gmail, mx.GoogleWorkspace},
	"outlook": {mx.Outlook, mx.Microsoft365},
	"yahoo":   {mx.Yahoo},
	"icloud":  {mx.ICloud},
	"aol":     {mx.AOL},
	"proton":  {mx.Proton},
}

// Group returns the group of a contact's provider, which shares its limits, or
// "" for one that has none.
func Group(provider string) string {
	for name, members := range groups {
		if slices.Contains(members, mx.Provider(provider)) {
			return name
		}
	}
	return ""
}

// Throttle returns the throttle for mail to an address at the domain, whose
// mailboxes the provider runs, or nil. One that names the domain goes before
// one that names its provider.
func (c Config) Throttle(provider, domain string) *Throttle {
	if len(c.Throttles) == 0 {
		return nil
	}
	var found *Throttle
	group := Group(provider)
	for i, t := range c.Throttles {
		switch {
		case strings.EqualFold(t.Pattern, domain):
			return &c.Throttles[i]
		case t.Pattern == group:
			found = &c.Throttles[i]
		}
	}
	return found
}

func (f Fields) applyCaps(c Caps, p *fault.Problems) Caps {
	bound(p, "caps.max_per_second", &c.MaxPerSecond, f.MaxPerSecond)
	bound(p, "caps.max_per_minute", &c.MaxPerMinute, f.MaxPerMinute)
	bound(p, "caps.max_per_hour", &c.MaxPerHour, f.MaxPerHour)
	bound(p, "caps.max_per_day", &c.MaxPerDay, f.MaxPerDay)
	set(&c.MaxConnections, f.MaxConnections)
	set(&c.MaxMessagesPerConnection, f.MaxMessagesPerConnection)
	between(p, "caps.max_connections", c.MaxConnections, 1, maxConnections)
	between(p, "caps.max_messages_per_connection", c.MaxMessagesPerConnection, 1, maxPerConnection)
	return c
}

func bound(p *fault.Problems, path string, to *int, b *Bound) {
	if b != nil {
		*to = limit(p, path, b.To, maxRate)
	}
}

// limit returns a limit that may be none, which is 0.
func limit(p *fault.Problems, path string, n *int, high int) int {
	if n == nil {
		return 0
	}
	between(p, path, *n, 1, high)
	return *n
}

// throttles returns the list as it is kept, and notes what is wrong with it.
func throttles(list []ThrottleFields, p *fault.Problems) []Throttle {
	if len(list) > maxThrottles {
		p.Add("domain_throttles", fmt.Sprintf("at most %d", maxThrottles))
		return nil
	}
	var out []Throttle
	for i, f := range list {
		at := fmt.Sprintf("domain_throttles[%d]", i)
		t := Throttle{
			Pattern:        pattern(p, at+".pattern", f.Pattern),
			MaxConnections: limit(p, at+".max_connections", f.MaxConnections, maxConnections),
			MaxPerMinute:   limit(p, at+".max_per_minute", f.MaxPerMinute, maxRate),
			MaxPerHour:     limit(p, at+".max_per_hour", f.MaxPerHour, maxRate),
		}
		if f.MaxConnections == nil && f.MaxPerMinute == nil && f.MaxPerHour == nil {
			p.Add(at, "needs max_connections, max_per_minute or max_per_hour")
		}
		if t.Pattern != "" && slices.ContainsFunc(out, func(o Throttle) bool { return o.Pattern == t.Pattern }) {
			p.Add(at+".pattern", "is there twice")
		}
		out = append(out, t)
	}
	return out
}

// pattern returns what a throttle is for in its usual spelling.
func pattern(p *fault.Problems, path, text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if _, ok := groups[text]; ok {
		return text
	}
	if text == "" {
		p.Add(path, "required")
		return ""
	}
	domain, err := address.Hostname(text)
	if err != nil {
		p.Add(path, "must be gmail, outlook, yahoo, icloud, aol, proton or a recipient domain")
	}
	return domain
}
