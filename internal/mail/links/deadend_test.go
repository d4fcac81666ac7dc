package links_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func TestDeadends(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`<a href="">Buy  <b>now</b></a>`:                                                 `9 Buy now has no address`,
		`<a href><img src="a.png" alt="A shop"></a>`:                                     `7 A shop has no address`,
		`<a href=" "><img src="a.png"></a>`:                                              `9  has no address`,
		`<a href="#">x</a>`:                                                              `9 # leads nowhere`,
		`<a href="#b">x</a><p id="a"></p>`:                                               `9 #b leads to a place that the mail does not have`,
		`<a href="#a">x</a><a href='#b'>x</a><p id="a"></p><a name=b>`:                   ``,
		`<a href="#b">x</a><p id="{{ a }}"></p>`:                                         ``,
		`<a href="#top">x</a><a href="#TOP">x</a>`:                                       ``,
		`<a href="mailto:">x</a>`:                                                        `9 mailto: has no mail address`,
		`<a href="mailto:ann at example">x</a>`:                                          `9 mailto:ann at example has no mail address`,
		`<a href="mailto:a@b.org,c%40d.org?subject=x">x</a>`:                             ``,
		`<a href="mailto:?subject=x">x</a>`:                                              ``,
		`<a href="tel:">x</a><a href="tel:+49 1">x</a>`:                                  `9 tel: has no number`,
		`<a href="https://example.com/offer">x</a>`:                                      `9 https://example.com/offer is only an example`,
		`<a href="HTTP://Example.com:80">x</a>`:                                          `9 HTTP://Example.com:80 is only an example`,
		`<a href="https://shop.example.com/">x</a><img src="https://example.com/a.png">`: ``,
		`<a href="{{ url }}">x</a><a href="https://example.com/{{ id }}">x</a><a href="mailto:{{ a }}">x</a>`:                   ``,
		`<a>x</a><a name="y">x</a><link href="">`:                                                                               ``,
		`{% if url != blank %}<a href="">x</a><a href="mailto:">x</a><a href="#">y</a>{%- endif -%}<a href="">z</a>`:            `69 # leads nowhere|99 z has no address`,
		`{%unless a%}{%case b%}{%when 1%}<a href="">x</a>{%endcase%}{%endunless%}<a href="">z</a>`:                              `81 z has no address`,
		`<a href="sms:?&body=Hi">x</a><a href="mailto:a@b.org;c@d.org">x</a><a href="mailto:Ann%20Lee%20%3Cann@b.org%3E">x</a>`: ``,
		`<a href="sms:">x</a>`:                                                           `9 sms: has no number`,
		`<a href="#caf%C3%A9">x</a><p id="café"></p>`:                                    ``,
		`<a href="#b">x</a>{{ slot:hero }}`:                                              ``,
		`<a href="#b">x</a>{{param:text}}`:                                               ``,
		`<a href="#b">x</a>{{ text | raw }}`:                                             ``,
		`<a href="#b">{{ first_name }}</a><p title="{{param:a}}">`:                       `9 #b leads to a place that the mail does not have`,
		`<!-- <a href="#">x</a> -->`:                                                     ``,
		`<mj-button>Buy</mj-button><mj-button href="">Go</mj-button>`:                    `0 Buy has no address|43 Go has no address`,
		`<mj-attributes><mj-button href="x"/></mj-attributes><mj-button>Buy</mj-button>`: ``,
		`<mj-image href="#" src="a.png" /><mj-social-element href="#">`:                  `16 # leads nowhere`,
		`<mj-html-attributes></mj-html-attributes><a href="#b">x</a>`:                    ``,
	} {
		var got []string
		for _, d := range links.Deadends(source) {
			got = append(got, fmt.Sprintf("%d %s %s", d.At, d.URL, d.Reason))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s:\n got %s\nwant %s", source, strings.Join(got, "|"), want)
		}
	}
	if got := links.Deadends(strings.Repeat(`<a href="#">`, 1000)); len(got) != 100 {
		t.Errorf("%d dead ends", len(got))
	}
}

// What is open, or stands in alternative texts, is not read again to its end for each link: words that stand far behind a link
// are not found for it.
func TestWhatStandsFarBehindALinkIsNotRead(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{"tags": strings.Repeat("<b>", 350_000), "alternative texts": strings.Repeat(`<img alt="">`, 90_000), "one tag": "<b " + strings.Repeat("a ", 500_000) + ">"} {
		got := links.Deadends(strings.Repeat(`<a href="">`, 100) + rest + "far</a>")
		if len(got) != 100 {
			t.Errorf("%s: %d dead ends", name, len(got))
		}
		for _, d := range got {
			if strings.Contains(d.URL, "far") {
				t.Errorf("%s: the link at %d was read to its end: %q", name, d.At, d.URL)
			}
		}
	}
	if got := links.Deadends(`<a href=""><b><img alt="">near</a>`); len(got) != 1 || got[0].URL != "near" {
		t.Errorf("near: %+v", got)
	}
}

func FuzzDeadends(f *testing.F) {
	for _, s := range []string{`<a href="">Buy <b>now</b></a>`, `<a href='#b'><p id={{ a }}>`, `<mj-button href="mailto:%40"/>`, `<a href=https://example.com:`, `<mj-button>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, d := range links.Deadends(source) {
			if d.At < 0 || d.At >= len(source) || d.Reason == "" {
				t.Errorf("%+v in %q", d, source)
			}
		}
	})
}
