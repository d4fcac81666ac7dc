package textpart_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/textpart"
)

func TestFromHTML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"tags only", "<div><p></p></div>", ""},
		{"paragraphs", "<p>One\n two</p>\n<p>Three</p>", "One two\n\nThree\n"},
		{"inline", "<p>a<b>b</b> <i>c</i>d</p>", "ab cd\n"},
		{"entities", "<p>a&nbsp;&amp;&nbsp;b &lt;c&gt; &euro;5&shy;&zwnj;</p>", "a & b <c> €5\u200c\n"},
		{"heading", "<h1>Title</h1>Text<h2>Sub</h2>more", "Title\n=====\n\nText\n\nSub\n---\n\nmore\n"},
		{"br", "a<br>b<br><br>c<br><br><br>d", "a\nb\n\nc\n\nd\n"},
		{"rule", "a<hr>b", "a\n\n---\n\nb\n"},
		{"link", `See <a href="https://x.org/?a=1&amp;b=2">our site</a>.`, "See our site (https://x.org/?a=1&b=2).\n"},
		{"link that says where", `<a href="https://www.x.org/">x.org</a> <a href="mailto:a@x.org?subject=b">a@x.org</a>`, "x.org a@x.org\n"},
		{"mail link", `<a href="mailto:a@x.org?subject=b">Write</a>`, "Write (a@x.org)\n"},
		{"link to nowhere", `<a href="#top">Top</a> <a name="a">b</a> <a href="javascript:x()">c</a>`, "Top b c\n"},
		{"image link", `<a href="https://x.org"><img src="a.png" alt="Our &quot;logo&quot;"></a>`, "Our \"logo\" (https://x.org)\n"},
		{"image link without text", `a <a href="https://x.org"><img src="a.png"></a> b`, "a https://x.org b\n"},
		{"open links", `<a href="https://x.org">a<a href="https://y.org">b`, "a (https://x.org)b (https://y.org)\n"},
		{"list", "Buy:<ul><li>milk<li>bread</li></ul>Now", "Buy:\n\n- milk\n- bread\n\nNow\n"},
		{"nested lists", "<ol><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ol>", "1. a\n   - b\n   - c\n2. d\n"},
		{"list wraps under its text", "<ul><li>" + strings.Repeat("word ", 20) + "</li></ul>", "- " + strings.Repeat("word ", 14) + "word\n  " + strings.Repeat("word ", 4) + "word\n"},
		{"quote", "a<blockquote>b<br>c</blockquote>d", "a\n\n> b\n> c\n\nd\n"},
		{"data table", "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>5</td></tr></table>", "Item | Price\nTea | 5\n"},
		{"layout table", "<table><tr><td><div>a</div></td></tr><tr><td><div>b</div></td></tr></table>", "a\n\nb\n"},
		{"an empty cell", "<table><tr><th>a<th>b<th>c<tr><td>1<td> <td>3<tr><td><td>2<td>", "a | b | c\n1 | - | 3\n2\n"},
		{"layout by role", `<table role="presentation"><tr><td>a<td>b<tr><td>c</table>`, "a\nb\nc\n"},
		{"paragraphs of a quote", "<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>", "> a\n>\n> b\n>\n> > c\n"},
		{"numbers of a list", `<ol start="3"><li>a<li value=7>b<li>c</ol>`, "3. a\n7. b\n8. c\n"},
		{"terms", "<dl><dt>a<dd>b</dd><dt>c</dl>", "a\n  b\nc\n"},
		{"a symbol beside its link", `<a href="https://x.org"><img src=a></a> <a href="https://x.org">X</a>`, "X (https://x.org)\n"},
		{"a symbol alone", `<a href="https://x.org"><img src=a></a>b`, "https://x.org b\n"},
		{"hidden in other ways", `<p style="overflow:hidden;max-height:0px!important">a</p><p style="Opacity:0">b</p><p aria-hidden=true>c</p><p style="mso-hide:all">d`, "d\n"},
		{"not hidden", `<p style="font-size:0;line-height:0;background:url(display:none)">a<p style="overflow:hidden">b`, "a\n\nb\n"},
		{"only pictures", `<title>T &amp; U</title><img src="https://x.org/a.png">`, "T & U\n"},
		{"only pictures and no title", `<img src="https://x.org/a.png"><img src="https://x.org/b.png" alt=" "><img src="cid:1"><img hidden src="https://x.org/c.gif">`, "https://x.org/a.png\nhttps://x.org/b.png\n"},
		{"invisible characters", "<p>&zwnj;&nbsp;&#847;&lrm;</p>a&#8203;b&wbr;<wbr>c&nbsp;<p>&zwj;</p>", "ab&wbr;c\n"},
		{"no line within a character", strings.Repeat("\U0001f469\U0001f3fe\u200d\U0001f680", 39), strings.Repeat("\U0001f469\U0001f3fe\u200d\U0001f680", 38) + "\n\U0001f469\U0001f3fe\u200d\U0001f680\n"},
		{"accents take no room", strings.Repeat("e\u0301", 76) + " b", strings.Repeat("e\u0301", 76) + "\nb\n"},
		{"no line starts with a stop", strings.Repeat("春", 38) + "。", strings.Repeat("春", 37) + "\n春。\n"},
		{"addresses stand alone", "<p>Leave at {{ unsubscribe_url }} now", "Leave at\n{{ unsubscribe_url }}\nnow\n"},
		{"a separator at the end of a line", `<a href="{{ a_url }}">A</a> &middot; <a href="{{ b_url }}">B</a> | <a href="https://x.org">C</a> | D`, "A\n({{ a_url }})\nB\n({{ b_url }})\nC (https://x.org) | D\n"},
		{"pre", "<pre>a  b\n  c</pre>", "a  b\n  c\n"},
		{"wrap", strings.Repeat("12345 ", 14), strings.Repeat("12345 ", 11) + "12345\n12345 12345\n"},
		{"long word", "a " + strings.Repeat("x", 90) + " b", "a\n" + strings.Repeat("x", 90) + "\nb\n"},
		{"dropped", "<!doctype html><head><title>T</title><style>a{b:c}</style></head><body><script>x</script><!-- c --><noscript><p>n</p></noscript>a", "a\n"},
		{"unclosed style", "a<style>b", "a\n"},
		{"unclosed head", "<head><title>T</title><p>a", "a\n"},
		{"hidden", links.Preheader("psst") + `<div hidden>x</div><p style="DISPLAY: none">y</p><div style="display:none"><div>z</div>z</div>a`, "a\n"},
		{"hidden but never closed", `<div style="display:none">a`, "a\n"},
		{"Outlook only", "<!--[if mso]><p>x</p><![endif]-->a", "a\n"},
		{"Liquid output", `<p>Hi {{ first_name | default: "<friend>  &amp;" }}!</p>`, "Hi {{ first_name | default: \"<friend>  &amp;\" }}!\n"},
		{"Liquid link", `<a href="{{ unsubscribe_url }}">Leave</a> <a href='https://x.org/?i={{ id | append: "&amp;" }}&amp;b'>b</a>`, "Leave\n({{ unsubscribe_url }})\nb (https://x.org/?i={{ id | append: \"&amp;\" }}&b)\n"},
		{"Liquid in an alt text", `<img alt='{{ a | default: "&amp;" }} &amp; b'>`, "{{ a | default: \"&amp;\" }} & b\n"},
		{"Liquid in a line", "<p>Hi {% if n > 1 %}{{ n }}{% else %}you{% endif %}, yes</p><p>b</p>", "Hi {% if n > 1 %}{{ n }}{% else %}you{% endif %}, yes\n\nb\n"},
		{"Liquid at the start of a block", "<p>a</p><p>{% if n %}x{% else %}y{% endif %}</p>", "a\n\n{% if n %}x{% else %}y{% endif %}\n"},
		{"Liquid around blocks", "<p>a</p>{% if n %}<p>b</p>{% else %}\n<p>c</p>{% endif %}<p>d</p>", "a{% if n %}\n\nb{% else %}\n\nc{% endif %}\n\nd\n"},
		{"loop of items", "<p>a</p><ol>{% for i in l %}<li>{{ i }}</li>{% endfor %}</ol><p>b</p>", "a{% for i in l %}\n\n- {{ i }}{% endfor %}\n\nb\n"},
		{"loop of lines", "<p>{% for i in l %}{{ i }}<br>{% endfor %}</p>b", "{% for i in l %}{{ i }}\n{% endfor %}\n\nb\n"},
		{"Liquid in comments", "<!-- {% if n %} --><p>a {{ x }}</p><!-- {{ y }}{% endif %} -->", "{% if n %}\n\na {{ x }}{% endif %}\n"},
		{"Liquid in what is dropped", "<style>{% if n %}a{{ b }}{% endif %}</style>a", "{% if n %}{% endif %}a\n"},
		{"Liquid comment", "a{% comment %}<p>x{{ y }}</p>{% endcomment %}b", "ab\n"},
		{"Liquid in attributes", `<p {% if a > 1 %}class="b"{% endif %}>c</p>`, "c\n"},
		{"raw", "a {% raw %}{{ x }} &amp;{% endraw %} b", "a {% raw %}{{ x }} &{% endraw %} b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := textpart.FromHTML(tt.in); got != tt.want {
				t.Errorf("FromHTML(%s)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

// Text comes out of any HTML, in time, and without what could not be mailed.
func FuzzFromHTML(f *testing.F) {
	for _, s := range []string{
		"<p>a</p>", "<ul><li><ol><li>{% for", "<table><tr><td><a href='{{ x }}'>", "</tr></li></ul></blockquote></pre></table>",
		"<pre>\n\n a", "<!--[if mso]>{% if a %}", "<div hidden><div hidden>", "<style>", "{{ \"<a href='\" }}", "&#0;&#13;&nbsp;\x00\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := textpart.FromHTML(s)
		if !utf8.ValidString(s) {
			return
		}
		wellFormed(t, fmt.Sprintf("%q", s), got)
		if text := "x" + s; !strings.ContainsAny(s, "{<&") && strings.TrimSpace(textpart.FromHTML(text)) == "" {
			t.Errorf("FromHTML(%q) is empty", text)
		}
	})
}

// Words of any structure come out whole, in their order, on lines that are short.
func TestWordsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-zåß]{1,12}|[一-三]{1,30}|[א-ת]{2,9}`)
	open := []string{"<p>", "<div>", "<ul><li>", "<ol start=7><li>", "<blockquote>", "<table><tr><td>", "<table role=presentation><tr><th>", "<b>", "<h1>", "<h2>", "<dl><dd>", "</p>", "</div>", "</ul>", "</table>", "</blockquote>", "<td>", "<tr>", "<li>", "<br>", "<hr>", " ", "\n", "</h1>"}
	rapid.Check(t, func(t *rapid.T) {
		var src, want strings.Builder
		for range rapid.IntRange(1, 60).Draw(t, "parts") {
			for range rapid.IntRange(0, 2).Draw(t, "tags") {
				src.WriteString(rapid.SampledFrom(open).Draw(t, "tag"))
			}
			w := word.Draw(t, "word")
			src.WriteString(" " + w + " ")
			want.WriteString(w)
		}
		text := textpart.FromHTML(src.String())
		got := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return r
			}
			return -1
		}, text)
		if got != want.String() {
			t.Fatalf("%s\nsays %s", src.String(), text)
		}
		for line := range strings.Lines(text) {
			columns := 0
			for _, r := range strings.TrimRight(line, "\n") {
				if columns++; r >= '一' {
					columns++
				}
			}
			if columns > 76 {
				t.Fatalf("%s\nhas the line %q of %d columns", src.String(), line, columns)
			}
		}
	})
}

// Size and depth cost time in proportion, or these would not end.
func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	const deep, large = 100_000, 1 << 20
	for _, s := range []string{
		strings.Repeat("<div>", deep) + "x" + strings.Repeat("</div>", deep),
		strings.Repeat("<ul><li>", deep) + "x",
		strings.Repeat("<blockquote>", deep) + "x",
		strings.Repeat("<table><tr><td>", deep) + "x",
		strings.Repeat("<div hidden>", deep) + "x" + strings.Repeat("</div>", deep) + "x",
		strings.Repeat("<a href=https://x.org>", large/22),
		strings.Repeat("<a href=https://x.org><i></i>", large/29),
		strings.Repeat("</p>", large/4) + "x",
		strings.Repeat("{% if a %}", large/10) + "x",
		strings.Repeat("{{ a }}", large/7),
		strings.Repeat("<", large),
		"<p " + strings.Repeat("a ", large/2) + ">x",
		"<p style='" + strings.Repeat("a:b;", large/4) + "'>x",
		strings.Repeat("春", large/3),
		strings.Repeat("&#x1F469;&zwj;", large/14),
		strings.Repeat("x", large),
		strings.Repeat("<img alt=x>", large/11),
		strings.Repeat("<h1>x", large/5),
		"<pre>" + strings.Repeat(" ", large-10) + "x",
	} {
		if got := textpart.FromHTML(s); got == "" || len(got) > 8<<20 {
			t.Errorf("%.30q… gave %d bytes", s, len(got))
		}
	}
}

func BenchmarkFromHTML(b *testing.B) {
	src := strings.Repeat(`<tr><td style="padding:10px 25px;"><div style="font-size:13px">Hello {{ first_name }} &amp; <a href="https://www.example.org/a">friends</a></div></td></tr>`+"\n", 7000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		textpart.FromHTML(src)
	}
}
