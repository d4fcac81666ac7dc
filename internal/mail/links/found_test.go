package links_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func TestFoundLinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     []links.Link
	}{
		{"one row for each URL", `<a href="https://x.org">a</a><a href="https://y.org">b</a><a href=' https://x.org '>c</a>`,
			[]links.Link{{Index: 0, URL: "https://x.org", Label: "a"}, {Index: 1, URL: "https://y.org", Label: "b"}}},
		{"entities", `<a href="https://x.org/?a=1&amp;b=%C3%A4&#38;c#d">a</a>`, []links.Link{{URL: "https://x.org/?a=1&b=%C3%A4&c#d", Label: "a"}}},
		{"names without a semicolon", `<a href="https://x.org/?item=9&currency=EUR&section=2&region=eu&times=5&copy">a</a>`, []links.Link{{URL: "https://x.org/?item=9&currency=EUR&section=2&region=eu&times=5©", Label: "a"}}},
		{"names beside Liquid", `<a href="https://x.org/?a={{ x }}&copy=1&reg{{ y }}">a</a>`, []links.Link{{URL: "https://x.org/?a={{ x }}&copy=1&reg{{ y }}", Label: "a", Dynamic: true}}},
		{"names in a label", `<a href="https://x.org" title="a&copy=b">&copy=b</a><a href="https://y.org" title="a&copy=b"></a>`,
			[]links.Link{{URL: "https://x.org", Label: "©=b"}, {Index: 1, URL: "https://y.org", Label: "a&copy=b"}}},
		{"line breaks", "<a href=\"https://x.org/\n\ta\">a</a>", []links.Link{{URL: "https://x.org/a", Label: "a"}}},
		{"path and order stay", `<a href="https://X.org/a/../b?z=1&a=2">a</a>`, []links.Link{{URL: "https://X.org/a/../b?z=1&a=2", Label: "a"}}},
		{"IDN", `<a href="https://bücher.example:8080/ä">a</a>`, []links.Link{{URL: "https://xn--bcher-kva.example:8080/ä", Label: "a"}}},
		{"label", "<a href=\"https://x.org\"> <b>Read</b>\n &amp; {{ x }} <!-- c -->on</a> not this", []links.Link{{URL: "https://x.org", Label: "Read & {{ x }} on"}}},
		{"label from the title", `<a href="https://x.org" title="t"><img src="a" alt="Our logo"></a>`, []links.Link{{URL: "https://x.org", Label: "t"}}},
		{"label from the alt text", `<a href="https://x.org"><img src="a" alt="Our &quot;logo&quot;"></a>`, []links.Link{{URL: "https://x.org", Label: `Our "logo"`}}},
		{"label from a later link", `<a href="https://x.org"></a><a href="https://x.org">b</a>`, []links.Link{{URL: "https://x.org", Label: "b"}}},
		{"area", `<area href="https://x.org" alt="here">text`, []links.Link{{URL: "https://x.org", Label: "here"}}},
		{"Liquid", `<a href="https://x.org/?a={{ a | append: "&amp;" }}&amp;b">a</a><a href="{{ url }}">b</a>`,
			[]links.Link{{URL: `https://x.org/?a={{ a | append: "&amp;" }}&b`, Label: "a", Dynamic: true}, {Index: 1, URL: "{{ url }}", Label: "b", Dynamic: true}}},
		{"base", `<base href="https://x.org/a/b?c"><a href="d">a</a><a href="/e">b</a><a href="//y.org/f">c</a><a href="?g">d</a><a href="#h">e</a>`,
			[]links.Link{{URL: "https://x.org/a/d", Label: "a"}, {Index: 1, URL: "https://x.org/e", Label: "b"}, {Index: 2, URL: "https://y.org/f", Label: "c"}, {Index: 3, URL: "https://x.org/a/b?g", Label: "d"}}},
		{"base without a path", `<base href="https://x.org"><a href="d">a</a>`, []links.Link{{URL: "https://x.org/d", Label: "a"}}},
		{"Outlook's copy has no label of its own", `<a href="https://x.org">a<!--[if mso]>b<![endif]-->c</a>`, []links.Link{{URL: "https://x.org", Label: "ac"}}},
		{"nothing", `<p>a</p>`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, got, err := links.Rewrite(tt.in, links.Options{})
			if err != nil || out != tt.in || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Rewrite(%s)\n got %+v, %v\nwant %+v", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestVariantsShareNumbers(t *testing.T) {
	t.Parallel()
	known := []links.Link{{Index: 4, URL: "https://x.org"}, {Index: 2, URL: "https://y.org", Label: "y"}}
	out, found, err := links.Rewrite(`<a href="https://z.org">z</a><a href="https://x.org">x</a>`, links.Options{Known: known, Href: numbered})
	want := []links.Link{{Index: 4, URL: "https://x.org", Label: "x"}, {Index: 2, URL: "https://y.org", Label: "y"}, {Index: 5, URL: "https://z.org", Label: "z"}}
	if err != nil || out != `<a href="L5">z</a><a href="L4">x</a>` || !reflect.DeepEqual(found, want) {
		t.Errorf("Rewrite = %s, %+v, %v; want %+v", out, found, err, want)
	}
	if known[0].Label != "" {
		t.Error("the list of known links was changed")
	}
}

func TestHrefIsEscaped(t *testing.T) {
	t.Parallel()
	href := func(l links.Link) string { return `https://t.org/?a=1&b="c"'<d>` + `{{ x | default: "&" }}` }
	for in, want := range map[string]string{
		`<a href="https://x.org">`: `<a href="https://t.org/?a=1&amp;b=&#34;c&#34;&#39;&lt;d&gt;{{ x | default: "&" }}">`,
		`<a href='https://x.org'>`: `<a href='https://t.org/?a=1&amp;b=&#34;c&#34;&#39;&lt;d&gt;{{ x | default: "&" }}'>`,
		`<a href=https://x.org>`:   `<a href="https://t.org/?a=1&amp;b=&#34;c&#34;&#39;&lt;d&gt;{{ x | default: "&" }}">`,
	} {
		if got, _, err := links.Rewrite(in, links.Options{Href: href}); err != nil || got != want {
			t.Errorf("Rewrite(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestLinksThatMustNotBeSent(t *testing.T) {
	t.Parallel()
	src := `<a href="javascript:alert(1)">a</a><a href=" JaVa&#10;Script:x"><a href="&#1;vbscript:x">` +
		`<area href="data:text/html,x"><a data-no-track href="javascript:{{ x }}">` +
		`<!--[if mso]><v:rect href="javascript:m"><![endif]-->` +
		`<a href="https://user:pass@x.org">b</a><a href="https://">c</a><a href="https://x.org">d</a>`
	err := links.Check(src)
	e, ok := errors.AsType[*links.Error](err)
	if !ok || len(e.Problems) != 8 {
		t.Fatalf("Check = %v; want eight problems", err)
	}
	for i, want := range []string{"javascript:", "javascript:", "vbscript:", "data:", "javascript:", "javascript:", "user name", "no host"} {
		if !strings.Contains(e.Problems[i].Reason, want) {
			t.Errorf("problem %d = %+v; want %s", i, e.Problems[i], want)
		}
	}
	out, found, err := links.Rewrite(src, links.Options{Href: numbered})
	if err == nil || len(found) != 1 || !strings.HasSuffix(out, `<a href="https://user:pass@x.org">b</a><a href="https://">c</a><a href="L0">d</a>`) {
		t.Errorf("Rewrite = %s, %v, %v", out, found, err)
	}
	if err := links.Check(`<a href="https://x.org"><a href="mailto:a@x.org"><a href="{{ url }}">`); err != nil {
		t.Errorf("Check of good links = %v", err)
	}
}
