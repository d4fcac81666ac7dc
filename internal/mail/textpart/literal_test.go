package textpart_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/textpart"
)

// What is text in HTML is text in the text part, although it may look like
// Liquid once its entities and elements are gone.
func TestTextDoesNotBecomeLiquid(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"<p>&#123;{ x }}</p>":                                       "{{ x }}\n",
		"<p>{<b></b>% if x %}</p>":                                  "{% if x %}\n",
		"<p>{<b>{</b> y }}</p>":                                     "{{ y }}\n",
		"<p>&#123;&#37; bogus &#37;&#125;</p>":                      "{% bogus %}\n",
		"<p>{\u200b{ x }} {&shy;% if %}</p>":                        "{{ x }} {% if %}\n",
		"<p>{ a } {b} {{ x }}{<i>{{ x }}</i></p>":                   "{ a } {b} X{X\n",
		`<img alt="&#123;{ y }} {{ x }} &#123;% if %}">`:            "{{ y }} X {% if %}\n",
		`<a href="https://example.org/&#123;% if %}{{ x }}">go</a>`: "go (https://example.org/{% if %}X)\n",
	} {
		if got := rendered(t, textpart.FromHTML(src)); got != want {
			t.Errorf("%q becomes %q, want %q", src, got, want)
		}
	}
}

func TestTextNeverBreaksLiquid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var src strings.Builder
		for range rapid.IntRange(1, 12).Draw(rt, "pieces") {
			src.WriteString(rapid.SampledFrom([]string{
				"{", "}", "%", "&#123;", "&lbrace;", "&#37;", "<b>", "</b>", "<br>", "<p>", "\u200b", "&zwnj;", "&shy;", " ", "\n", "if x", "a", "{{ x }}", "<td>", "<!-- c -->", `<img alt="{">`, `<img alt="&#123;% if %}">`, `<a href="https://a.b/&#123;%&#125;">`, "é",
			}).Draw(rt, "piece"))
		}
		if _, err := liquid.Parse(src.String(), liquid.Options{}); err != nil {
			rt.Skip("the HTML is no Liquid itself")
		}
		text := textpart.FromHTML(src.String())
		if _, err := liquid.Parse(text, liquid.Options{}); err != nil {
			rt.Fatalf("%q becomes %q: %v", src.String(), text, err)
		}
	})
}

func rendered(t *testing.T, source string) string {
	t.Helper()
	tmpl, err := liquid.Parse(source, liquid.Options{})
	if err != nil {
		t.Errorf("%q: %v", source, err)
		return ""
	}
	out, err := tmpl.Append(t.Context(), nil, liquid.Values{Vars: map[string]any{"x": "X"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
