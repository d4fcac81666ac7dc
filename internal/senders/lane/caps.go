package lane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/mx"
)

// Caps limit what a lane sends. They apply to the installation, whatever the number of processes. A
// rate of 0 means no limit.
type Caps struct {
	MaxPerSecond             int `json:"max_per_second,omitempty"`
	MaxPerMinute             int `json:"max_per_minute,omitempty"`
	MaxPerHour               int `json:"max_per_hour,omitempty"`
	MaxPerDay                int `json:"max_per_day,omitempty"` // per day in the account's time zone
	MaxConnections           int `json:"max_connections"`
	MaxMessagesPerConnection int `json:"max_messages_per_connection"`
}

// Throttle limits what a lane sends to one provider or domain. 0 means no limit.
type Throttle struct {
	Pattern        string `json:"pattern"` // a provider group, or a domain
	MaxConnections int    `json:"max_connections,omitempty"`
	MaxPerMinute   int    `json:"max_per_minute,omitempty"`
	MaxPerHour     int    `json:"max_per_hour,omitempty"`
}

// Hourly returns the maximum number of messages in any hour: the lowest of the limits that apply. Without any
// of them, capped is false.
func (c Caps) Hourly() (n int, capped bool) {
	return lowest(c.MaxPerSecond*3600, c.MaxPerMinute*60, c.MaxPerHour, c.MaxPerDay)
}

// Hourly returns the maximum number of messages in any hour. Without one, capped is false.
func (t Throttle) Hourly() (n int, capped bool) { return lowest(t.MaxPerMinute*60, t.MaxPerHour) }

// lowest returns the lowest of limits, of which 0 is none.
func lowest(limits ...int) (n int, capped bool) {
	for _, l := range limits {
		if l > 0 && (n == 0 || l < n) {
			n = l
		}
	}
	return n, n > 0
}

// Bound sets or removes a limit.
type Bound struct {
	To *int // nil removes the limit
}

// ThrottleFields are the fields of one throttle in a request. Nil means no limit.
type ThrottleFields struct {
	Pattern        string
	MaxConnections *int
	MaxPerMinute   *int
	MaxPerHour     *int
}

// groups maps the provider groups that a throttle may name to the providers in each.
var groups = map[string][]mx.Provider{
	"gmail":   {mx.Gmail, mx.GoogleWorkspace},
	"outlook": {mx.Outlook, mx.Microsoft365},
	"yahoo":   {mx.Yahoo},
	"icloud":  {mx.ICloud},
	"aol":     {mx.AOL},
	"proton":  {mx.Proton},
}

// Group returns the group of a contact's provider, whose limits it shares, or "".
func Group(provider string) string {
	for name, members := range groups {
		if slices.Contains(members, mx.Provider(provider)) {
			return name
		}
	}
	return ""
}

// Throttle returns the throttle for mail to a domain and the provider of its mailboxes, or nil. A
// throttle for the domain takes precedence over one for the provider.
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
	setBound(p, "caps.max_per_second", &c.MaxPerSecond, f.MaxPerSecond)
	setBound(p, "caps.max_per_minute", &c.MaxPerMinute, f.MaxPerMinute)
	setBound(p, "caps.max_per_hour", &c.MaxPerHour, f.MaxPerHour)
	setBound(p, "caps.max_per_day", &c.MaxPerDay, f.MaxPerDay)
	set(&c.MaxConnections, f.MaxConnections)
	set(&c.MaxMessagesPerConnection, f.MaxMessagesPerConnection)
	checkRange(p, "caps.max_connections", c.MaxConnections, 1, maxConnections)
	checkRange(p, "caps.max_messages_per_connection", c.MaxMessagesPerConnection, 1, maxPerConnection)
	return c
}

func setBound(p *fault.Problems, path string, to *int, b *Bound) {
	if b != nil {
		*to = checkLimit(p, path, b.To, maxRate)
	}
}

// checkLimit returns a validated limit, or 0 for none.
func checkLimit(p *fault.Problems, path string, n *int, high int) int {
	if n == nil {
		return 0
	}
	checkRange(p, path, *n, 1, high)
	return *n
}

// throttles validates a list of throttles and returns it as stored.
func throttles(list []ThrottleFields, p *fault.Problems) []Throttle {
	if len(list) > maxThrottles {
		p.Add("domain_throttles", fmt.Sprintf("at most %d", maxThrottles))
		return nil
	}
	var out []Throttle
	for i, f := range list {
		at := fmt.Sprintf("domain_throttles[%d]", i)
		t := Throttle{
			Pattern:        canonicalPattern(p, at+".pattern", f.Pattern),
			MaxConnections: checkLimit(p, at+".max_connections", f.MaxConnections, maxConnections),
			MaxPerMinute:   checkLimit(p, at+".max_per_minute", f.MaxPerMinute, maxRate),
			MaxPerHour:     checkLimit(p, at+".max_per_hour", f.MaxPerHour, maxRate),
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

// canonicalPattern validates a pattern and returns its canonical form.
func canonicalPattern(p *fault.Problems, path, text string) string {
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
