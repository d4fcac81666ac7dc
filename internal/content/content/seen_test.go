package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/content/content"
)

// met returns the troubles of a text with a code that its readers meet, with their lines and elements.
func met(t *testing.T, code string, text content.Text) string {
	t.Helper()
	var all []string
	for _, trouble := range text.Literals() {
		if trouble.Code != code {
			continue
		}
		element := ""
		if trouble.At > 0 {
			element, _, _ = strings.Cut(strings.TrimRight(text.Source[trouble.At-1:], ">"), " ")
			element, _, _ = strings.Cut(element, ">")
		}
		all = append(all, fmt.Sprintf("%d %s %s", trouble.Line, element, trouble.Message))
	}
	return strings.Join(all, "\n")
}

func TestReviewReportsPicturesWithoutText(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`<p>a</p>` + "\n" + `<img src="https://a.org/x.png">`:                                                                                              `2 <img the picture "https://a.org/x.png" has no alternative text`,
		`<img src="{{ logo }}">`:                                                                                                                           `1 <img the picture "{{ logo }}" has no alternative text`,
		`<img src=x alt><img src=x alt=""><img src=x alt="{{ a }}"><img alt="x">`:                                                                          "",
		`<img src=x role="presentation"><img src=x aria-hidden=true><img>`:                                                                                 "",
		`<img src=x width=1 height=1><img src=x style="Width: 1px"><img src=x width="0">`:                                                                  "",
		`<img src=x style="display:none"><img src=x {% if a %}alt="a"{% endif %}>`:                                                                         "",
		`<!-- <img src=x> --><!--[if mso]><img src=x><![endif]-->`:                                                                                         "",
		`<mj-image src="x" /><mj-carousel-image src="y" alt="y" />`:                                                                                        `1 <mj-image the picture "x" has no alternative text`,
		`<mj-attributes><mj-image alt="" /></mj-attributes><mj-image src="x" />`:                                                                           "",
		`<mj-attributes><mj-all alt="" /></mj-attributes><mj-image src="x" />`:                                                                             "",
		`<mj-attributes><mj-class name="a" alt="" /></mj-attributes><mj-image src="x" mj-class="b a" /><mj-image src="y" mj-class="b" />`:                  `1 <mj-image the picture "y" has no alternative text`,
		`<mj-attributes><mj-class name="a"><mj-image alt="" /></mj-class><mj-text /></mj-attributes><mj-image src="x" mj-class="a" /><mj-image src="y" />`: `1 <mj-image the picture "y" has no alternative text`,
	} {
		if got := met(t, content.CodePicture, content.Text{Field: "f", Source: source, Form: content.HTML, HTML: ""}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", source, got, want)
		}
	}
	if got := met(t, content.CodePicture, content.Text{Source: `<img src=x>`}); got != "" {
		t.Errorf("a header: %s", got)
	}
}

func TestReviewFindsTheElementOfATextThatIsHardToRead(t *testing.T) {
	t.Parallel()
	const source = "<mjml><mj-head><mj-preview>Buy</mj-preview></mj-head><mj-body>\n<mj-text>Buy</mj-text>\n<mj-text color=\"#eee\">\n  Buy\n  more</mj-text>\n<mj-button>Buy</mj-button></mj-body></mjml>"
	html := `<div style="display:none;color:#fff">Buy</div><div>Buy</div><div style="color:#eee">Buy
  more</div><a style="color:#ddd">Buy</a><a style="color:#ccc">{{ what }}</a>`
	want := `4 <mj-text the text "Buy more" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed
6 <mj-button the text "Buy" is #dddddd on #ffffff, a contrast of 1.3 to 1: at least 4.5 is needed
0  the text "{{ what }}" is #cccccc on #ffffff, a contrast of 1.6 to 1: at least 4.5 is needed`
	if got := met(t, content.CodeContrast, content.Text{Source: source, Form: content.MJML, HTML: html}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReviewReportsWhatGmailCuts(t *testing.T) {
	t.Parallel()
	html := strings.Repeat("<p>a</p>\n", content.MaxShown/9)
	if got := met(t, content.CodeClipped, content.Text{Source: html, Form: content.HTML}); got != "" {
		t.Errorf("just enough: %s", got)
	}
	if got := met(t, content.CodeClipped, content.Text{Source: "<mjml>", Form: content.MJML, HTML: html + "<p>a</p>"}); got != "0  "+content.Clipped {
		t.Errorf("too much: %s", got)
	}
	half := html[:len(html)/2]
	for source, want := range map[string]string{
		"{% if a %}" + half + "{% else %}<p>b</p>" + half + "{% endif %}":          "",
		"{% if a %}a{% endif %}" + html + "<p>a</p><p>a</p>":                       "0  " + content.Clipped,
		"{% capture a %}" + html + "<p>a</p><p>a</p>{% endcapture %}{{ a }}":       "",
		html + "{% for i in tags %}<p>a</p><p>a</p>{% endfor %}{% assign b = 1 %}": "",
	} {
		if got := met(t, content.CodeClipped, content.Text{Source: source, Form: content.HTML}); got != want {
			t.Errorf("%.20s: %s", source, got)
		}
	}
}

func TestReviewReportsLinksOfBlocksWithoutAnAddress(t *testing.T) {
	t.Parallel()
	const source = `<a href="">#1 deal</a><a href="#of-the-mail">more</a>`
	if got := met(t, content.CodeLink, content.Text{Source: source, Form: content.HTML, Part: true}); got != `1 <a the link "#1 deal" has no address` {
		t.Errorf("found %s", got)
	}
}

func FuzzReviewOfWhatReadersMeet(f *testing.F) {
	f.Add(`<img src="x" mj-class=a style="width:1px"><mj-attributes><mj-class name=a><mj-image alt>`, `<p style="color:#999">a`)
	f.Add("<mj-body>\n a <mj-text>a</mj-text>", "<div style='color:#eee'>a</div>")
	f.Fuzz(func(t *testing.T, source, html string) {
		for _, form := range []content.Form{content.HTML, content.MJML} {
			for _, trouble := range (content.Text{Source: source, Form: form, HTML: html}).Literals() {
				if trouble.At < 0 || trouble.At > len(source) || trouble.Message == "" {
					t.Errorf("%+v of %q", trouble, source)
				}
			}
		}
	})
}
