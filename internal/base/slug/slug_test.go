package slug_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/slug"
)

func TestDerive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in        string
		separator byte
		want      string
	}{
		{"Spring news", '-', "spring-news"},
		{"Spring news", '_', "spring_news"},
		{"  Crème brûlée & Søren's Straße! ", '-', "creme-brulee-soren-s-strasse"},
		{"ＦＵＬＬ ｗｉｄｔｈ", '-', "full-width"},
		{"日本語", '-', "item"},
		{"", '_', "item"},
		{"--a__b--", '_', "a_b"},
		{strings.Repeat("ab ", 40), '-', strings.Repeat("ab-", 21) + "a"},
	} {
		if got := slug.Derive(tt.in, tt.separator); got != tt.want {
			t.Errorf("Derive(%q, %q) = %q, want %q", tt.in, tt.separator, got, tt.want)
		}
	}
}

func TestWhatIsDerivedIsValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name, separator := rapid.String().Draw(t, "name"), rapid.SampledFrom([]byte("-_")).Draw(t, "separator")
		s := slug.Derive(name, separator)
		if !slug.Valid(s) {
			t.Fatalf("Derive(%q) = %q, which is not valid", name, s)
		}
		if again := slug.Derive(s, separator); again != s {
			t.Fatalf("Derive(%q) = %q, want no change", s, again)
		}
	})
}

func TestValid(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"a": true, "0-_": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, "_a": false, "A": false, "a b": false, "ä": false, "a\x00": false, strings.Repeat("a", 65): false,
	} {
		if got := slug.Valid(s); got != want {
			t.Errorf("Valid(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestFreeCountsUp(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	used := map[string]bool{"news": true, "news_2": true, long: true}
	taken := func(s string) (bool, error) { return used[s], nil }
	for in, want := range map[string]string{"other": "other", "news": "news_3", long: long[:62] + "_2"} {
		if got, err := slug.Free(in, '_', taken); err != nil || got != want {
			t.Errorf("Free(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}
