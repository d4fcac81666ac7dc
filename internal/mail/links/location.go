package links

import "strings"

// Location returns a target that CheckTarget passes as the Location header of a
// redirect names it (RFC 9110 section 10.2.2): in ASCII. The host is in
// A-labels, elsewhere bytes from 0x80, spaces and control bytes are
// percent-encoded; what is encoded already stays as it is.
func Location(target string) string { return encoded(asciiHost(target)) }

func encoded(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c >= 0x7f {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
