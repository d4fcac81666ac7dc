package links_test

import (
	"strings"
	"testing"

	tokens "golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func none(string) bool { return false }

// everywhere is a guard of HTML of which nothing is known.
func everywhere(t testing.TB) *links.Guard {
	t.Helper()
	g := links.NewGuard(`<a href="{{ x }}">`, none)
	if g == nil {
		t.Fatal("a link that is all Liquid needs no guard")
	}
	return g
}

func TestGuardTakesHarmfulLinksOut(t *testing.T) {
	t.Parallel()
	g := everywhere(t)
	for _, value := range []string{
		"javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)", "java\r\nscript:alert(1)",
		" \t\njavascript:alert(1)", "\x01\x02\x1fjavascript:alert(1)", "javascript\t:alert(1)", "javascript&colon;alert(1)", "javascript&#58;alert(1)",
		"&#106;avascript:alert(1)", "&#x6A;&#x61;vascript:x", "&#0000106avascript:x", "java&Tab;script:x", "java&NewLine;script:x", "java&#10;script:x",
		"java\u200bscript:x", "java\u00adscript:x", "\u00a0javascript:x", "\ufeffjavascript:x", "java\x7fscript:x", "java\x00script:x",
		"vbscript:msgbox(1)", "data:text/html,<script>1</script>", "data:text/html;base64,PHN2Zz4=", "file:///etc/passwd", "blob:https://x.org/1",
		"view-source:https://x.org", "about:blank", "intent://x#Intent;end", "ftp://x.org", "sms:123", "x:y", ":javascript:x", "a b:c",
		"feed:javascript:alert(1)", "jar:https://x.org!/x", "cid:1",
	} {
		quoted := strings.ReplaceAll(value, `"`, "&quot;")
		for _, in := range []string{
			`<a class="c" href="` + quoted + `" title="t">x</a>`, `<area href='` + quoted + `'>`, `<form action="` + quoted + `">`, `<button formaction="` + quoted + `">`,
			`<svg><a xlink:href="` + quoted + `">x</a></svg>`, `<img src="` + quoted + `">`, `<td background="` + quoted + `">`, `<a HREF = "` + quoted + `">x</a>`,
			`<!--[if mso]><v:roundrect href="` + quoted + `"></v:roundrect><![endif]-->`, `<a href="https://x.org" href="` + quoted + `">x</a>`, `<base href="` + quoted + `">`,
			`<a href="` + quoted + `" href="` + quoted + `">x</a>`, `<a/href="` + quoted + `"/title=t>x</a>`, `<a href="` + quoted + `"title="t">x</a>`,
		} {
			out, cut := g.Clean([]byte(in))
			if !cut || strings.Contains(string(out), quoted) {
				t.Errorf("%q stays: %q", in, out)
			}
			if strings.Contains(in, "title=") && !strings.Contains(string(out), "title=") || strings.Contains(in, `class="c"`) && !strings.Contains(string(out), `class="c"`) {
				t.Errorf("%q lost more than its link: %q", in, out)
			}
		}
	}
}

func TestGuardLeavesOtherLinks(t *testing.T) {
	t.Parallel()
	g := everywhere(t)
	for _, in := range []string{
		`<a href="https://x.org/?a=javascript:1#b:c">x</a>`, `<a href="HTTP://X.org">`, `<a href=" https://x.org ">`, `<a href="mailto:a@x.org">`, `<a href="tel:+31 20">`,
		`<a href="/path:x">`, `<a href="#javascript:x">`, `<a href="?javascript:x">`, `<a href="//x.org">`, `<a href="">`, `<a href>`, `<a href="page.html">`,
		`<p title="javascript:x">javascript:x</p>`, `<style>a { b: c }</style>`, `<!-- <a href="javascript:x"> -->`, `<a href="javascript%3Ax">`, `<a data-href="javascript:x">`,
	} {
		if out, cut := g.Clean([]byte(in)); cut || string(out) != in {
			t.Errorf("%q became %q", in, out)
		}
	}
}

func TestGuardKeepsWhatTheAuthorWrote(t *testing.T) {
	t.Parallel()
	g := links.NewGuard(`<a href="sms:123">a</a><a href="whatsapp:{{ phone }}">b</a><img src="data:image/png;base64,AA"><a href="{{ x }}">c</a>`, none)
	for in, keeps := range map[string]bool{
		`<a href="sms:123">`: true, `<a href="whatsapp:1">`: true, `<img src="data:image/png;base64,AA">`: true,
		`<a href="data:text/html,x">`: false, `<img src="sms:1">`: false, `<a href="javascript:x">`: false,
	} {
		if _, cut := g.Clean([]byte(in)); cut == keeps {
			t.Errorf("%s: cut %v", in, cut)
		}
	}
}

func TestWhatNeedsAGuard(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		`<a href="{{ x }}">`: true, `<a href="java{{ x }}">`: true, `<a href="{{ x }}:alert(1)">`: true, `<a href="{% if a %}{{ x }}{% endif %}">`: true,
		`<a href={{ x }}>`: true, `<a href=" {{ x }}">`: true, `<a href="&#32;{{ x }}">`: true, `<img src="{{ x }}">`: true, `<form action="{{ x }}">`: true, `<svg><a xlink:href="{{ x }}">`: true,
		`<a {{ x }}>`: true, `<a {{ x }}="y">`: true, `<{{ x }} href="y">`: true, `{{ x | raw }}`: true, `{{ x|raw }}`: true, `<!--[if mso]><v:rect href="{{ x }}"><![endif]-->`: true,
		`<a {% if a %}href="{{ x }}"{% endif %}>`: true, `{% capture c %}<a href="{{ x }}">{% endcapture %}`: true, `<a href="{{ ours | append: x }}">`: true, `<base href="{{ x }}">`: true,
		`<a href="{{ ours }}">`: false, `<a href="https://x.org/{{ x }}">`: false, `<a href="https:{{ x }}">`: false, `<a href="#{{ x }}">`: false, `<a href="/{{ x }}">`: false,
		`<a href="mailto:{{ x }}">`: false, `<a title="{{ x }}">{{ x }}</a>`: false, `<a {% if a %}class="b"{% endif %} href="https://x.org">`: false, `<p style="{{ x }}">`: false, ``: false,
		`<a href="{{ ours }}?{{ x }}">`: false, `<a href="{{ x }}{{ ours }}">`: true,
	} {
		if got := links.NewGuard(src, func(v string) bool { return v == "ours" }) != nil; got != want {
			t.Errorf("%s: a guard %v, want %v", src, got, want)
		}
	}
}

