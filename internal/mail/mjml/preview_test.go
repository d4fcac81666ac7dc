package mjml

import (
	"strings"
	"testing"
)

func TestWithPreview(t *testing.T) {
	t.Parallel()
	const body = "<mj-body><mj-section><mj-column><mj-text>a</mj-text></mj-column></mj-section></mj-body></mjml>"
	for _, tt := range []struct{ name, source, want string }{
		{"no head", "<mjml lang='a>b'>" + body, "<mjml lang='a>b'><mj-head><mj-preview>P</mj-preview></mj-head>" + body},
		{"a head", "<mjml><mj-head><mj-title>t</mj-title></mj-head>" + body, "<mjml><mj-head><mj-preview>P</mj-preview><mj-title>t</mj-title></mj-head>" + body},
		{"an empty head", "<mjml><mj-head />" + body, "<mjml><mj-head><mj-preview>P</mj-preview></mj-head>" + body},
		{"a preview", "<mjml><mj-head><mj-preview>old\n{{ '</mj-preview>' }}</mj-preview ></mj-head>" + body, "<mjml><mj-head><mj-preview>P</mj-preview>\n</mj-head>" + body},
		{"an empty preview", "<mjml><mj-head><mj-preview/></mj-head>" + body, "<mjml><mj-head><mj-preview>P</mj-preview></mj-head>" + body},
		{"two previews", "<mjml><mj-head><mj-preview>1</mj-preview><mj-title>t</mj-title><mj-preview>2</mj-preview></mj-head>" + body, "<mjml><mj-head><mj-preview>P</mj-preview><mj-title>t</mj-title></mj-head>" + body},
		{"a head behind the body", strings.Replace("<mjml>"+body, "</mjml>", "<mj-head></mj-head></mjml>", 1), strings.Replace("<mjml>"+body, "</mjml>", "<mj-head><mj-preview>P</mj-preview></mj-head></mjml>", 1)},
		{"in comments and HTML", "<!-- <mjml><mj-head> --><mjml><mj-raw><mj-head><mj-preview></mj-raw>" + body, "<!-- <mjml><mj-head> --><mjml><mj-head><mj-preview>P</mj-preview></mj-head><mj-raw><mj-head><mj-preview></mj-raw>" + body},
		{"default attributes", "<mjml><mj-head><mj-attributes><mj-preview/></mj-attributes></mj-head>" + body, "<mjml><mj-head><mj-preview>P</mj-preview><mj-attributes><mj-preview/></mj-attributes></mj-head>" + body},
		{"no MJML", "<mjml><mj-head>", "<mjml><mj-head>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := WithPreview(tt.source, "P"); got != tt.want {
				t.Errorf("WithPreview:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestThePreviewIsShown(t *testing.T) {
	t.Parallel()
	c := open(t)
	r, err := c.Compile(t.Context(), "owner", WithPreview(page("<mj-text>a</mj-text>"), "News of {{ day | default: '<today>' }}"))
	if err != nil || !strings.Contains(r.HTML, "overflow:hidden;\">News of {{ day | default: '<today>' }}</div>") {
		t.Errorf("there is no preview, %v: %s", err, r.HTML)
	}
}
