package markup_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// values have references of each kind, whole and not.
var values = []string{
	"", "a", "&#0", "&#9", "&#32", "&", "&&", "&;", "&#", "&#;", "&#x", "&#38", "&#38;x", "&#x26;", "&#38x", "&#X26=", "&#38;amp;",
	"?item=9&currency=EUR&section=2&region=eu", "?a&copy=1", "?a&copy;=1", "?a&copyb", "?a&copy1", "?a&copy b", "?a&copy&reg", "?a&copy-b", "?a&copyé",
	"&notit;", "&notin;", "&not;", "&not", "&noti", "&times=5", "&timesb;", "&amp", "&amp;", "&amp=", "&ampamp;", "&AMP;", "&semi;", "&semi", "&foo;", "&foo", "&Foo=1",
	"&NotEqualTilde;", "&NotEqualTilde", "&lt", "&lt=", "&lt;=", "&quot", "&colon;", "&colon", "javascript&colon;x", "&amp;copy=1", "&nbsp&nbsp;", "&acE;",
}

// browserValue returns the value of an attribute as the parser of HTML reads it.
func browserValue(t testing.TB, s string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(`<a href="` + s + `">`))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Data == "a" && len(n.Attr) == 1 {
			return n.Attr[0].Val
		}
	}
	t.Fatalf("%q has no attribute", s)
	return ""
}

func TestValuesAreDecodedAsByBrowsers(t *testing.T) {
	t.Parallel()
	for _, s := range values {
		if got, want := markup.UnescapeValue(s), browserValue(t, s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func FuzzUnescapeValue(f *testing.F) {
	for _, s := range values {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\"\r\x00") { // which end the value, or which the parser replaces
			t.Skip()
		}
		if got, want := markup.UnescapeValue(s), browserValue(t, s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	})
}

func TestValuesKeepTheirLiquid(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"?a={{ x }}&copy=1":              "?a={{ x }}&copy=1",
		"?a&amp;b={{ x | f: '&amp;' }}":  "?a&b={{ x | f: '&amp;' }}",
		"?a&copy{{ x }}":                 "?a&copy{{ x }}", // x may begin with =
		"?a&copy{% if x %}=1{% endif %}": "?a&copy{% if x %}=1{% endif %}",
		"{{ x }}&copy":                   "{{ x }}©",
		"&#123;&#123; x }}":              "{{ x }}",
	} {
		if got := markup.DecodeValue(s, nil); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}
