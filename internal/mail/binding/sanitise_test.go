package binding

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	tokens "golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

func TestRichText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"what is allowed", `<h1 style="color:red">a</h1><p align="center">b<br>c <em>d</em></p><ul><li>e</li></ul>`,
			`<h1 style="color: red">a</h1><p align="center">b<br/>c <em>d</em></p><ul><li>e</li></ul>`},
		{"tables", `<table width="100%" border=0><tr><td colspan=2>a<td valign=top>b</table>`,
			`<table width="100%" border="0"><tr><td colspan="2">a</td><td valign="top">b</td></tr></table>`},
		{"open elements", "<p>a <b>b <i>c", "<p>a <b>b <i>c</i></b></p>"},
		{"stray ends", "</td></p>a</div></mj-text></b>", "a"},
		{"crossed elements", "<b>a<i>b</b>c</i>", "<b>a<i>b</i></b>c"},
		{"paragraphs", "<p>a<p>b<ul><li>c<li>d</ul>", "<p>a</p><p>b</p><ul><li>c</li><li>d</li></ul>"},
		{"cells without a table", "<tr><td>a</td></tr><li>b", "ab"},
		{"links in links", `<a href="https://a.example/">a<a href="https://b.example/">b</a>c</a>`, `<a href="https://a.example/">a</a><a href="https://b.example/">b</a>c`},
		{"scripts", `<script>alert(1)</script><style>p{}</style>a<img src=x onerror=alert(1)>`, "a"},
		{"addresses", `<a href="JavaScript:x">a</a><a href="data:x">b</a><a href="//x.example">c</a><a href="/x">d</a><a href="#x">e</a><a href="mailto:a@x.example">f</a>`,
			`abcd<a href="#x">e</a><a href="mailto:a@x.example">f</a>`},
		{"Liquid in addresses", `<a href="{{ url }}">a</a><a href="https://x.example/{{ id | default: "1" }}?a=1&b={% if c %}d{% endif %}">b</a><a href="{{ a }}:x">c</a>`,
			`<a href="{{ url }}">a</a><a href="https://x.example/{{ id | default: '1' }}?a=1&amp;b={% if c %}d{% endif %}">b</a>c`},
		{"Liquid in text", `<p>{{ a | default: "b" }}{% if c %}<b>{% else %}<i>{% endif %}</b></p>`, `<p>{{ a | default: "b" }}{% if c %}<b></b>{% else %}<i></i>{% endif %}</p>`},
		{"Liquid around rows", "<table>{% for a in b %}<tr><td>{{ a }}</td></tr>{% endfor %}</table>", "<table>{% for a in b %}<tr><td>{{ a }}</td></tr>{% endfor %}</table>"},
		{"Liquid in what goes", "{% if a %}<script>{% endif %}</script>b{{c}}", "b{{c}}"},
		{"Liquid between attributes", `<p {% if a %}align="left"{% endif %}>b`, `<p>b</p>`},
		{"Liquid that comes about", "{<script></script>{a}}&#123;{b}} {<b></b>% if %}", "{{{}}{a}}{{{}}{b}} {<b></b>% if %}"},
		{"raw", "{% raw %}{{ a }}<b>{% endraw %}", "{{{}}{ a }}<b></b>"},
		{"styles", `<p style="position:fixed;color:expression(x);background:url(x);width:10PX;font-family:'A B', serif;color:rgb(1,2,3)">a`,
			`<p style="width: 10PX; font-family: 'A B', serif; color: rgb(1,2,3)">a</p>`},
		{"styles with Liquid", `<p style="color:{{ a }};margin:0">b`, `<p style="margin: 0">b</p>`},
		{"entities", "&nbsp;&eacute;&lt;b&gt;&amp;amp;", "\u00a0é&lt;b&gt;&amp;amp;"},
		{"comments", "a<!-- b --><![CDATA[c]]><?d?>e", "ae"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sanitised(tt.in); got != tt.want {
				t.Errorf("sanitised(%q) =\n%q, want\n%q", tt.in, got, tt.want)
			}
			checkSanitised(t, tt.in)
		})
	}
}

