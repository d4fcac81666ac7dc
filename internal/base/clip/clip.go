// Package clip shortens text.
package clip

import "unicode/utf8"

// Runes returns the first n characters of s.
func Runes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Ellipsis returns s, or its first n characters and an ellipsis if it has more.
func Ellipsis(s string, n int) string {
	if start := Runes(s, n); len(start) < len(s) {
		return start + "…"
	}
	return s
}

// Bytes returns as many whole characters from the start of s as fit into n bytes.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
