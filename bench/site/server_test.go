package site

import (
	"testing"
	"time"
)

// TestParseStatReadsEveryName reads what Linux says about processes of any name.
func TestParseStatReadsEveryName(t *testing.T) {
	t.Parallel()
	const rest = " S 17 42 42 0 -1 4194560 8765 1234 0 0 150 50 300 20 20 0 1 0 3000 219000000 7000"
	for _, name := range []string{"postgres", "a name", "a) b", "(x)"} {
		p, ok := parseStat("42 (" + name + ")" + rest)
		if !ok || p.name != name || p.parent != 17 || p.used != 2*time.Second || p.ended != 3200*time.Millisecond {
			t.Errorf("%q: %+v, %v", name, p, ok)
		}
	}
	for _, text := range []string{"", "42", "42 (postgres", "42 (postgres) S 17"} {
		if p, ok := parseStat(text); ok {
			t.Errorf("%q: %+v", text, p)
		}
	}
}
