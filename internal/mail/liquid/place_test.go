package liquid_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// printed renders HTML with values.
func printed(t testing.TB, source string, vars map[string]any) string {
	t.Helper()
	tmpl, err := liquid.Parse(source, liquid.Options{Mode: liquid.HTML})
	if err != nil {
		t.Fatal(err)
	}
	out, err := tmpl.Append(t.Context(), nil, liquid.Values{Vars: vars, At: time.Unix(0, 0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOutputsInScriptsAndStyles(t *testing.T) {
	t.Parallel()
	vars := map[string]any{"name": `O'Brien & "Sons" </script>`, "note": "a\nb\\c", "n": 12, "yes": true, "css": "</style>}", "colour": "#fff", "tags": []any{"a", "b"}}
	for source, want := range map[string]string{
		`<p title="{{ name }}">{{ name }}</p>`:                                            `<p title="O&#39;Brien &amp; &quot;Sons&quot; &lt;/script&gt;">O&#39;Brien &amp; &quot;Sons&quot; &lt;/script&gt;</p>`,
		`<script type="application/ld+json">{"d":"{{ name }}","e":"{{ note }}"}</script>`: `<script type="application/ld+json">{"d":"O'Brien & \"Sons\" \u003c/script>","e":"a\nb\\c"}</script>`,
		`<script type=application/json>{"d":"x {{ name }} y {{ name }}","n":{{ n }},"y":{{ yes }},"z":{{ nope }},"t":{{ note }},"u":"{{ nope }}{{ n }}"}</script>{{ name }}`: `<script type=application/json>{"d":"x O'Brien & \"Sons\" \u003c/script> y O'Brien & \"Sons\" \u003c/script>","n":12,"y":true,"z":null,"t":"a\nb\\c","u":"12"}</script>O&#39;Brien &amp; &quot;Sons&quot; &lt;/script&gt;`,
		`<SCRIPT>var a = '{{ name }}', b = {{ n }} /* it's */, c = "{{ colour }}"</SCRIPT>`:                                                                                  `<SCRIPT>var a = 'O\u0027Brien & "Sons" \u003c/script>', b = 12 /* it's */, c = "#fff"</SCRIPT>`,
		`<script type="text/x-template"><p>{{ name }}</p></script>`:                                                                                                          `<script type="text/x-template"><p>O&#39;Brien &amp; &quot;Sons&quot; &lt;/script&gt;</p></script>`,
		`<script type="application/ld+json">{{ note | raw }}</script>`:                                                                                                       "<script type=\"application/ld+json\">a\nb\\c</script>",
		`<script type="application/ld+json">{"a\"":"{% if yes %}{{ name }}{% endif %}"}</script>`:                                                                            `<script type="application/ld+json">{"a\"":"O'Brien & \"Sons\" \u003c/script>"}</script>`,
		`<style>p{color:{{ colour }}}p::before{content:"{{ name }}"}/* it's */i{content:'{{ note }}'}</style>{{ colour }}`:                                                   `<style>p{color:#fff}p::before{content:"O'Brien & \22 Sons\22  \3c /script>"}/* it's */i{content:'a\a b\5c c'}</style>#fff`,
		`<style>p{color:{{ css }}}</style>`:                               `<style>p{color:\3c /style>\7d }</style>`,
		`<title>{{ name }}</title>`:                                       `<title>O&#39;Brien &amp; &quot;Sons&quot; &lt;/script&gt;</title>`,
		`<!-- <script>{{ name }}</script> -->`:                            `<!-- <script>O&#39;Brien &amp; &quot;Sons&quot; &lt;/script&gt;</script> -->`,
		`<p>{% for t in tags %}<script>x("{{ t }}")</script>{% endfor %}`: `<p><script>x("a")</script><script>x("b")</script>`,
	} {
		if got := printed(t, source, vars); got != want {
			t.Errorf("%s:\n got %s\nwant %s", source, got, want)
		}
	}
}

// JSON with values in it stays JSON, and the values arrive as they are.
func TestJSONInAScriptArrives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"</script>", "<!--", "\\", "\"", "\n\r\t", "\u2028", "'", "${x}"})).Draw(t, "value")
		value = strings.ToValidUTF8(value, "")
		tmpl, err := liquid.Parse(`<script type="application/ld+json">{"a":"{{ v }}","b":["x{{ v }}y"],"c":{{ v }}}</script>`, liquid.Options{Mode: liquid.HTML})
		if err != nil {
			t.Fatal(err)
		}
		out, err := tmpl.Append(t.Context(), nil, liquid.Values{Vars: map[string]any{"v": value}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(strings.TrimPrefix(string(out), `<script type="application/ld+json">`), "</script>")
		var got struct {
			A string
			B []string
			C string
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.A != value || got.C != value || got.B[0] != "x"+value+"y" || strings.Contains(text, "<") {
			t.Fatalf("%q: %s, %v", value, text, err)
		}
	})
}
