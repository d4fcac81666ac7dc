package textpart_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"packetboat/internal/mail/links"
	"packetboat/internal/mail/textpart"
)

func TestFromHTML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"tags only", "<div><p></p></div>", ""},
		{"paragraphs", "<p>One\n two</p>\n<p>Three</p>", "One two\n\nThree\n"},
		{"inline", "<p>a<b>b</b> <i>c</i>d</p>", "ab cd\n"},
		{"entities", "<p>a&nbsp;&amp;&nbsp;b &lt;c&gt; &euro;5&shy;&zwnj;</p>", "a & b <c> €5\u200c\n"},
		{"heading", "<h1>Title</h1>Text<h2>Sub</h2>more", "Title\n\nText\n\nSub\n\nmore\n"},
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
		{"data table", "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>5</td></tr></table>", "Item  Price\nTea  5\n"},
		{"layout table", "<table><tr><td><div>a</div></td></tr><tr><td><div>b</div></td></tr></table>", "a\n\nb\n"},
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
		{"Liquid link", `<a href="{{ unsubscribe_url }}">Leave</a> <a href='https://x.org/?i={{ id | append: "&amp;" }}&amp;b'>b</a>`, "Leave ({{ unsubscribe_url }}) b (https://x.org/?i={{ id | append: \"&amp;\" }}&b)\n"},
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
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("FromHTML(%q) = %q", s, got)
		}
		if got != "" && !strings.HasSuffix(got, "\n") {
			t.Errorf("FromHTML(%q) = %q does not end its line", s, got)
		}
	})
}

func BenchmarkFromHTML(b *testing.B) {
	src := strings.Repeat(`<tr><td style="padding:10px 25px;"><div style="font-size:13px">Hello {{ first_name }} &amp; <a href="https://www.example.org/a">friends</a></div></td></tr>`+"\n", 7000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		textpart.FromHTML(src)
	}
}
