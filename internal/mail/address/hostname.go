package address

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The limits of RFC 1035 section 2.3.4, less the length octets of the wire form.
const (
	maxHostname = 253
	maxLabel    = 63
)

// Hostname returns s as a host name in canonical spelling: lower case, at
// least two labels, those outside ASCII converted to A-labels by UTS 46
// (non-transitional). IP addresses, ports, trailing dots and underscores are
// refused. The error is of type *Error.
func Hostname(s string) (string, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", refuse("the domain is empty")
	case !utf8.ValidString(s): // the conversion would accept some of them
		return "", refuse("the domain is not valid UTF-8")
	}
	if len(s) > 4*maxHostname {
		return "", refuse("the domain is longer than 253 characters")
	}
	host := strings.ToLower(s)
	if !IsASCII(host) || strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--") {
		// Lookup maps, checks code points, hyphens, bidi and joiners, and
		// verifies that labels which claim to be A-labels decode to such.
		ascii, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return "", refuse("the domain is not a valid international domain name")
		}
		host = ascii
	}
	if err := checkHostname(host); err != nil {
		return "", err
	}
	return host, nil
}

// checkHostname checks that a lower-case ASCII name consists of the letters, digits and hyphens of
// RFC 1123 section 2.1.
func checkHostname(host string) error {
	if len(host) > maxHostname {
		return refuse("the domain is longer than 253 characters")
	}
	labels, last := 0, ""
	for label := range strings.SplitSeq(host, ".") {
		if err := checkLabel(label); err != nil {
			return err
		}
		labels++
		last = label
	}
	if labels < 2 {
		return refuse("the domain has no dot")
	}
	if strings.Trim(last, "0123456789") == "" {
		return refuse("the domain ends in a number; an IP address is not accepted")
	}
	return nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return refuse("the domain has a dot at its start or end, or two in a row")
	case len(label) > maxLabel:
		return refuse("a part of the domain is longer than 63 characters")
	case label[0] == '-' || label[len(label)-1] == '-':
		return refuse("a part of the domain starts or ends with a hyphen")
	}
	for i := range len(label) {
		c := label[i]
		if ('a' > c || c > 'z') && ('0' > c || c > '9') && c != '-' {
			return refuse("the domain holds a character that is not allowed there")
		}
	}
	return nil
}

// IsASCII reports whether s has only ASCII characters.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
