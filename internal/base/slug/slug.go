// Package slug makes and checks the short names by which people refer to
// records: slugs and keys.
package slug

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxLen is the length of the longest slug or key.
const MaxLen = 64

// Rule says what a slug or key looks like, for messages.
const Rule = "must be 1 to 64 lower case letters, digits, - or _, the first a letter or a digit"

// empty is the slug of a name in which nothing can be kept.
const empty = "item"

// Valid reports whether s is a slug or key.
func Valid(s string) bool {
	if s == "" || len(s) > MaxLen || s[0] == '-' || s[0] == '_' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letterOrDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Derive returns the slug of a name: lower case, folded to ASCII, each run of
// other characters become one separator, which is '-' or '_'.
func Derive(name string, separator byte) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(name) {
		for _, c := range fold(r) {
			switch {
			case unicode.Is(unicode.Mn, c): // the accent of the letter before
			case c > unicode.MaxASCII || !letterOrDigit(byte(c)):
				gap = true
			default:
				if gap && b.Len() > 0 {
					b.WriteByte(separator)
				}
				gap = false
				b.WriteRune(c)
			}
		}
	}
	s := b.String()
	if len(s) > MaxLen {
		s = strings.TrimRight(s[:MaxLen], string(separator))
	}
	if s == "" {
		return empty
	}
	return s
}

// fold returns r in lower case, as ASCII where decomposition does not get there.
func fold(r rune) string {
	switch r = unicode.ToLower(r); r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'ł':
		return "l"
	case 'þ':
		return "th"
	case 'ı':
		return "i"
	}
	return string(r)
}

func letterOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// Free returns s, or s with the first number from 2 on for which taken says no.
// The error is taken's.
func Free(s string, separator byte, taken func(string) (bool, error)) (string, error) {
	try := s
	for n := 2; ; n++ {
		used, err := taken(try)
		if err != nil || !used {
			return try, err
		}
		suffix := string(separator) + strconv.Itoa(n)
		try = s[:min(len(s), MaxLen-len(suffix))] + suffix
	}
}
