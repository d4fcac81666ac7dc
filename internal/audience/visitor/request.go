package visitor

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
)

// Kind is the kind of a request.
type Kind string

// The kinds, with the names of their routes.
const (
	Page     Kind = "page"
	Identify Kind = "identify"
	Event    Kind = "event"
)

// Limits of requests.
const (
	MaxBody       = 64 << 10 // bytes
	maxVisitorID  = 128
	maxURL        = 2000 // bytes: the URL is a key of an index, see journal_named
	maxTitle      = 300  // characters
	maxReferrer   = 500
	maxUTM        = 200
	maxEventName  = 128
	maxProperties = 32 << 10
	maxDepth      = 8 // of properties
	maxTraits     = 100
)

// Request is a valid request of a website's script. Empty fields were not given.
type Request struct {
	Kind    Kind       `json:"kind"`
	Visitor id.Visitor `json:"visitor"`
	At      time.Time  `json:"at"`
	Country string     `json:"country,omitempty"` // of the client's address

	// Of a page view. Title is text, Referrer a URL.
	URL      string `json:"url,omitempty"`
	Title    string `json:"title,omitempty"`
	Referrer string `json:"referrer,omitempty"`
	Timezone string `json:"timezone,omitempty"`
	// Message and Hit are the click that led to the page; zero: none is known.
	Message id.Message `json:"message,omitzero"`
	Hit     id.Hit     `json:"hit,omitzero"`

	// Of an identify call. Traits are not checked yet.
	Email         string                     `json:"email,omitempty"`
	IdentityToken string                     `json:"identity_token,omitempty"`
	EmailHash     string                     `json:"email_hash,omitempty"`
	Traits        map[string]json.RawMessage `json:"traits,omitempty"`

	// Of an event.
	EventName  string          `json:"event_name,omitempty"`
	EventType  string          `json:"event_type,omitempty"`
	Properties json.RawMessage `json:"properties,omitempty"` // an object
}

// body is the JSON of a request.
type body struct {
	SiteKey       string                     `json:"site_key"`
	VisitorID     string                     `json:"visitor_id"`
	URL           string                     `json:"url"`
	Title         string                     `json:"title"`
	Referrer      string                     `json:"referrer"`
	Timezone      string                     `json:"timezone"`
	Email         string                     `json:"email"`
	IdentityToken string                     `json:"identity_token"`
	EmailHash     string                     `json:"email_hash"`
	Traits        map[string]json.RawMessage `json:"traits"`
	EventName     string                     `json:"event_name"`
	Type          string                     `json:"type"`
	Properties    json.RawMessage            `json:"properties"`
}

// Parse parses the body of a request, and reports whether it is valid. siteKey names the
// tenant, binding is the token of the click that led to the page (track.BindingToken);
// neither is verified. The cost is bounded by the length of the body, at most MaxBody.
func Parse(kind Kind, text []byte, now time.Time) (r Request, siteKey, binding string, ok bool) {
	var b body
	if len(text) > MaxBody || json.Unmarshal(text, &b) != nil {
		return Request{}, "", "", false
	}
	if b.VisitorID == "" || len(b.VisitorID) > maxVisitorID || !siteKeyShaped(b.SiteKey) {
		return Request{}, "", "", false
	}
	r = Request{Kind: kind, Visitor: visitorID(b.VisitorID), At: now.UTC().Truncate(time.Microsecond)}
	switch kind {
	case Page:
		binding, ok = r.page(b)
	case Identify:
		ok = r.identify(b)
	case Event:
		ok = r.event(b)
	}
	return r, b.SiteKey, binding, ok
}

