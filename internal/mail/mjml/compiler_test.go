package mjml

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// shared is the compiler of all tests that do not need one of their own:
// opening one takes a while.
var shared = sync.OnceValue(New)

// open returns the compiler of all tests.
func open(t testing.TB) *Compiler {
	t.Helper()
	c := shared()
	if !c.Available() {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no MJML compiler: scripts/mjml could not fetch it")
		}
		t.Skip("there is no MJML compiler: run make build where the npm registry can be reached")
	}
	return c
}

func TestLiquidComesThroughUnchanged(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, liquid := range []string{
		`{{name}}`,
		`{{ name | default: "<you> & 'me'" }}`,
		`{% if a < b and c > d %}`,
		`{%- assign x = "</mj-text>" -%}`,
		`{{ "-->" }}{{ '<!--' }}`,
		`{{ "a  b   c" }}`,
		"{% if a\n\n   or b %}{% endif %}",
		`{{ a | append: '">' }}`,
		`{% comment %} <mj-foo> " {% endcomment %}`,
		`{% raw %}{{ "<b " }}{% x " %}{% endraw %}`,
		`{{ "&amp; &lt; &eacute; é 🎉" }}`,
		`{{x}}{{y}}12{{z}}x`,
		`{% for i in (1..3) %}{{ i }}{% endfor %}`,
		`{{ a[0]['b"c'] }}`,
		`{{ '<![endif]-->   <!--[if mso | IE]>' }}`,
		`{{#section a}}{{item:b}}{{/section}}{{slot:c}}`,
	} {
		inText := "<" + liquid + "> a " + liquid + " b"
		inAttribute := "https://x.example/" + liquid + "?a=1&b=" + liquid
		r, err := c.Compile(t.Context(), "owner", `<mjml><mj-head>
			<mj-title>T `+liquid+`</mj-title><mj-preview>P `+liquid+`</mj-preview>
			<mj-style inline="inline">.a { color: red } td > a { border: 0 }</mj-style>
			<mj-html-attributes><mj-selector path="a"><mj-html-attribute name="data-x">X `+liquid+`</mj-html-attribute></mj-selector></mj-html-attributes>
			</mj-head><mj-body>
			<mj-raw>R `+liquid+`</mj-raw>
			<mj-section css-class="`+liquid+`" background-url="`+inAttribute+`"><mj-column>
			<mj-text css-class="a">A `+strings.Trim(inText, "<>")+`</mj-text>
			<mj-button href="`+inAttribute+`">B `+liquid+`</mj-button>
			<mj-image src="`+inAttribute+`" alt="`+liquid+`" />
			<mj-table><tr><td class="`+liquid+`">`+liquid+`</td></tr><tr `+liquid+`><td></td></tr></mj-table>
			<mj-raw><!--[if mso]>`+liquid+`<![endif]--></mj-raw>
			</mj-column></mj-section></mj-body></mjml>`)
		if err != nil {
			t.Errorf("%s: %v", liquid, err)
			continue
		}
		for _, want := range []string{
			"<title>T " + liquid + "</title>", ">P " + liquid + "</div>", "R " + liquid, ">A " + strings.Trim(inText, "<>") + "</div>",
			`href="` + inAttribute + `"`, "B " + liquid, `src="` + inAttribute + `"`, `alt="` + liquid + `"`,
			`<td class="` + liquid + `">` + liquid + `</td>`, "<tr " + liquid + ">", "<!--[if mso]>" + liquid + "<![endif]-->",
			`class="` + liquid + `"`, `class="` + liquid + `-outlook"`, `data-x="X ` + liquid + `"`, "url('" + inAttribute + "')",
		} {
			if !strings.Contains(r.HTML, want) {
				t.Errorf("%s: there is no %s in the HTML:\n%s", liquid, want, r.HTML)
			}
		}
		for _, w := range r.Warnings {
			t.Errorf("%s: warning in line %d: %s", liquid, w.Line, w.Message)
		}
		if strings.Contains(r.HTML, "liquid") {
			t.Errorf("%s: a word that stood for Liquid is left", liquid)
		}
	}
}

// TestLiquidBetweenElementsIsDropped is why there is a warning about it.
func TestLiquidBetweenElementsIsDropped(t *testing.T) {
	t.Parallel()
	c := open(t)
	r, err := c.Compile(t.Context(), "owner", page(`{% if a %}<mj-text>b</mj-text>{% endif %}<mj-raw>{% if c %}</mj-raw><mj-text>d</mj-text><mj-raw>{% endif %}</mj-raw>`))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.HTML, "{% if a %}") || strings.Count(r.HTML, "{% endif %}") != 1 || !strings.Contains(r.HTML, "{% if c %}") {
		t.Errorf("what is between elements should be gone, what is in mj-raw should not: %s", r.HTML)
	}
	if len(r.Warnings) != 2 || r.Warnings[0].Line != 5 {
		t.Errorf("the warnings are %v, want one for each of the two tags in line 5", r.Warnings)
	}
}

