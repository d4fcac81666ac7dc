package markup

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html" // package html of the standard library does not decode &#9 without a semicolon
)

// UnescapeValue decodes the character references in the value of an attribute, as browsers do (HTML, 13.2.5.73). It
// differs from html.UnescapeString, which is for text, in names without a semicolon that a letter, a digit or = follows:
// in "?item=9&copy=2" the value has no ©.
func UnescapeValue(s string) string { return unescapeValue(s, false) }

// unescapeValue is UnescapeValue of a part of a value; more is whether something follows that is not known yet. A
// name at the end of the part is then not decoded unless it has its semicolon.
func unescapeValue(s string, more bool) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '&') {
		b.WriteString(s[:i])
		s = s[i:]
		n := referenceEnd(s)
		b.WriteString(decodeReference(s[:n], s[n:], more))
		s = s[n:]
	}
	b.WriteString(s)
	return b.String()
}

// referenceEnd returns the length of what may be a character reference at the start of s: & or &#, letters and digits,
// and a semicolon.
func referenceEnd(s string) int {
	n := 1
	if n < len(s) && s[n] == '#' {
		n++
	}
	for n < len(s) && isAlphanumeric(s[n]) {
		n++
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	return n
}

// decodeReference decodes what referenceEnd has found, or returns it as it is.
func decodeReference(ref, rest string, more bool) string {
	if strings.HasPrefix(ref, "&#") { // digits end without a semicolon, too
		return html.UnescapeString(ref)
	}
	decoded := html.UnescapeString(ref)
	if strings.HasSuffix(ref, ";") {
		// Of a name that is not known, UnescapeString decodes a known beginning, and leaves the semicolon.
		if ref == "&semi;" || !strings.HasSuffix(decoded, ";") {
			return decoded
		}
		return ref
	}
	ends := rest == "" && !more || rest != "" && rest[0] != '='
	if ends && utf8.RuneCountInString(decoded) == 1 { // all of it is one name, of those that need no semicolon
		return decoded
	}
	return ref
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// DecodeValue returns the value of an attribute whose source is s, with character references decoded and Liquid kept. f is
// applied to what stands between Liquid; nil leaves it as it is.
func DecodeValue(s string, f func(string) string) string {
	part := func(s string, more bool) string {
		s = unescapeValue(s, more)
		if f != nil {
			s = f(s)
		}
		return s
	}
	spans := Spans(s)
	if len(spans) == 0 {
		return part(s, false)
	}
	var b strings.Builder
	last := 0
	for _, p := range spans {
		b.WriteString(part(s[last:p.Start], true))
		b.WriteString(s[p.Start:p.End])
		last = p.End
	}
	b.WriteString(part(s[last:], false))
	return b.String()
}
