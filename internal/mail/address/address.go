// Package address parses mail addresses and host names into the spelling in which the program
// stores, compares and sends them.
//
// An address is a bare mailbox of RFC 5321 section 4.1.2 (local@domain) in one
// canonical spelling: no display name, no angle brackets, lower case, the
// domain in A-labels (RFC 5890). Two further forms of the RFC are refused on
// purpose: quoted local parts and address literals, which subscribers do not
// use and which many receivers mangle. A local part outside ASCII needs
// SMTPUTF8 from end to end (RFC 6531) and is refused too.
package address

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of RFC 5321 section 4.5.3.1; a path of 256 octets holds an
// address of 254 and its angle brackets.
const (
	maxAddress = 254
	maxLocal   = 64
)

// Error is the reason why a string is not an address or a host name. Its text is one clause, written
// for the user who entered the string.
type Error struct{ Reason string }

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

func refuse(reason string) error { return &Error{reason} }

// Address is a mailbox in canonical spelling. Addresses can be compared with ==.
type Address struct {
	Local  string // dot-atom, lower case
	Domain string // lower case A-labels, at least two
}

// String returns local@domain, or "" for the zero Address.
func (a Address) String() string {
	if a == (Address{}) {
		return ""
	}
	return a.Local + "@" + a.Domain
}

// Parse parses s as one mailbox. White space around it is removed; anything else that is not part
// of a mailbox is an error, of type *Error.
func Parse(s string) (Address, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return Address{}, refuse("the address is empty")
	case !utf8.ValidString(s):
		return Address{}, refuse("the address is not valid UTF-8")
	}
	if err := checkCharacters(s); err != nil {
		return Address{}, err
	}
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return Address{}, refuse("the address has no @")
	}
	local, domain := s[:at], s[at+1:]
	if err := checkLocal(local); err != nil {
		return Address{}, err
	}
	if domain == "" {
		return Address{}, refuse("the address has nothing after the @")
	}
	if domain[0] == '[' {
		return Address{}, refuse("an address at an IP literal is not accepted")
	}
	host, err := Hostname(domain)
	if err != nil {
		return Address{}, err
	}
	if len(local)+1+len(host) > maxAddress {
		return Address{}, refuse("the address is longer than 254 characters")
	}
	return Address{strings.ToLower(local), host}, nil
}

// Normalize returns s in the spelling in which addresses are stored.
func Normalize(s string) (string, error) {
	a, err := Parse(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// Domain returns the part of addr after the last @, or "". It does not check addr, which must have
// passed Parse.
func Domain(addr string) string {
	return addr[strings.LastIndexByte(addr, '@')+1:]
}

// checkCharacters refuses, by name, characters that users often enter or attackers inject.
func checkCharacters(s string) error {
	if strings.ContainsAny(s, "<>") {
		return refuse("the address must stand alone, without a name or angle brackets")
	}
	for _, r := range s {
		switch {
		case r == ' ' || r == '\t':
			return refuse("the address holds a space")
		case r == ',' || r == ';':
			return refuse("only one address is accepted here")
		case r < 0x20 || r == 0x7f || unicode.IsControl(r):
			return refuse("the address holds a control character")
		case r > 0x7f && unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			return refuse("the address holds a space")
		}
	}
	return nil
}

// checkLocal checks that a local part is a dot-atom (RFC 5322 section 3.2.3). It must be called
// before the case is folded: some letters outside ASCII fold into ASCII.
func checkLocal(local string) error {
	switch {
	case local == "":
		return refuse("the address has nothing before the @")
	case local[0] == '"':
		return refuse("a quoted local part is not accepted")
	case len(local) > maxLocal:
		return refuse("the part before the @ is longer than 64 characters")
	case local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, ".."):
		return refuse("the part before the @ has a dot at its start or end, or two in a row")
	}
	for i := range len(local) {
		c := local[i]
		switch {
		case c >= utf8.RuneSelf:
			return refuse("the part before the @ may hold only ASCII characters")
		case c == '@':
			return refuse("the address has more than one @")
		case c != '.' && !isAtext(c):
			return refuse("the part before the @ holds a character that is not allowed there: " + string(rune(c)))
		}
	}
	return nil
}

func isAtext(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}