func TestFindingsNameTheLinesOfTheSource(t *testing.T) {
	t.Parallel()
	c := open(t)
	r, err := c.Compile(t.Context(), "owner", page("{% comment %}\n\n{% endcomment %}<mj-text>{{ a\n}}</mj-text>\n<mj-text color=\"{{ b }}\">c</mj-text>\n\n<mj-image nope='1'/>"))
	want := []Warning{
		{9, "mj-text", "Attribute color has invalid value: {{ b }} for type Color "},
		{11, "mj-image", "Attribute nope is illegal"},
	}
	if err != nil || !reflect.DeepEqual(r.Warnings, want) {
		t.Errorf("Compile warns %v, %v; want %v", r.Warnings, err, want)
	}
}

func TestABodyWithNothingToSeeCompilesToNothing(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, tt := range []struct {
		source string
		empty  bool
	}{
		{"<mjml><mj-body></mj-body></mjml>", true},
		{"<mjml><mj-body/></mjml>", true},
		{"<mjml><mj-head><mj-title>a</mj-title></mj-head><mj-body><!-- a --> b </mj-body></mjml>", true},
		{page(""), true},
		{page("<mj-raw> </mj-raw>"), true},
		{page("<mj-raw>{{a}}</mj-raw>"), false},
		{page("<mj-text></mj-text>"), false},
		{page("<mj-divider/>"), false},
		{`<mjml><mj-body><mj-section background-url="a"/></mj-body></mjml>`, false},
		{`<mjml><mj-body><mj-hero></mj-hero></mj-body></mjml>`, false},
	} {
		r, err := c.Compile(t.Context(), "owner", tt.source)
		if err != nil || (r.HTML == "") != tt.empty {
			t.Errorf("%s: %d bytes, %v; want nothing: %v", tt.source, len(r.HTML), err, tt.empty)
		}
	}
}

func TestEqualSourcesGiveEqualHTML(t *testing.T) {
	t.Parallel()
	c := open(t)
	source := page(`<mj-carousel><mj-carousel-image src="a"/></mj-carousel><mj-carousel><mj-carousel-image src="a"/></mj-carousel><mj-navbar hamburger="hamburger"><mj-navbar-link>a</mj-navbar-link></mj-navbar>`)
	first, err := c.Compile(t.Context(), "owner", source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile(t.Context(), "owner", strings.Replace(source, "a", "b", 1)); err == nil {
		t.Error("a document that begins with <mjbl> compiles")
	}
	second, err := New().compileOnce(t.Context(), source)
	if err != nil || first.HTML != second.HTML {
		t.Errorf("the same document compiles to something else the second time, %v:%s", err, difference(second.HTML, first.HTML))
	}
}

// compileOnce compiles and closes.
func (c *Compiler) compileOnce(ctx context.Context, source string) (Result, error) {
	defer c.Close()
	return c.Compile(ctx, "owner", source)
}

func TestTheCompilersOwnExceptionsAreErrors(t *testing.T) {
	t.Parallel()
	c := open(t)
	_, err := c.Compile(t.Context(), "owner", strings.Replace(page("<mj-text>a</mj-text>"), "<mjml>", `<mjml><mj-head><mj-html-attributes><mj-selector path="[[{{ a }}"><mj-html-attribute name="b">c</mj-html-attribute></mj-selector></mj-html-attributes></mj-head>`, 1))
	if e, ok := errors.AsType[*Error](err); !ok || strings.Contains(e.Message, "liquid") {
		t.Errorf("a selector that is none: %v, want an *Error", err)
	}
}

func TestADocumentLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c := open(t)
	before, err := c.Compile(t.Context(), "owner", page("<mj-text>before and after</mj-text>"))
	if err != nil {
		t.Fatal(err)
	}
	c.cache.clear()
	_, _ = c.Compile(t.Context(), "owner", strings.Replace(page(`<mj-text mj-class="__proto__ constructor" __proto__="a">a</mj-text>`), "<mjml>", `<mjml><mj-head><mj-attributes>
		<mj-class name="__proto__" color="red" tagName="mj-raw" /><mj-class name="constructor" color="red" /><mj-text __proto__="a" constructor="b" />
		</mj-attributes></mj-head>`, 1))
	after, err := c.Compile(t.Context(), "owner", page("<mj-text>before and after</mj-text>"))
	if err != nil || after.HTML != before.HTML {
		t.Errorf("a document compiles differently after another, %v:%s", err, difference(after.HTML, before.HTML))
	}
}
