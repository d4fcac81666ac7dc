package mjml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
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
		r, err := c.Compile(t.Context(), `<mjml><mj-head>
			<mj-title>T `+liquid+`</mj-title><mj-preview>P `+liquid+`</mj-preview>
			<mj-style inline="inline">.a { color: red } td > a { border: 0 }</mj-style>
			<mj-html-attributes><mj-selector path="a"><mj-html-attribute name="data-x">X `+liquid+`</mj-html-attribute></mj-selector></mj-html-attributes>
			</mj-head><mj-body>
			<mj-raw>R `+liquid+`</mj-raw>
			<mj-section css-class="`+liquid+`" background-url="`+inAttribute+`"><mj-column>
			<mj-text css-class="a">A `+strings.Trim(inText, "<>")+`</mj-text>
			<mj-button href="`+inAttribute+`">B `+liquid+`</mj-button>
			<mj-image src="`+inAttribute+`" alt="`+liquid+`" />
			<mj-table><tr><td class="`+liquid+`">`+liquid+`</td></tr></mj-table>
			<mj-raw><!--[if mso]>`+liquid+`<![endif]--></mj-raw>
			</mj-column></mj-section></mj-body></mjml>`)
		if err != nil {
			t.Errorf("%s: %v", liquid, err)
			continue
		}
		for _, want := range []string{
			"<title>T " + liquid + "</title>", ">P " + liquid + "</div>", "R " + liquid, ">A " + strings.Trim(inText, "<>") + "</div>",
			`href="` + inAttribute + `"`, "B " + liquid, `src="` + inAttribute + `"`, `alt="` + liquid + `"`,
			`<td class="` + liquid + `">` + liquid + `</td>`, "<!--[if mso]>" + liquid + "<![endif]-->",
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
	r, err := c.Compile(t.Context(), page(`{% if a %}<mj-text>b</mj-text>{% endif %}<mj-raw>{% if c %}</mj-raw><mj-text>d</mj-text><mj-raw>{% endif %}</mj-raw>`))
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
	r, err := c.Compile(t.Context(), page("{% comment %}\n\n{% endcomment %}<mj-text>{{ a\n}}</mj-text>\n<mj-text color=\"{{ b }}\">c</mj-text>\n\n<mj-image nope='1'/>"))
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
		r, err := c.Compile(t.Context(), tt.source)
		if err != nil || (r.HTML == "") != tt.empty {
			t.Errorf("%s: %d bytes, %v; want nothing: %v", tt.source, len(r.HTML), err, tt.empty)
		}
	}
}

// TestElementsAreThoseOfTheCompiler holds our table against the compiler: it has
// these elements, and it leaves what is in those of HTML alone.
func TestElementsAreThoseOfTheCompiler(t *testing.T) {
	t.Parallel()
	open(t)
	m, err := openMachine(maxTime)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for name, kind := range known {
		source := "<" + name + "><x-y></x-y></" + name + ">"
		switch {
		case name == "mj-body":
			source = "<mjml>" + source + "</mjml>"
		case name == "mj-head":
			source = "<mjml>" + source + "<mj-body/></mjml>"
		case slices.Contains(inHead, name):
			source = "<mjml><mj-head>" + source + "</mj-head><mj-body/></mjml>"
		case name != "mjml":
			source = "<mjml><mj-body>" + source + "</mj-body></mjml>"
		default:
			source = strings.Replace(source, "</mjml>", "<mj-body/></mjml>", 1)
		}
		o, err := m.compile(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found := map[string]bool{}
		for _, f := range o.Findings {
			if strings.Contains(f.Message, "doesn't exist or is not registered") {
				found[f.Tag] = true
			}
		}
		if found[name] || found["x-y"] != (kind == elements) {
			t.Errorf("%s: the compiler does not know %v, and ours is of kind %d", name, found, kind)
		}
	}
}

// TestContentEndsWhereTheCompilerEndsIt: HTML hides end tags in many ways.
func TestContentEndsWhereTheCompilerEndsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a hundred documents")
	}
	t.Parallel()
	open(t)
	m, err := openMachine(maxTime)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	pieces := strings.Split("a| |\n|<|>|</|/>|\"|'|=|</mj-text>|</mj-text |<mj-text>|<mj-text/>|<mj-raw>|</mj-raw>|<div>|</div>|<p>|</p>|<br>|<li>|<b |<a href=|<a href=\"|<a href='|<!--|-->|--|<!|<!-|<!x>|<![CDATA[|]]>|<?|?>|<script>|</script>|<style>|</style>|<STYLE>|</Style |<title>|</title>|<textarea>|</textarea>|<1>|</ x>|<>|</>|<tr>|<td>|<p/>|<svg>|x=y|/", "|")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
		source := "<mjml><mj-body><mj-text>" + text + "</mj-text></mj-body></mjml>"
		s := contentScanner{scanner: newScanner(source), name: "mj-text", outside: []string{"mjml", "mj-body"}, count: map[string]int{}, inside: func(string, int) {}}
		s.pos = len("<mjml><mj-body><mj-text>")
		want, err := s.end(0)
		if err != nil {
			return // refused
		}
		got, err := m.vm.Call("(function (s) { return mjml(s).json.children[0].children[0].content || '' })", source)
		if err != nil || got != strings.TrimFunc(want, isSpace) {
			t.Fatalf("%q: the compiler reads %q, %v; we read %q", source, got, err, want)
		}
	})
}

