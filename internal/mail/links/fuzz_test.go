package links_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

var seeds = []string{
	`<a href="https://x.org/?a=1&amp;b">x</a>`, `<a href=https://x.org/ data-no-track>`, `<a href='{{ "x' }}'>`,
	`<!--[if mso]><a href="https://x.org"><!--[if mso]><a href="https://y.org">`, `<a href="https://x.org`, `<a href=https://x.org`,
	`<a/href="https://x.org"data-no-track=1/>`, "<a\nhref\n=\n'https://x.org'\n>", `{% raw %}<a href="https://x.org">`,
	`<base href="https://x.org/a/"><a href="b"><a href=//y>`, "<a href=\"https://x.org\x00\xff\">", `<script><a href="https://x.org">`,
	`<a =href=https://x.org href href=http://y.org>`, `<a {% if x %}href=https://x.org{% endif %}>`, "<plaintext><a href=https://x.org>",
	`<meta charset=a content="charset=b">`, `{{{{{ x }} }}} {{{ y }}}`, `{{{{}}}}{%{{%}`, `{% comment %}{% endcomment`, `</body></body`, `<a href="javascript:x">`,
}

// Rewriting changes nothing but the values it reports, and rewriting what it
// wrote finds as many links.
func FuzzRewrite(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	const mark = "https://mark.example/"
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, mark) || strings.Contains(strings.ToLower(src), "data-no-track") {
			return
		}
		same, found, _ := links.Rewrite(src, links.Options{})
		if same != src {
			t.Errorf("Rewrite without Href changed %q to %q", src, same)
		}
		calls := 0
		out, again, _ := links.Rewrite(src, links.Options{Href: func(links.Link) string { calls++; return mark }})
		if !slices.Equal(found, again) {
			t.Errorf("found %v, then %v", found, again)
		}
		pieces := strings.Split(out, mark)
		if len(pieces)-1 != calls {
			t.Fatalf("%d marks for %d calls in %q", len(pieces)-1, calls, out)
		}
		// What stands between the marks stands in src, in this order.
		rest := src
		for i, p := range pieces {
			if i > 0 && strings.HasPrefix(p, `"`) && !contains(rest, p) {
				p = p[1:] // the quotes that an unquoted value was given
			}
			if i < len(pieces)-1 && strings.HasSuffix(p, `"`) && !contains(rest, p) {
				p = p[:len(p)-1]
			}
			at := strings.Index(rest, p)
			if at < 0 || i == 0 && at > 0 || i == len(pieces)-1 && !strings.HasSuffix(rest, p) {
				t.Fatalf("Rewrite(%q) = %q: %q is not of the source", src, out, p)
			}
			rest = rest[at+len(p):]
			if i == len(pieces)-1 {
				break
			}
		}
	})
}

func contains(s, part string) bool { return strings.Contains(s, part) }

// What is inserted is inserted whole, and the rest stays.
func FuzzInsert(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		const snippet = "\x01snippet\x01"
		for _, out := range []string{links.InsertAfterBodyStart(src, snippet), links.InsertBeforeBodyEnd(src, snippet)} {
			if strings.Contains(src, snippet) {
				return
			}
			if strings.Replace(out, snippet, "", 1) != src {
				t.Errorf("inserting into %q gave %q", src, out)
			}
		}
		if once := links.DeclareUTF8(src); links.DeclareUTF8(once) != once {
			t.Errorf("DeclareUTF8 twice: %q, then %q", once, links.DeclareUTF8(once))
		}
	})
}

// A URL keeps its bytes, and gets each parameter once.
func FuzzAddUTM(f *testing.F) {
	f.Add("https://x.org/?a=b#c", "s")
	f.Add("{{ url }}#{% x %}?", "a b&c")
	f.Fuzz(func(t *testing.T, url, value string) {
		utm := links.UTM{Source: value, Content: "1"}
		once := links.AddUTM(url, utm)
		if links.AddUTM(once, utm) != once {
			t.Errorf("AddUTM twice: %q, then %q", once, links.AddUTM(once, utm))
		}
		if links.CheckTarget(url) == nil && links.CheckTarget(once) != nil {
			t.Errorf("AddUTM(%q) = %q, which is no target", url, once)
		}
	})
}

func BenchmarkRewrite(b *testing.B) {
	for name, unit := range map[string]string{
		"ordinary": `<tr><td style="padding:10px 25px;"><div style="font-size:13px">Hello {{ first_name }} &amp; <a href="https://www.example.org/a?b={{ c }}">friends</a></div></td></tr>` + "\n",
		"hostile":  `<!--[if mso]><a href="https://x.org/`,
		"braces":   `{%{{`,
		"comments": `<!-- {{ unsubscribe_url }}`,
		"raw":      `{% raw %}endraw`,
		"marks":    `{{ unsubscribe_url }}`,
	} {
		b.Run(name, func(b *testing.B) {
			src := strings.Repeat(unit, 1<<20/len(unit))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				links.Rewrite(src, links.Options{Href: numbered})
			}
		})
	}
}
