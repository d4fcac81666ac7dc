package links

import "strings"

// Location returns a target that passed CheckTarget in the form of a Location header (RFC 9110
// section 10.2.2), in ASCII: the host in A-labels, and spaces, control bytes and bytes from 0x80
// percent-encoded elsewhere. Encoded bytes are not encoded again.
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
