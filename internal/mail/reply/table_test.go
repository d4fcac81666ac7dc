package reply

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The words of each rule match the same texts as one regular expression of all its alternatives.
func FuzzWordsOfRules(f *testing.F) {
	alternatives := make([]*regexp.Regexp, len(rules))
	for i, r := range rules {
		if r.words != nil {
			alternatives[i] = regexp.MustCompile(strings.Join(r.words, "|"))
		}
	}
	file, err := os.ReadFile("testdata/replies.txt")
	if err != nil {
		f.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(file)) {
		if n++; !testing.Short() || n%10 == 0 { // all of them take 30 s under the race detector
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		x := textOf(s)
		without := aLink.ReplaceAllString(x.raw, " ")
		for i, r := range rules {
			text := without
			if r.raw {
				text = x.raw
			}
			if r.words == nil {
				continue
			}
			if got, want := x.has(i, r.raw), alternatives[i].MatchString(text); got != want {
				t.Errorf("%s in %q: %v, want %v", r.id, text, got, want)
			}
		}
	})
}
