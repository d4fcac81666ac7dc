package links_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func TestDoubts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"www.example.com/offer": "no scheme", "example.com": "no scheme", "shop.example.com?x=1": "no scheme", "https//example.com/x": "no scheme", "https": "no scheme", "example.com:8080/x": "no scheme",
		"offer.html": "no scheme", "www.example.com/{{ id }}": "no scheme", "https;//example.com": "no scheme",
		"htps://example.com": "not with https", "htp://example.com": "not with https", "hhtps://example.com": "not with https", "htttps://example.com/{{ id }}": "not with https", "ttps://example.com": "not with https", "httpss://example.com": "not with https",
		"/contact": "relative", "../x.html": "relative", "./x": "relative", "?x=1": "relative", "//example.com/x": "relative", "/u/{{ id }}": "relative", " /contact": "relative", "&#47;contact": "relative",
		"file:///C:/x.pdf": "file", `C:\x.pdf`: "file", "FILE://x": "file",
		"http://localhost:3000/x": "your own", "http://localhost": "your own", "https://127.0.0.1/x": "your own", "http://[::1]/": "your own", "http://192.168.1.4/x": "your own", "http://10.0.0.1": "your own", "http://intranet/x": "your own",
		"http://mac.local/": "your own", "http://shop.localhost/": "your own", "localhost:3000/x": "own computer",

		"https://example.com": "", "HTTP://example.com/": "", "https://example.com:8080/x": "", "https://8.8.8.8/": "", "mailto:a@example.com": "", "tel:+1": "", "sms:1": "", "cid:a": "", "data:image/png;base64,AA": "", "myapp://open": "",
		"whatsapp://send": "", "webcal://example.com/x.ics": "", "ftp://example.com": "", "#top": "", "#": "", "": "", "{{ website }}": "", "{{ website }}/x": "", "{% if a %}https://a.org{% endif %}": "", "https://{{ host }}/x": "", "https://shop{{ n }}.example.com/x": "",
		"http{% if s %}s{% endif %}://example.com": "", "https:/example.com": "",
	} {
		for _, form := range []string{`<a href="%s">x</a>`, `<img src="%s">`, `<mj-button href="%s">x</mj-button>`, `<!--[if mso]><v:rect href="%s"><![endif]-->`, `<area href='%s'>`, `<mj-section background-url="%s">`} {
			got := links.Doubts(strings.Replace(form, "%s", url, 1))
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0].Reason, want)) {
				t.Errorf("%s in %s: %v, want %q", url, form, got, want)
			}
		}
		if got := links.Doubts(`<base href="https://example.com/"><a href="` + url + `">x</a>`); (want == "relative") && len(got) > 0 {
			t.Errorf("%s with a base: %v", url, got)
		}
	}
	for _, html := range []string{`<link href="x.css">`, `<!-- <a href="/x"> -->`, `<style>a{background:url(/x)}</style>`, `<a name="x">`, `<mj-social-element name="facebook" href="me">`, `<mj-navbar base-url="https://example.com"><mj-navbar-link href="/x">x</mj-navbar-link>`} {
		if got := links.Doubts(html); len(got) > 0 {
			t.Errorf("%s: %v", html, got)
		}
	}
	if got := links.Doubts(strings.Repeat(`<a href="x">`, 1000)); len(got) != 100 {
		t.Errorf("%d doubts", len(got))
	}
}