// hostile are texts that try to become markup.
var hostile = []string{
	`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`,
	`<img src="x" onerror="alert(1)"`, `<svg/onload=alert(1)>`, `<svg><style><img src=x onerror=alert(1)></style></svg>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<a href="java&#10;script:alert(1)">x</a>`, `<a href=" javascript:alert(1)">x</a>`, "<a href='\x01javascript:alert(1)'>x</a>",
	`<a href="https://x.example/" onclick=alert(1) style="x:expression(alert(1))">x</a>`,
	`<p style="background:url('javascript:alert(1)')">`, `<p style="color:red;;;}</style><b>">`, `<p style="width:\65xpression(x)">`,
	`<iframe srcdoc="<script>alert(1)</script>">`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
	`<textarea><p title="</textarea><img src=x onerror=alert(1)>">`, `<title><p title="</title><b>">`, `</title><b>x`,
	`--><b>x`, `--!><b>x`, `]]><b>x`, `</style><b>x`, `<!--<b>x`, `<![CDATA[<b>x]]>`, `<b`, `<b "`, `<b '`, `</`, `<!`, `<?`,
	`&lt;b&gt;`, `&#60;b&#62;`, `&#x3c;b>`, `&`, `&amp`, "\u2028", "\ufffe", "\x00<b>", "\xff<b>", "a\r\nBcc: x@x.example",
	`{`, `}`, `{{`, `}}`, `{%`, `%}`, `{{{`, `}}}`, `{{x}`, `{x}}`, `% if a %}`, `{{ "<b>" }}`, `{{ '"><b>' }}`, `{{ "'><b>" }}`,
	`{{ x | raw }}`, `{% capture a %}"><b>{% endcapture %}{{ a }}`, `{% raw %}`, `{% endraw %}`, `{% comment %}`, `{% endcomment %}`,
	`{% comment %}<b>{% endcomment %}`, `{% raw %}<b>{% endraw %}`, `{% raw %}{{ "{% endraw %}`, `{% if a <b %}x{% endif %}`,
	`{{param:x}}`, `{{x}}`, `{{#section s}}`, `{{/section}}`, `{{slot:s}}`, `{{item:f}}`, `{{param:{% endraw %}}}`, `{{{param:x}}}`,
	`{{ first_name | default: "l'ami" }} & co`, `{% for i in (1..3) %}<b>{{ i }}{% endfor %}`, `{% assign param = 1 %}`, `{% break %}`,
	`<table><tr><td>`, `</td></tr></table>`, `<li>`, `<p>`, `</p>`, `<mj-raw>`, `</mj-text>`, `<mj-include path="/etc/passwd"/>`,
	strings.Repeat("<b>", 200), strings.Repeat("<table><tr><td>", 50), strings.Repeat("{{", 50), strings.Repeat("<p>{% if a %}", 10),
}

func anything() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.Custom(func(t *rapid.T) string {
		piece := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringMatching(`[{}%<>"'a=&; /\-]{1,6}`), rapid.SampledFrom([]string{
			"<p>", "</p>", "<b>", "</b>", "<table>", "<tr>", "<td>", "</table>", "<ul>", "<li>", "{% if a %}", "{% else %}", "{% endif %}",
			"{{ a }}", `<a href="`, `">`, "{% for a in b %}", "{% endfor %}", `<p style="color:`,
		}))
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	}))
}

// checkSanitised checks the properties of sanitised.
func checkSanitised(t failer, in string) {
	t.Helper()
	made := func(in string) string { return escaped(prepared(Value{RichText, in}, ""), where{form: htmlForm}) }
	value := made(in)
	if again := made(value); again != value {
		t.Errorf("rich text %q becomes %q, and that %q", in, value, again)
	}
	if wrong := checkLiquid(RichText, value); wrong != "" {
		t.Errorf("rich text %q becomes %q, which %s", in, value, wrong)
	}
	d := xml.NewDecoder(strings.NewReader("<x>" + markup.Mask(value) + "</x>"))
	d.Entity = map[string]string{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("rich text %q becomes %q, which is not XML: %v", in, value, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "x", "p", "br", "strong", "b", "em", "i", "u", "s", "a", "ul", "ol", "li", "h1", "h2", "h3", "h4", "blockquote", "span",
			"img", "table", "thead", "tbody", "tr", "td", "th", "hr", "div", "code", "pre", "sub", "sup", "small":
		default:
			t.Errorf("rich text %q becomes %q, with an element %s", in, value, e.Name.Local)
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && strings.Contains(strings.ToLower(a.Value), "javascript:") {
				t.Errorf("rich text %q becomes %q, with an attribute %s", in, value, a.Name.Local)
			}
		}
	}
}

func TestRichTextIsSafe(t *testing.T) {
	for _, in := range hostile {
		checkSanitised(t, in)
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := anything().Draw(rt, "rich text")
		checkSanitised(rt, in)
	})
}

