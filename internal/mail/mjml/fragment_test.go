package mjml

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestFragmentsStandInTheBodyOrInAColumn(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, tt := range []struct {
		name, source string
		warnings     []Warning
		err          string
	}{
		{name: "nothing"},
		{name: "section", source: "<mj-section><mj-column><mj-text>{{param:a}}</mj-text></mj-column></mj-section>"},
		{name: "hero and wrapper", source: "<!-- a --><mj-hero></mj-hero><mj-wrapper/>"},
		{name: "text", source: "\n<mj-text>a</mj-text>\n<mj-button href='{{param:url}}'>b</mj-button>"},
		{name: "raw", source: "<mj-raw><p>a</p></mj-raw>"},
		{name: "raw and text", source: "<mj-raw>a</mj-raw><mj-text>a</mj-text>"},
		{name: "rows", source: "{{#section a}}\n<mj-text nope=''>{{item:b}}</mj-text>\n{{/section}}",
			warnings: []Warning{{2, "mj-text", "Attribute nope is illegal"}}},
		{name: "column", source: "\n<mj-column/>", err: "mjml: line 2: <mj-column> can stand neither in mj-body nor in mj-column"},
		{name: "both", source: "<mj-text/>\n<mj-section/>", err: "mjml: line 2: <mj-section> and <mj-text> stand side by side: one belongs in mj-body, the other in mj-column"},
		{name: "both, other way", source: "<mj-section/>\n\n<mj-text/>", err: "mjml: line 3: <mj-section> and <mj-text> stand side by side: one belongs in mj-body, the other in mj-column"},
		{name: "document", source: "<mjml><mj-body/></mjml>", err: "mjml: line 1: <mjml> is no part of a fragment, which stands inside mj-body"},
		{name: "body inside", source: "<mj-section><mj-body/></mj-section>", err: "mjml: line 1: <mj-body> is no part of a fragment, which stands inside mj-body"},
		{name: "out of its place", source: "<mj-text/></mj-column>", err: "mjml: line 1: </mj-column> ends nothing"},
		{name: "open", source: "<mj-section>", err: "mjml: line 1: <mj-section> is not closed"},
		{name: "open text", source: "\n<mj-text>", err: "mjml: line 2: <mj-text> is not closed"},
		{name: "unknown", source: "\n<mj-foo/>", err: "mjml: line 2: there is no element <mj-foo>"},
		{name: "only text", source: "hello", warnings: []Warning{{1, "mj-body", "text between elements is dropped: put it into mj-text or mj-raw"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := CheckFragment(t.Context(), c, "owner", tt.source)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != tt.err || !reflect.DeepEqual(got, tt.warnings) {
				t.Errorf("CheckFragment says %v, %q; want %v, %q", got, message, tt.warnings, tt.err)
			}
		})
	}
	if _, err := CheckFragment(t.Context(), c, "owner", "<mj-divider"); err == nil {
		t.Error("a tag that is cut off is fine")
	} else if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("a tag that is cut off is %v", err)
	}
}

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
