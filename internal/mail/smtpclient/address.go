package smtpclient

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrBadAddress reports an envelope address that must not be written in a command.
var ErrBadAddress = errors.New("not an address that can be mailed")

// Envelope is the sender and the recipient of a message in SMTP. An empty From is the null sender of
// notifications.
type Envelope struct{ From, To string }

// check returns an error if an address could be read as more than one address or command.
func (e Envelope) check() error {
	if e.From != "" && !mailbox(e.From) || !mailbox(e.To) {
		return ErrBadAddress
	}
	return nil
}

// international reports whether the addresses need SMTPUTF8 (RFC 6531).
func (e Envelope) international() bool { return !ascii(e.From) || !ascii(e.To) }

// mailbox reports whether s is local@domain in the grammar of RFC 5321 section 4.1.2, with two
// differences: dots may be anywhere in the local part, since mailboxes with two in a row exist, and a
// quoted local part has no spaces.
func mailbox(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || len(s) > 320 || !utf8.ValidString(s) {
		return false
	}
	local, domain := s[:at], s[at+1:]
	return hasNoSpace(s) && localPart(local) && domainPart(domain)
}

// hasNoSpace reports whether s has no angle brackets, white space or control characters.
func hasNoSpace(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return !strings.ContainsFunc(s, func(r rune) bool {
				return r == '<' || r == '>' || unicode.IsSpace(r) || unicode.Is(unicode.C, r)
			})
		case c <= ' ' || c == '<' || c == '>' || c == 0x7f:
			return false
		}
	}
	return true
}

func localPart(s string) bool {
	if s[0] != '"' {
		return !strings.ContainsAny(s, `()[]\,;:@"`)
	}
	if len(s) < 3 || s[len(s)-1] != '"' {
		return false
	}
	s = s[1 : len(s)-1]
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return false
		case '\\':
			if i++; i == len(s) {
				return false
			}
		}
	}
	return true
}

func domainPart(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	if s[0] == '[' {
		return s[len(s)-1] == ']' && len(s) > 2 && strings.Trim(s[1:len(s)-1], "0123456789abcdefABCDEFIPv:.") == ""
	}
	return !strings.ContainsAny(s, "()[]\\,;:@\"!#$%&'*+/=?^`{|}~") &&
		s[0] != '.' && !strings.Contains(s, "..") && s[len(s)-1] != '.'
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
