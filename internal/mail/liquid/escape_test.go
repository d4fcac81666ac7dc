package liquid_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

func TestOutputsAreEscapedInHTML(t *testing.T) {
	t.Parallel()
	const escaped = "&lt;b title=&quot;x&quot;&gt;Ann &amp; &#39;Bob&#39;&lt;/b&gt;"
	check(t, liquid.HTML, []example{
		{"<p>{{ unsafe }}</p>", "<p>" + escaped + "</p>"},
		{`{{ "<br>" }}`, "&lt;br&gt;"},
		{"{{ unsafe | raw }}", `<b title="x">Ann & 'Bob'</b>`},
		{"{{ safe }}", "<i>fine</i>"},
		{`<a href="{{ unsubscribe_url }}">`, `<a href="https://mail.example.org/_q/u/t?a=1&amp;b=2">`},
		{"{% for i in (1..1) %}{{ unsafe }}{% endfor %}", escaped},
		{"{{ tags | join: '<' }}", "garden&lt;sports"},
		{"{% cycle unsafe, 'x' %}", escaped},
		{"{{ unsafe | strip_html }}", "Ann &amp; &#39;Bob&#39;"},
		{"{{ unsafe | split: ' ' | last }}", "&#39;Bob&#39;&lt;/b&gt;"},
		{"{{ unsafe | size }}", "28"},
	})
}

func TestNothingIsEscapedTwice(t *testing.T) {
	t.Parallel()
	check(t, liquid.HTML, []example{
		{"{{ unsafe | escape | truncate: 6, '' }}", "&lt;b "},
		{"{{ 'a & b' | escape }}", "a &amp; b"},
		{"{{ 'a &amp; b & c' | escape_once }}", "a &amp; b &amp; c"},
		{"{{ 'a < b\nc' | newline_to_br }}", "a &lt; b<br />\nc"},
		{"{% capture x %}<b>{{ 'a & b' }}</b>{% endcapture %}{{ x }}", "<b>a &amp; b</b>"},
		{"{% capture x %}<b>{{ 'a & b' }}</b>{% endcapture %}{{ x | strip | upcase }}", "<B>A &AMP; B</B>"},
		{"{% capture x %}<b>{% endcapture %}{{ x | append: '<i>' }}", "<b>&lt;i&gt;"},
		{"{% capture x %}<b>{% endcapture %}{{ '<i>' | append: x }}", "&lt;i&gt;<b>"},
		{"{% capture x %}<b>N</b>{% endcapture %}{{ x | replace: 'N', unsafe }}", "<b>&lt;b title=&quot;x&quot;&gt;Ann &amp; &#39;Bob&#39;&lt;/b&gt;</b>"},
		{"{% capture x %}<b>{% endcapture %}{{ x | escape }}", "<b>"},
		{"{% capture x %}&lt;script&gt;{% endcapture %}{{ x | url_encode | url_decode }}", "&amp;lt;script&amp;gt;"},
		{"{% capture x %}a{% endcapture %}{% if x == 'a' %}same{% endif %}", "same"},
	})
}

func TestTextIsNotEscaped(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{"{{ unsafe }}", `<b title="x">Ann & 'Bob'</b>`},
		{"{{ unsafe | raw | append: '&' }}", `<b title="x">Ann & 'Bob'</b>&`},
		{"{{ '<' | escape }}", "&lt;"},
		{"{{ safe | append: '<' }}", "<i>fine</i><"},
		{"{% capture x %}a & b{% endcapture %}{{ x }}", "a & b"},
	})
}