// siteKeyShaped reports whether a text may be a site key, so that others need no query.
func siteKeyShaped(s string) bool {
	rest, ok := strings.CutPrefix(s, "pk_")
	return ok && len(rest) == 26 && !strings.ContainsFunc(rest, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// visitorID returns the id of the visitor with an identifier.
func visitorID(text string) id.Visitor {
	sum := sha256.Sum256([]byte("visitor\x00" + text))
	u := id.Visitor(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // RFC 9562 section 5.8
	return u
}

// page sets the fields of a page view and returns the binding token in its URL.
func (r *Request) page(b body) (binding string, ok bool) {
	r.URL, binding, ok = pageURL(b.URL)
	if !ok {
		return "", false
	}
	r.Title, r.Referrer = clip.Runes(plain(b.Title), maxTitle), plain(b.Referrer)
	if u, err := url.Parse(r.Referrer); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.Referrer = ""
	} else { // the query of another site's page may contain personal data
		r.Referrer = clip.Runes((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String(), maxReferrer)
	}
	if zone, ok := calendar.ZoneName(b.Timezone); ok {
		r.Timezone = zone
	}
	return binding, true
}

// pageURL returns the URL of a page as it is stored: without user, fragment and binding
// token, which it also returns. If it is too long, it is stored without its query.
func pageURL(text string) (stored, binding string, ok bool) {
	u, err := url.Parse(plain(strings.TrimSpace(text)))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", "", false
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery, binding = cutParameter(u.RawQuery, BindingParameter)
	if stored = u.String(); len(stored) > maxURL {
		u.RawQuery, u.ForceQuery = "", false
		stored = u.String()
	}
	return stored, binding, len(stored) <= maxURL
}

// BindingParameter is the name of the parameter that a click adds to the address of a
// tracked domain.
const BindingParameter = "_ev"

// cutParameter removes a parameter from a query and returns its value. The rest stays as it
// is.
func cutParameter(query, name string) (rest, value string) {
	if !strings.Contains(query, name) {
		return query, ""
	}
	kept := make([]string, 0, 8)
	for part := range strings.SplitSeq(query, "&") {
		if v, is := strings.CutPrefix(part, name+"="); is {
			value = v
		} else {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&"), value
}

// identify sets the fields of an identify call.
func (r *Request) identify(b body) bool {
	if b.Email == "" || len(b.Email) > 400 || len(b.IdentityToken) > 400 || len(b.EmailHash) > 200 {
		return false
	}
	r.Email, r.IdentityToken, r.EmailHash = b.Email, b.IdentityToken, b.EmailHash
	if len(b.Traits) <= maxTraits {
		r.Traits = b.Traits
	}
	return true
}

// event sets the fields of an event.
func (r *Request) event(b body) bool {
	r.EventName = strings.TrimSpace(b.EventName)
	n := utf8.RuneCountInString(r.EventName)
	if n == 0 || n > maxEventName || r.EventName != plain(r.EventName) {
		return false
	}
	r.EventType = clip.Runes(plain(strings.TrimSpace(b.Type)), maxEventName)
	if len(b.Properties) == 0 || string(b.Properties) == "null" {
		return true
	}
	r.Properties = b.Properties
	return b.Properties[0] == '{' && len(b.Properties) <= maxProperties && depth(b.Properties) <= maxDepth
}

// properties decodes the properties of an event, with numbers as they were sent.
func (r *Request) properties() (map[string]any, error) {
	if len(r.Properties) == 0 {
		return nil, nil
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(r.Properties))
	d.UseNumber()
	err := d.Decode(&m)
	return m, err
}

// Submitted returns the identify call of a visitor who entered an address in a form.
func Submitted(visitor, email string, now time.Time) (r Request, ok bool) {
	if visitor == "" || len(visitor) > maxVisitorID {
		return Request{}, false
	}
	r = Request{Kind: Identify, Visitor: visitorID(visitor), At: now.UTC().Truncate(time.Microsecond)}
	return r, r.identify(body{Email: email})
}

// depth returns how deeply the objects and arrays of valid JSON are nested.
func depth(text []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

// plain removes control characters, which no text of a request needs and not every database
// stores.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// claim sets the click that led to the page, if it is one of the tenant's mails.
func (r *Request) claim(b track.Binding, tenant id.Tenant) {
	if b.Tenant == tenant {
		r.Message, r.Hit = b.Message, b.Hit
	}
}
