package form

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/fault"
)

// Honeypot is the name of an input that people do not see. Programs fill it in.
const Honeypot = "website_url_2"

// MaxBody is the maximal size of a submission in bytes.
const MaxBody = 64 << 10

// maxKeys is how many fields or consents a submission may have.
const maxKeys = 500

// customPrefix precedes the key of a custom field in the names of inputs.
const customPrefix = "custom_fields."

// consentPrefix precedes the binding of a consent in the names of inputs.
const consentPrefix = "consents."

// Submitted is what a visitor submitted. It is not validated yet.
type Submitted struct {
	Encoded      bool            // by a form of HTML, not by the script
	Values       map[string]any  // by binding, custom fields with or without customPrefix
	Consents     map[string]bool // by binding
	Token        string          // empty: none
	Honeypot     string
	CaptchaToken string
	VisitorID    string
	PageURL      string

	IP, Agent string // of the client; set by the caller
}

// ParseJSON parses the body of the script. A fault names values of the wrong type.
func ParseJSON(body []byte) (Submitted, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil || raw == nil {
		return Submitted{}, fault.Input(fault.Field{Path: "body", Message: "must be a JSON object"})
	}
	var p fault.Problems
	s := Submitted{Values: map[string]any{}, Consents: map[string]bool{}}
	var fields, consents map[string]json.RawMessage
	object := func(name string, to *map[string]json.RawMessage) {
		if text, given := raw[name]; given && (json.Unmarshal(text, to) != nil || len(*to) > maxKeys) {
			p.Add(name, "must be an object with at most 500 keys")
			*to = nil
		}
	}
	object("fields", &fields)
	object("consents", &consents)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var v any
		if json.Unmarshal(fields[name], &v) == nil {
			s.Values[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(consents)) {
		var v *bool
		if json.Unmarshal(consents[name], &v) != nil {
			p.Add(consentPrefix+clip.Runes(storable(name), maxUnchecked), "must be true or false")
			continue
		}
		s.Consents[name] = v != nil && *v
	}
	for name, to := range map[string]*string{
		"token": &s.Token, "honeypot": &s.Honeypot, "captcha_token": &s.CaptchaToken, "visitor_id": &s.VisitorID, "page_url": &s.PageURL,
	} {
		if text, given := raw[name]; given {
			var v *string
			if json.Unmarshal(text, &v) != nil {
				p.Add(name, "must be a string")
			} else if v != nil {
				*to = *v
			}
		}
	}
	if v, ok := s.Values[Honeypot].(string); ok && s.Honeypot == "" {
		s.Honeypot = v
	}
	s.clean()
	return s, p.Err()
}

// captchaNames are the names under which the captchas' own scripts add their token to a form.
var captchaNames = []string{"captcha_token", "cf-turnstile-response", "h-captcha-response"}

// ParseForm parses the values of an HTML form.
func ParseForm(v url.Values) Submitted {
	s := Submitted{
		Encoded: true, Values: map[string]any{}, Consents: map[string]bool{},
		Token: v.Get("token"), Honeypot: v.Get(Honeypot), VisitorID: v.Get("visitor_id"), PageURL: v.Get("page_url"),
	}
	for _, name := range captchaNames {
		if s.CaptchaToken == "" {
			s.CaptchaToken = v.Get(name)
		}
	}
	for name, list := range v {
		if len(s.Values) >= maxKeys || len(s.Consents) >= maxKeys {
			break
		}
		if binding, ok := strings.CutPrefix(name, consentPrefix); ok {
			s.Consents[binding] = slices.ContainsFunc(list, func(one string) bool { return one != "" })
			continue
		}
		if len(list) == 1 {
			s.Values[name] = list[0]
			continue
		}
		all := make([]any, len(list))
		for i, one := range list {
			all[i] = one
		}
		s.Values[name] = all
	}
	s.clean()
	return s
}

// clean makes the texts fit for the database.
func (s *Submitted) clean() {
	s.VisitorID = clip.Runes(storable(s.VisitorID), maxUnchecked)
	if s.PageURL = storable(s.PageURL); !isWebURL(s.PageURL) {
		s.PageURL = ""
	}
}

// maxUnchecked limits the characters of texts that are stored or shown although nothing else limits them.
const maxUnchecked = 200

// storable removes what not every database stores.
func storable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
