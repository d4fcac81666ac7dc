package binding

import (
	"encoding/json"
	"strings"
	"testing"
)

// Each type at each place.
func TestEscaping(t *testing.T) {
	const liquid = `{{ first_name | default: "you" }}`
	for _, tt := range []struct {
		name                            string
		v                               Value
		html, attribute, subject, plain string
	}{
		{"text", Value{Text, `a<b & "c" 'd'`}, `a&lt;b &amp; &quot;c&quot; &#39;d&#39;`, `a&lt;b &amp; &quot;c&quot; &#39;d&#39;`, `a<b & "c" 'd'`, `a<b & "c" 'd'`},
		{"text with Liquid", Value{Text, `<` + liquid + `&{% if a < b %}"{% endif %}`},
			`&lt;` + liquid + `&amp;{% if a < b %}&quot;{% endif %}`, `&lt;{{ first_name | default: 'you' }}&amp;{% if a < b %}&quot;{% endif %}`,
			`<` + liquid + `&{% if a < b %}"{% endif %}`, `<` + liquid + `&{% if a < b %}"{% endif %}`},
		{"text with line ends", Value{Text, "a\r\nb\u2028c"}, "a\r\nb\u2028c", "a&#10;b\u2028c", "a b c", "a b c"},
		{"textarea", Value{Textarea, "a\nb\r\nc<"}, "a<br>b<br>c&lt;", "a&#10;b&#10;c&lt;", "a b c<", "a\nb\r\nc<"},
		{"rich text", Value{RichText, `<p onclick="x()">a <b>b</b> &amp; <a href="https://x.example/{{id}}">c</a><script>x</script>`},
			`<p>a <b>b</b> &amp; <a href="https://x.example/{{id}}">c</a></p>`, `a b &amp; c`,
			`a b & c`, `a b & c (https://x.example/{{id}})`},
		{"html", Value{RawHTML, `<center onclick="x()">a {{ b | raw }}</center><br>c`}, `<center onclick="x()">a {{ b | raw }}</center><br>c`,
			`<center onclick="x()">a {{ b | raw }}</center><br>c`, "a {{ b | strip_html }} c", "a {{ b | strip_html }}\n\nc"},
		{"url", Value{URL, `https://x.example/?a="1"&b={{ id }}`}, `https://x.example/?a=&quot;1&quot;&amp;b={{ id }}`, `https://x.example/?a=&quot;1&quot;&amp;b={{ id }}`,
			`https://x.example/?a="1"&b={{ id }}`, `https://x.example/?a="1"&b={{ id }}`},
		{"image", Value{Image, "https://x.example/a.png?b&c"}, "https://x.example/a.png?b&amp;c", "https://x.example/a.png?b&amp;c", "https://x.example/a.png?b&c", "https://x.example/a.png?b&c"},
		{"email", Value{Email, "o'neil@x.example"}, "o&#39;neil@x.example", "o&#39;neil@x.example", "o'neil@x.example", "o'neil@x.example"},
		{"email with Liquid", Value{Email, "{{x}}@x.example"}, "{{{}}{x}}@x.example", "{{{}}{x}}@x.example", "{{{}}{x}}@x.example", "{{{}}{x}}@x.example"},
		{"color", Value{Color, "#a0B1c2"}, "#a0B1c2", "#a0B1c2", "#a0B1c2", "#a0B1c2"},
		{"number", Value{Number, json.Number("-12.50")}, "-12.50", "-12.50", "-12.50", "-12.50"},
		{"number with exponent", Value{Number, json.Number("1.5e3")}, "1500", "1500", "1500", "1500"},
		{"boolean", Value{Boolean, true}, "true", "true", "true", "true"},
		{"date", Value{Date, "2026-11-21"}, "2026-11-21", "2026-11-21", "2026-11-21", "2026-11-21"},
		{"datetime", Value{DateTime, "2026-11-21T10:00:00+01:00"}, "2026-11-21T10:00:00+01:00", "2026-11-21T10:00:00+01:00", "2026-11-21T10:00:00+01:00", "2026-11-21T10:00:00+01:00"},
		{"select", Value{Select, "a&b"}, "a&amp;b", "a&amp;b", "a&b", "a&b"},
		{"list", Value{List, []string{"a", "<b>", "c & {{d}}"}}, "a, &lt;b&gt;, c &amp; {{d}}", "a, &lt;b&gt;, c &amp; {{d}}", "a, <b>, c & {{d}}", "a, <b>, c & {{d}}"},
		{"nothing", Value{Text, nil}, "", "", "", ""},
		{"a placeholder", Value{Text, "{{param:x}}"}, "{% raw %}{{param:x}}{% endraw %}", "{% raw %}{{param:x}}{% endraw %}", "{% raw %}{{param:x}}{% endraw %}", "{% raw %}{{param:x}}{% endraw %}"},
		{"a Liquid comment", Value{Text, "a{% comment %}<b>{% endcomment %}c"}, "ac", "ac", "ac", "ac"},
		{"half of Liquid", Value{Text, "{% if a %}<"}, "{{{}}% if a %}&lt;", "{{{}}% if a %}&lt;", "{{{}}% if a %}<", "{{{}}% if a %}<"},
		{"the filter raw", Value{Text, `{{ "<b>" | raw }}`}, `{{{}}{ &quot;&lt;b&gt;&quot; | raw }}`, `{{{}}{ &quot;&lt;b&gt;&quot; | raw }}`, `{{{}}{ "<b>" | raw }}`, `{{{}}{ "<b>" | raw }}`},
		{"control characters", Value{Textarea, "a\x00b\x1bc"}, "a\ufffdb\ufffdc", "a\ufffdb\ufffdc", "a\ufffdb\ufffdc", "a\ufffdb\ufffdc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, Bodies{
				Subject: "[{{x}}]", Text: "[{{param:x}}]",
				HTML: `[{{param:x}}]<i title="[{{x}}]">`, MJML: `<mj-text title='[{{param:x}}]'>[{{x}}]</mj-text>`,
			}, Schema{Parameters: []Parameter{{Name: "x", Type: tt.v.Type}}})
			got := d.Expand(Bound{Values: map[string]Value{"x": tt.v}})
			if want := "[" + tt.subject + "]"; got.Subject != want {
				t.Errorf("subject = %q, want %q", got.Subject, want)
			}
			if want := "[" + tt.plain + "]"; got.Text != want {
				t.Errorf("text = %q, want %q", got.Text, want)
			}
			if want := "[" + tt.html + `]<i title="[` + tt.attribute + `]">`; got.HTML != want {
				t.Errorf("html = %q, want %q", got.HTML, want)
			}
			mjml := `<mj-text title='[` + strings.ReplaceAll(tt.attribute, "'you'", `"you"`) + `]'>[` + strings.ReplaceAll(tt.html, "<br>", "<br />") + `]</mj-text>`
			if tt.v.Type != RawHTML && got.MJML != mjml {
				t.Errorf("mjml = %q, want %q", got.MJML, mjml)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	const x = "a b='\"<\n-->]]>"
	for _, tt := range []struct{ body, want string }{
		{"{{x}}", "a b=&#39;&quot;&lt;<br>--&gt;]]&gt;"},
		{"a < b {{x}}", "a < b a b=&#39;&quot;&lt;<br>--&gt;]]&gt;"},
		{"<p title='{{x}}'>", "<p title='a b=&#39;&quot;&lt;&#10;--&gt;]]&gt;'>"},
		{`<p title="{% if a > b %}{{x}}">`, `<p title="{% if a > b %}a b=&#39;&quot;&lt;&#10;--&gt;]]&gt;">`},
		{"<p title={{x}}>", "<p title=a&#32;b&#61;&#39;&quot;&lt;&#10;--&gt;]]&gt;>"},
		{"<p title={{x}}b a=b>", "<p title=a&#32;b&#61;&#39;&quot;&lt;&#10;--&gt;]]&gt;b a=b>"},
		{"<p title={{none}} a=b>", `<p title="" a=b>`},
		{"<p {{x}}>", "<p a&#32;b&#61;&#39;&quot;&lt;&#10;--&gt;]]&gt;>"},
		{"<{{x}}>", "<a&#32;b&#61;&#39;&quot;&lt;&#10;--&gt;]]&gt;>"},
		{"<!-- > {{x}} --><p>", "<!-- > a b=&#39;&quot;&lt;\n&#45;&#45;&gt;]]&gt; --><p>"},
		{"<!----><!--[if mso]><i>{{x}}<![endif]-->", "<!----><!--[if mso]><i>a b=&#39;&quot;&lt;\n&#45;&#45;&gt;]]&gt;<![endif]-->"},
		{"<TITLE a>{{x}}</title>", "<TITLE a>a b=&#39;&quot;&lt;\n--&gt;]]&gt;</title>"},
		{"<style></b>{{x}}", "<style></b>a b='\"\\3c \n-->]]>"},
		{"<style></style>{{x}}", "<style></style>a b=&#39;&quot;&lt;<br>--&gt;]]&gt;"},
		{"<p a='b' c=\"d\" e=f g></p ><br/>{{x}}", "<p a='b' c=\"d\" e=f g></p ><br/>a b=&#39;&quot;&lt;<br>--&gt;]]&gt;"},
		{"<!doctype html><?xml?></ x>{{x}}", "<!doctype html><?xml?></ x>a b=&#39;&quot;&lt;<br>--&gt;]]&gt;"},
		{"<p title={{ y }}{{x}}>", "<p title={{ y }}a&#32;b&#61;&#39;&quot;&lt;&#10;--&gt;]]&gt;>"},
	} {
		d := mustParse(t, Bodies{HTML: tt.body + "{% comment %}{% if a %}{% endcomment %}"}, Schema{Parameters: []Parameter{{Name: "x"}, {Name: "none"}}})
		got := d.Expand(Bound{Values: map[string]Value{"x": {Textarea, x}}}).HTML
		if got = strings.TrimSuffix(got, "{% comment %}{% if a %}{% endcomment %}"); got != tt.want {
			t.Errorf("Expand(%q) = %q, want %q", tt.body, got, tt.want)
		}
	}
	for _, tt := range []struct{ body, want string }{
		{"<mj-text><![CDATA[ > {{x}}]]>{{x}}</mj-text>", "<mj-text><![CDATA[ > a b=&#39;&quot;&lt;\n--&gt;]]&gt;]]>a b=&#39;&quot;&lt;<br />--&gt;]]&gt;</mj-text>"},
		{"<mj-style /><mj-text>{{x}}</mj-text>", "<mj-style /><mj-text>a b=&#39;&quot;&lt;<br />--&gt;]]&gt;</mj-text>"},
		{"<mj-preview>{{x}}</mj-preview>", "<mj-preview>a b=&#39;&quot;&lt;\n--&gt;]]&gt;</mj-preview>"},
	} {
		d := mustParse(t, Bodies{MJML: tt.body}, Schema{Parameters: []Parameter{{Name: "x"}}})
		if got := d.Expand(Bound{Values: map[string]Value{"x": {Textarea, x}}}).MJML; got != tt.want {
			t.Errorf("Expand(%q) = %q, want %q", tt.body, got, tt.want)
		}
	}
}

func TestLiquidInValues(t *testing.T) {
	for _, tt := range []struct {
		t    Type
		text string
		ok   bool
	}{
		{Text, "Hi {{ first_name | default: \"there\" }}", true},
		{Text, "50% } { {a}", true},
		{Text, "{% if a %}b{% else %}c{% endif %}", true},
		{Text, "{% for a in b %}{% if c %}{% break %}{% endif %}{% endfor %}", true},
		{Text, "{% raw %}{{ x }}{% endraw %}", true},
		{Text, "{{{x}}}", true},
		{Text, "{{param:x}}{{#section y}}{{/section}}", true},
		{Text, "{{", false},
		{Text, "{% if a %}", false},
		{Text, "{% endif %}", false},
		{Text, "{% else %}", false},
		{Text, "{% break %}", false},
		{Text, "{{ a | raw }}", false},
		{Text, "{{ a |\u00a0raw }}", false},
		{Text, "{{ a.raw | append: 'raw' }}", true},
		{Text, "{% assign a = b | raw %}", false},
		{RichText, "{% capture a %}b{% endcapture %}", false},
		{RawHTML, "{% capture a %}b{% endcapture %}{{ a | raw }}", true},
		{RawHTML, "{% endfor %}", false},
		{RawHTML, "{% assign param = 1 %}", false}, {RawHTML, "{% capture 'param' %}{% endcapture %}", false}, {Text, "{% assign params = param.x %}", true},
		{Text, "{{ a | nonsense }}", false},
		{Text, strings.Repeat("{% if a %}", 21) + strings.Repeat("{% endif %}", 21), false},
		{Number, "{{ a }}", false}, {Email, "{{ a }}@x", false}, {Select, "{{ a }}", false}, {Date, "{{ a }}", false}, {Color, "{{ a }}", false},
	} {
		if wrong := checkLiquid(tt.t, tt.text); (wrong == "") != tt.ok {
			t.Errorf("checkLiquid(%s, %q) = %q, want it fine: %t", tt.t, tt.text, wrong, tt.ok)
		}
	}
}
