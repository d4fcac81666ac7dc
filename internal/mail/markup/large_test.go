package markup_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// Spans reads a text once, or these would not end.
func TestSpansOfLargeTexts(t *testing.T) {
	t.Parallel()
	const size = 5 << 20
	for piece, each := range map[string]int{
		"{% comment %}{% raw %}{% endcomment %}": 1, "{% comment %}": 0, "{% raw %}{{": 0, "{{{ a }}}": 0, "{{ a }}": 1, "{": 0, "{%{{": 0, "{% raw %}{% endraw %}": 2,
	} {
		n := size / len(piece)
		if got := len(markup.Spans(strings.Repeat(piece, n))); each > 0 && got != each*n {
			t.Errorf("%d of %q have %d spans, want %d", n, piece, got, each*n)
		}
	}
}