func TestEqualSourcesGiveEqualHTML(t *testing.T) {
	t.Parallel()
	c := open(t)
	source := page(`<mj-carousel><mj-carousel-image src="a"/></mj-carousel><mj-carousel><mj-carousel-image src="a"/></mj-carousel><mj-navbar hamburger="hamburger"><mj-navbar-link>a</mj-navbar-link></mj-navbar>`)
	first, err := c.Compile(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile(t.Context(), strings.Replace(source, "a", "b", 1)); err == nil {
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
	return c.Compile(ctx, source)
}

func TestConcurrentCallersGetTheirOwnDocument(t *testing.T) {
	t.Parallel()
	c := open(t)
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			want := fmt.Sprintf("document %d of four", n%4)
			r, err := c.Compile(t.Context(), page("<mj-text>"+want+"</mj-text><mj-text nope='1'/>"))
			if err != nil || !strings.Contains(r.HTML, want) || len(r.Warnings) != 1 {
				t.Errorf("%s: %d bytes, %v, %v", want, len(r.HTML), r.Warnings, err)
				return
			}
			r.Warnings[0].Message = "mine" // the next one's are not touched
		})
	}
	wg.Wait()
}

func TestWhoeverWaitsMayGiveUp(t *testing.T) {
	t.Parallel()
	open(t)
	c := New()
	defer c.Close()
	c.turn <- struct{}{} // somebody has the interpreter
	ctx, cancel := context.WithCancelCause(t.Context())
	tired := errors.New("tired")
	cancel(tired)
	if _, err := c.Compile(ctx, page("<mj-text>a</mj-text>")); !errors.Is(err, tired) {
		t.Errorf("Compile = %v, want %v", err, tired)
	}
	<-c.turn
	if _, err := c.Compile(ctx, page("<mj-text>a</mj-text>")); !errors.Is(err, tired) {
		t.Errorf("Compile = %v, want %v", err, tired)
	}
}

// TestADocumentMayNotTakeTooMuch: time, memory and depth end with ErrTooMuch, a
// caller who goes away with the context's error, and the next document compiles.
func TestADocumentMayNotTakeTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for limits")
	}
	t.Parallel()
	open(t)
	c := New()
	c.limit = 400 * time.Millisecond * patience
	defer c.Close()
	head := func(inside, body string) string {
		return strings.Replace(page(body), "<mjml>", "<mjml><mj-head>"+inside+"</mj-head>", 1)
	}
	for _, tt := range []struct {
		name, source string
		patience     time.Duration // of the caller
		want         error
	}{
		{"time", page(strings.Repeat("<mj-text>a</mj-text>", 30_000)), time.Hour, ErrTooMuch},
		{"memory", head(`<mj-attributes><mj-all css-class="`+strings.Repeat("x", 500_000)+`"/></mj-attributes>`, strings.Repeat("<mj-text>a</mj-text>", 200)), time.Hour, ErrTooMuch},
		{"depth", head(`<mj-style inline="inline">.a b { color: red }</mj-style>`, "<mj-text>"+strings.Repeat("<div>", 5000)+"</mj-text>"), time.Hour, ErrTooMuch},
		{"pattern", head(`<mj-font name="([^x]*)*y" href="x"/>`, "<mj-text>"+strings.Repeat(`"font-family:aaaaaaaaaaaaaaaaaaaa`, 1000)+"</mj-text>"), time.Hour, ErrTooMuch},
		{"caller gone", page(strings.Repeat("<mj-text>b</mj-text>", 30_000)), 100 * time.Millisecond, context.DeadlineExceeded},
	} {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), tt.patience)
		r, err := c.Compile(ctx, tt.source)
		cancel()
		if took := time.Since(start); !errors.Is(err, tt.want) || took > 10*time.Second*patience {
			t.Errorf("%s: %d bytes, %v after %v; want %v", tt.name, len(r.HTML), err, took, tt.want)
		}
		if r, err := c.Compile(t.Context(), page("<mj-text>after "+tt.name+"</mj-text>")); err != nil || r.HTML == "" {
			t.Errorf("after %s: %v", tt.name, err)
		}
	}
}

