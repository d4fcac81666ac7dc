package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/clip"
)

func TestTextIsShortened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s                      string
		n                      int
		runes, ellipsis, bytes string
	}{
		{"", 0, "", "", ""},
		{"abc", 0, "", "…", ""},
		{"abc", 2, "ab", "ab…", "ab"},
		{"abc", 3, "abc", "abc", "abc"},
		{"äöü", 2, "äö", "äö…", "ä"},
		{"äöü", 3, "äöü", "äöü", "ä"},
		{"a😀b", 2, "a😀", "a😀…", "a"},
		{"a😀b", 5, "a😀b", "a😀b", "a😀"},
	} {
		if r, e, b := clip.Runes(c.s, c.n), clip.Ellipsis(c.s, c.n), clip.Bytes(c.s, c.n); r != c.runes || e != c.ellipsis || b != c.bytes {
			t.Errorf("%q, %d: %q, %q, %q; want %q, %q, %q", c.s, c.n, r, e, b, c.runes, c.ellipsis, c.bytes)
		}
	}
}

func TestShortenedTextIsTheLongestStart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 40).Draw(t, "n")
		r, b := clip.Runes(s, n), clip.Bytes(s, n)
		if !strings.HasPrefix(s, r) || utf8.RuneCountInString(r) != min(n, utf8.RuneCountInString(s)) {
			t.Errorf("%d characters of %q: %q", n, s, r)
		}
		if !strings.HasPrefix(s, b) || !utf8.ValidString(b) || len(b) > n {
			t.Errorf("%d bytes of %q: %q", n, s, b)
		}
		if _, next := utf8.DecodeRuneInString(s[len(b):]); len(b) < len(s) && len(b)+next <= n {
			t.Errorf("%d bytes of %q: %q has one character too few", n, s, b)
		}
	})
}