// The content of rich text stays at its position in the template, whatever it is.
func TestRichTextStaysInside(t *testing.T) {
	d := mustParse(t, Bodies{HTML: `<table><tr><td id="in">{{param:x}}</td><td id="out">z</td></tr></table>`}, Schema{Parameters: []Parameter{{Name: "x"}}})
	rapid.Check(t, func(rt *rapid.T) {
		in := anything().Draw(rt, "rich text")
		out := d.Expand(Bound{Values: map[string]Value{"x": {RichText, in}}}).HTML
		root, err := tokens.Parse(strings.NewReader(markup.Mask(out)))
		if err != nil {
			return // deeper than a browser goes
		}
		var cells []string
		for n := range root.Descendants() {
			if len(n.Attr) > 0 && n.Data == "td" && n.Attr[0].Key == "id" {
				cells = append(cells, n.Attr[0].Val+" in "+n.Parent.Parent.Parent.Parent.Data)
			}
		}
		if got := strings.Join(cells, ", "); got != "in in body, out in body" {
			rt.Fatalf("%q: the cells are %s", out, got)
		}
	})
}

func TestStripped(t *testing.T) {
	for _, tt := range []struct{ in, lines, line string }{
		{"a <b>b</b>c &amp; d", "a bc & d", "a bc & d"},
		{" <h1>a</h1>\n<p>b<br>c<br/><br>d</p> <div>e</div>f", "a\n\nb\nc\n\nd\n\ne\nf", "a b c d e f"},
		{"<ul><li>a</li><li><b>b</b></ul>c", "- a\n- b\n\nc", "a b c"},
		{"<table><tr><td>a</td><td>b</td></tr><tr><th>c</table>", "a b\nc", "a b c"},
		{`<a href="https://x.example/?a&amp;b">a</a>, <a href="https://x.example/">https://x.example/</a>, <a href="{{ u }}">b</a>`,
			"a (https://x.example/?a&b), https://x.example/, b ({{ u }})", "a, https://x.example/, b"},
		{"a<script>b</script><style>c</style><!-- d --><title>e</title>", "a", "a"},
		{"a<img src=x alt='b &lt;c&gt;'>", "ab <c>", "ab <c>"},
		{"<pre>a\n  b</pre>", "a\n  b", "a b"},
		{"{% if a %}<p>b</p>{% else %}<p>c</p>{% endif %}", "{% if a %}\n\nb\n\n{% else %}\n\nc\n\n{% endif %}", "{% if a %} b {% else %} c {% endif %}"},
		{"{<b></b>{a}}", "{{{}}{a}}", "{{{}}{a}}"},
		{"<script>{% if a %}</script>b{% endif %}", "b", "b"},
		{"&#123;&#123;a}} {% raw %}{{b}}{% endraw %}<br>", "{{{}}{a}} {{{}}{b}}", "{{{}}{a}} {{{}}{b}}"},
	} {
		if got := stripped(tt.in, true); got != tt.lines {
			t.Errorf("stripped(%q, true) = %q, want %q", tt.in, got, tt.lines)
		}
		if got := stripped(tt.in, false); got != tt.line {
			t.Errorf("stripped(%q, false) = %q, want %q", tt.in, got, tt.line)
		}
	}
}

// TestRichTextIsBounded has no clock: with more than linear time it would take
// many minutes.
func TestRichTextIsBounded(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		strings.Repeat("<b>", 150_000), strings.Repeat("<table><tr><td>", 30_000), strings.Repeat("{{a}}", 100_000),
		strings.Repeat("</p>", 100_000), strings.Repeat("<", 50_000), strings.Repeat("{% if a %}", 50_000),
		`<p style="` + strings.Repeat("color:red;", 50_000) + `">`, `<p style="color:` + strings.Repeat("rgb(", 100_000) + `">`,
		`<a href="` + strings.Repeat("{{a}}", 50_000) + `">`, strings.Repeat("<p a='", 80_000), strings.Repeat("&#123;", 80_000),
		strings.Repeat("{% comment %}", 30_000), strings.Repeat("{% raw %}", 50_000), strings.Repeat("{% if a %}{% endif %}", 20_000),
	} {
		if out := sanitised(in); len(out) > 8*len(in) {
			t.Errorf("%.40q…: %d bytes become %d", in, len(in), len(out))
		}
		if out := stripped(in, true); len(out) > 8*len(in) {
			t.Errorf("%.40q…: %d bytes become %d of text", in, len(in), len(out))
		}
	}
}

func FuzzRichText(f *testing.F) {
	for _, in := range hostile {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) { checkSanitised(t, in) })
}