func TestTheCompilersOwnExceptionsAreErrors(t *testing.T) {
	t.Parallel()
	c := open(t)
	_, err := c.Compile(t.Context(), strings.Replace(page("<mj-text>a</mj-text>"), "<mjml>", `<mjml><mj-head><mj-html-attributes><mj-selector path="[[{{ a }}"><mj-html-attribute name="b">c</mj-html-attribute></mj-selector></mj-html-attributes></mj-head>`, 1))
	if e, ok := errors.AsType[*Error](err); !ok || strings.Contains(e.Message, "liquid") {
		t.Errorf("a selector that is none: %v, want an *Error", err)
	}
}

func TestADocumentLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c := open(t)
	before, err := c.Compile(t.Context(), page("<mj-text>before and after</mj-text>"))
	if err != nil {
		t.Fatal(err)
	}
	c.cache.clear()
	_, _ = c.Compile(t.Context(), strings.Replace(page(`<mj-text mj-class="__proto__ constructor" __proto__="a">a</mj-text>`), "<mjml>", `<mjml><mj-head><mj-attributes>
		<mj-class name="__proto__" color="red" tagName="mj-raw" /><mj-class name="constructor" color="red" /><mj-text __proto__="a" constructor="b" />
		</mj-attributes></mj-head>`, 1))
	after, err := c.Compile(t.Context(), page("<mj-text>before and after</mj-text>"))
	if err != nil || after.HTML != before.HTML {
		t.Errorf("a document compiles differently after another, %v:%s", err, difference(after.HTML, before.HTML))
	}
}

func TestAnIdleInterpreterIsClosed(t *testing.T) {
	t.Parallel()
	open(t)
	synctest.Test(t, func(t *testing.T) {
		c := New()
		n := 0
		compile := func() {
			t.Helper()
			n++
			if _, err := c.Compile(t.Context(), page(fmt.Sprintf("<mj-text>%d</mj-text>", n))); err != nil {
				t.Fatal(err)
			}
		}
		compile()
		time.Sleep(idleTime - time.Second)
		compile()
		time.Sleep(idleTime - time.Second)
		synctest.Wait()
		if c.machine == nil || c.cache.bytes == 0 {
			t.Error("the interpreter is closed before its minute is over")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if c.machine != nil || c.cache.bytes != 0 {
			t.Error("the interpreter is open after an idle minute")
		}
		compile()
		c.Close()
		if c.machine != nil {
			t.Error("the interpreter is open after Close")
		}
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c cache
	for n := range byte(20) {
		c.put([32]byte{n}, Result{HTML: strings.Repeat("x", maxCache/10)})
		c.get([32]byte{0}) // is in use, and stays
	}
	_, first := c.get([32]byte{0})
	_, second := c.get([32]byte{1})
	_, last := c.get([32]byte{19})
	if c.bytes > maxCache || c.order.Len() != 9 || !first || second || !last {
		t.Errorf("%d bytes in %d results, first %v, second %v, last %v", c.bytes, c.order.Len(), first, second, last)
	}
	c.put([32]byte{99}, Result{HTML: strings.Repeat("x", maxCache)})
	if _, ok := c.get([32]byte{99}); ok {
		t.Error("a result that is all the cache may hold is kept")
	}
}

func TestWithoutTheCompiler(t *testing.T) {
	t.Parallel()
	if New().Available() {
		t.Skip("this program has it")
	}
	if _, err := New().Compile(t.Context(), page("<mj-text>a</mj-text>")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Compile = %v, want %v", err, ErrUnavailable)
	}
}

func BenchmarkCompile(b *testing.B) {
	c := open(b)
	all := documents(b)
	for _, tt := range []struct {
		name, source string
		cached       bool
	}{
		{"small", all["no-head"], false},
		{"large", all["newsletter"], false},
		{"cached", all["newsletter"], true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.source)))
			for b.Loop() {
				if !tt.cached {
					c.cache.clear()
				}
				if _, err := c.Compile(b.Context(), tt.source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			m, err := openMachine(maxTime)
			if err != nil {
				b.Fatal(err)
			}
			m.close()
		}
	})
	b.Run("check", func(b *testing.B) {
		source := all["newsletter"]
		b.SetBytes(int64(len(source)))
		for b.Loop() {
			if _, err := Check(source); err != nil {
				b.Fatal(err)
			}
		}
	})
}
