package lane

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// Limits on the mail that a lane of type sink refuses.
const (
	maxFailPatterns = 50
	maxFailPattern  = 254 // bytes, as of an address
	maxFailResponse = 500 // bytes; RFC 5321 section 4.5.3.1.5 allows 512 with the line end
)

// SinkSettings are the settings of a lane that stores mail in the built-in mailbox.
type SinkSettings struct {
	FailPatterns []FailPattern `json:"fail_patterns,omitempty"`
}

// FailPattern is mail that a lane of type sink refuses instead of storing it.
type FailPattern struct {
	Pattern  string `json:"pattern"`  // an address or a domain in canonical spelling, with * for any characters
	Response string `json:"response"` // the SMTP reply, such as "550 5.1.1 no such user"
}

// FailPatternFields are the fields of a FailPattern in a request.
type FailPatternFields struct{ Pattern, Response string }

// Refusal returns the reply with which the lane refuses mail to an address, which must be in canonical
// spelling: that of the first pattern that matches. It returns "" if the lane accepts the mail.
func (s SinkSettings) Refusal(to string) string {
	for _, f := range s.FailPatterns {
		if f.matches(to) {
			return f.Response
		}
	}
	return ""
}

// matches reports whether the pattern matches an address. A pattern without @ is for the domain. A *
// matches no @, so that a pattern for a local part says nothing about domains.
func (f FailPattern) matches(to string) bool {
	local, domain, full := strings.Cut(f.Pattern, "@")
	if !full {
		local, domain = "*", f.Pattern
	}
	at := strings.LastIndexByte(to, '@')
	return at >= 0 && matchesAny(to[:at], local) && matchesAny(to[at+1:], domain)
}

// matchesAny reports whether text equals a pattern in which each * matches any number of characters.
func matchesAny(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return text == pattern
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}

// applySink sets the fields in f and validates the settings of a lane of type sink.
func (f Fields) applySink(s SinkSettings, p *fault.Problems) SinkSettings {
	if f.FailPatterns != nil {
		s.FailPatterns = failPatterns(*f.FailPatterns, p)
	}
	return s
}

// failPatterns validates a list of patterns and returns it as stored.
func failPatterns(list []FailPatternFields, p *fault.Problems) []FailPattern {
	if len(list) > maxFailPatterns {
		p.Add("settings.fail_patterns", fmt.Sprintf("at most %d", maxFailPatterns))
		return nil
	}
	var out []FailPattern
	for i, f := range list {
		at := fmt.Sprintf("settings.fail_patterns[%d]", i)
		pattern, err := mailPattern(f.Pattern)
		switch {
		case err != nil:
			p.Add(at+".pattern", err.Error())
		case slices.ContainsFunc(out, func(o FailPattern) bool { return o.Pattern == pattern }):
			p.Add(at+".pattern", "is there twice")
		}
		response := strings.TrimRight(f.Response, " ")
		if err := checkFailResponse(response); err != nil {
			p.Add(at+".response", err.Error())
		}
		out = append(out, FailPattern{pattern, response})
	}
	return out
}

// mailPattern returns a pattern in canonical spelling.
func mailPattern(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errors.New("required: an address or a domain, in which * matches any characters")
	case len(text) > maxFailPattern:
		return "", fmt.Errorf("must be at most %d bytes", maxFailPattern)
	}
	at := strings.LastIndexByte(text, '@')
	domain, err := domainPattern(text[at+1:])
	if err != nil || at < 0 {
		return domain, err
	}
	a, err := address.Parse(text[:at] + "@example.com") // a * is allowed in local parts
	if err != nil {
		return "", err
	}
	return a.Local + "@" + domain, nil
}

// domainPattern returns a domain in canonical spelling in which a * may stand for any characters.
func domainPattern(text string) (string, error) {
	if !strings.Contains(text, "*") {
		return address.Hostname(text)
	}
	labels := strings.Split(text, ".")
	for i, label := range labels {
		// The suffix makes a label a valid name by itself.
		name, err := address.Hostname(strings.ReplaceAll(label, "*", "x") + ".example")
		if err != nil {
			return "", err
		}
		switch {
		case !strings.Contains(label, "*"):
			labels[i] = strings.TrimSuffix(name, ".example")
		case !address.IsASCII(label):
			return "", errors.New("a part of the domain with a * may hold only ASCII characters")
		default:
			labels[i] = strings.ToLower(label)
		}
	}
	return strings.Join(labels, "."), nil
}

// failCode is the start of a reply that refuses something, of one line.
var failCode = regexp.MustCompile(`^[45][0-9]{2}( |$)`)

// checkFailResponse checks that a text is one line of an SMTP reply that refuses a recipient.
func checkFailResponse(text string) error {
	switch {
	case text == "":
		return errors.New("required: an SMTP reply such as 550 5.1.1 no such user")
	case len(text) > maxFailResponse:
		return fmt.Errorf("must be at most %d bytes", maxFailResponse)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return errors.New("must be one line without control characters")
	case !failCode.MatchString(text):
		return errors.New("must begin with a code of three digits from 400 to 599, and a space")
	}
	return nil
}
