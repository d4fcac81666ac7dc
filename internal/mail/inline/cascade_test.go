package inline

import (
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"pgregory.net/rapid"
)

// A selector matches the elements that cascadia finds for the whole of it, and
// weighs as much.
func TestSelectorsMatchAsCascadiaDoes(t *testing.T) {
	t.Parallel()
	element := rapid.SampledFrom([]string{"<p>", "<p class=a>", "<p class='b a'>", "<div>", "<div id=i>", "<b>", "<b lang=en class=b>", "</p>", "</div>", "</b>", "<br>", "x"})
	compound := rapid.SampledFrom([]string{"p", "div", "b", "body", ".a", "p.a", "#i", "[lang]", "b[class~=b]", "p:first-child", "b:nth-child(2n+1)", ":not(.a)", "p:not(#i):last-of-type", "br:only-child"})
	combinator := rapid.SampledFrom([]string{" ", " > ", "+", " ~ "})
	rapid.Check(t, func(t *rapid.T) {
		p := readPage(strings.Join(rapid.SliceOfN(element, 1, 30).Draw(t, "elements"), ""))
		tr, err := p.parse()
		if err != nil {
			t.Fatal(err)
		}
		words := []string{compound.Draw(t, "compound")}
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			words = append(words, combinator.Draw(t, "combinator"), compound.Draw(t, "compound"))
		}
		text := strings.Join(words, "")
		whole, err := cascadia.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := selector{rule: &rule{}}
		s.read(text)
		if s.parts == nil || s.specificity != whole.Specificity() {
			t.Fatalf("%q is read as %d parts with the specificity %v, want %v", text, len(s.parts), s.specificity, whole.Specificity())
		}
		var want []int32
		for i := range tr.elements {
			if whole.Match(tr.elements[i].node) {
				want = append(want, int32(i))
			}
		}
		if got := tr.matches(&s); !slices.Equal(got, want) {
			t.Fatalf("%q matches the elements %v of %q, want %v", text, got, p.Source, want)
		}
	})
}
