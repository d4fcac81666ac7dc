package public

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestElementsAreInsertedAfterTheDoctype(t *testing.T) {
	t.Parallel()
	const base = `<base>`
	for in, want := range map[string]string{
		"":                               base,
		"<p>x":                           base + "<p>x",
		"plain":                          base + "plain",
		"<!DOCTYPE html><p>x":            "<!DOCTYPE html>" + base + "<p>x",
		" \n<!-- hi --><!doctype html>x": " \n<!-- hi --><!doctype html>" + base + "x",
		"<!-- only -->":                  base + "<!-- only -->",
		"<!--[if mso]>x<![endif]--><p>":  base + "<!--[if mso]>x<![endif]--><p>",
		"<!doctype":                      "<!doctype" + base,
	} {
		if got := afterDoctype(in, base); got != want {
			t.Errorf("afterDoctype(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLinkedFindsWebAddresses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]span{
		"":                          {{}},
		"no address":                {{Text: "no address"}},
		"see https://a.example/b.":  {{Text: "see "}, {"https://a.example/b", "https://a.example/b"}, {Text: "."}},
		"(http://a.example/?q=1&r)": {{Text: "("}, {"http://a.example/?q=1&r", "http://a.example/?q=1&r"}, {Text: ")"}},
		"javascript:alert(1)":       {{Text: "javascript:alert(1)"}},
		`http://a.example/"><b>`:    {{}, {"http://a.example/", "http://a.example/"}, {Text: `"><b>`}},
	} {
		if diff := cmp.Diff(want, linked(in)); diff != "" {
			t.Errorf("linked(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func FuzzAfterDoctypeKeepsTheDocument(f *testing.F) {
	for _, s := range []string{"", "<!doctype html>", "<!---->", "<!", "</", "<![CDATA[x]]>", "a<b", "\x00<!doctype>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "<base") {
			t.Skip("the text contains our element")
		}
		before, after, ok := strings.Cut(afterDoctype(s, "<base>"), "<base>")
		if !ok || before+after != s {
			t.Errorf("afterDoctype(%q) = %q", s, before+"<base>"+after)
		}
	})
}