func TestActionsThatRunAScriptAreRefused(t *testing.T) {
	t.Parallel()
	for src, bad := range map[string]bool{
		`<form action="javascript:x">`: true, `<svg><use xlink:href="java&#10;script:x"/></svg>`: true, `<button formaction="vbscript:x">`: true, `<img src="javascript:{{ x }}">`: true,
		`<img src="data:image/png;base64,AA">`: false, `<form action="https://x.org">`: false, `<form action="{{ x }}">`: false,
	} {
		if err := links.Check(src); (err != nil) != bad {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// browserScheme returns the scheme of a URL as the URL standard of the WHATWG
// parses it: white space and controls are stripped at both ends, tabs and line
// breaks everywhere.
func browserScheme(url string) string {
	url = strings.TrimFunc(url, func(r rune) bool { return r <= ' ' })
	url = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(url)
	for i, r := range url {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		switch {
		case letter:
		case i > 0 && ('0' <= r && r <= '9' || r == '+' || r == '-' || r == '.'):
		case i > 0 && r == ':':
			return strings.ToLower(url[:i])
		default:
			return ""
		}
	}
	return ""
}

// FuzzGuard: whatever a recipient's data put into a page, escaped in a link or
// not escaped at all, a browser finds no link there with another scheme.
func FuzzGuard(f *testing.F) {
	for _, s := range []string{
		"javascript:x", " java\tscript:x", "java&#10;script:x", `x" href="javascript:y`, "<a href=javascript:x>", "<svg><a xlink:href='javascript:x'", "<base href=vbscript:>", "<a/href=data:x//href=y>",
		"<a href=\"javascript:x\"href='y:z'>", "<a =href=javascript:x>", "<form action = 'javascript:x", "<!--><a href=javascript:x>", "<style></style><a href=javascript:x>", "<a\fhref\n=javascript:x>", "<title><a href='javascript:x'></title><a href=x:y>",
	} {
		f.Add(s)
	}
	g := everywhere(f)
	f.Fuzz(func(t *testing.T, value string) {
		for _, page := range []string{`<p><a href="` + tokens.EscapeString(value) + `">x</a></p>`, `<p><img src='` + tokens.EscapeString(value) + `'></p>`, `<p>` + value + `</p>`} {
			out, cut := g.Clean([]byte(page))
			if !cut && string(out) != page {
				t.Fatalf("%q changed without a cut", page)
			}
			z := tokens.NewTokenizer(strings.NewReader(string(out)))
			for z.Next() != tokens.ErrorToken {
				token := z.Token()
				if token.Type != tokens.StartTagToken && token.Type != tokens.SelfClosingTagToken {
					continue
				}
				for _, a := range token.Attr {
					switch a.Key {
					case "href", "xlink:href", "src", "action", "formaction":
						switch s := browserScheme(a.Val); s {
						case "", "http", "https", "mailto", "tel":
						default:
							t.Fatalf("%q leaves the scheme %q in %q", page, s, out)
						}
					}
				}
			}
		}
	})
}
