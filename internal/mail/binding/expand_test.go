package binding

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tokens "golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// failer is what testing.T, testing.F and rapid.T have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// worstEnv is hostile data of a recipient.
type worstEnv struct{}

func (worstEnv) Lookup(string) (any, bool) { return `"><b x='y">{{z}}`, true }
func (worstEnv) Now() time.Time            { return time.Unix(0, 0) }

func render(t failer, source string, mode liquid.Mode) string {
	t.Helper()
	parsed, err := liquid.Parse(source, liquid.Options{Mode: mode})
	if err != nil {
		t.Fatalf("the Liquid of %q: %v", source, err)
	}
	out, err := parsed.Append(context.Background(), nil, worstEnv{}, nil)
	if err != nil {
		if _, ok := errors.AsType[*liquid.RenderError](err); ok || errors.Is(err, liquid.ErrLimit) {
			return ""
		}
		t.Fatalf("the Liquid of %q: %v", source, err)
	}
	return string(out)
}

// shape returns the elements and attributes of HTML, line breaks aside.
func shape(t failer, html string) string {
	t.Helper()
	root, err := tokens.Parse(strings.NewReader(html))
	if err != nil {
		t.Fatalf("parse %q: %v", html, err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch {
		case n.Type == tokens.CommentNode:
			b.WriteString("!")
		case n.Type == tokens.ElementNode && n.Data != "br":
			b.WriteString(" " + n.Data)
			for _, a := range n.Attr {
				b.WriteString("." + a.Key)
			}
		}
	}
	return b.String()
}

const shaped = `<p title="{{param:x}}" class='a {{param:x}}' lang={{param:x}}>{{param:x}}<b>{{ param:x }}</b></p>` +
	`<!-- {{param:x}} --><style>{{param:x}}</style><textarea>{{param:x}}</textarea><a href="https://x.example/{{x}}">{{x}}</a>{{param:x}}`

// checkShape fails if a value of that type has a meaning in HTML: before Liquid
// is rendered or after.
func checkShape(t failer, shaped string, typ Type, x string) {
	t.Helper()
	d, _, err := ParseDocument(Bodies{HTML: shaped}, Schema{Parameters: []Parameter{{Name: "x"}}})
	if err != nil {
		t.Fatalf("ParseDocument: %v", err)
	}
	v := Value{Type: typ, V: x}
	if typ == List {
		v.V = []string{x, "a", x}
	}
	got := d.Expand(Bound{Values: map[string]Value{"x": v}}).HTML
	want := strings.ReplaceAll(strings.ReplaceAll(shaped, "{{param:x}}", "v"), "{{x}}", "v")
	want = shape(t, strings.ReplaceAll(want, "{{ param:x }}", "v"))
	if got := markup.Mask(got); shape(t, got) != want {
		t.Fatalf("%s %q: before rendering %q has the shape %s, want %s", typ, x, got, shape(t, got), want)
	}
	if printed := render(t, got, liquid.HTML); printed != "" && shape(t, printed) != want {
		t.Fatalf("%s %q: %q has the shape %s, want %s", typ, x, printed, shape(t, printed), want)
	}
}

func TestValuesAreNoMarkup(t *testing.T) {
	types := []Type{Text, Textarea, URL, Image, Email, Color, Date, DateTime, Select, List}
	quoted := strings.ReplaceAll(shaped, " lang={{param:x}}", "")
	check := func(t failer, typ Type, x string) {
		checkShape(t, quoted, typ, x)
		if strings.TrimSpace(x) != "" && !hasLiquid(x) { // what an output prints is for the author to quote
			checkShape(t, shaped, typ, x)
		}
	}
	for _, x := range hostile {
		for _, typ := range types {
			check(t, typ, x)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, rapid.SampledFrom(types).Draw(rt, "type"), anything().Draw(rt, "x"))
	})
}

// A text without Liquid is unchanged after rendering.
func TestTextsSurvive(t *testing.T) {
	d := mustParse(t, Bodies{HTML: `<p title="{{param:x}}">{{param:x}}</p>`, Text: "[{{param:x}}]"}, Schema{Parameters: []Parameter{{Name: "x"}}})
	rapid.Check(t, func(rt *rapid.T) {
		x := strings.Map(func(r rune) rune {
			if r == '\r' || r == '\n' || printable(r) != r || r > 0xffff || r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f' {
				return '.'
			}
			return r
		}, anything().Draw(rt, "x"))
		if checkLiquid(Text, x) == "" && hasLiquid(x) {
			return
		}
		b := d.Expand(Bound{Values: map[string]Value{"x": {Text, x}}})
		if got := render(rt, b.Text, liquid.Text); got != "["+x+"]" {
			rt.Errorf("text: %q reads %q", x, got)
		}
		root, err := tokens.Parse(strings.NewReader(render(rt, b.HTML, liquid.HTML)))
		if err != nil {
			rt.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type != tokens.ElementNode || n.Data != "p" {
				continue
			}
			if len(n.Attr) != 1 || n.Attr[0].Val != x {
				rt.Errorf("attribute: %q reads %q", x, n.Attr)
			}
			if x != "" && n.FirstChild.Data != x {
				rt.Errorf("text: %q reads %q", x, n.FirstChild.Data)
			}
		}
	})
}

// Whatever the values are, the Liquid of the bodies can be parsed if that of the
// template can.
func TestLiquidStaysWhole(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"{{param:x}}", "{{param:y}}", "{{x}}", "{{y}}", "{", "}", "%", "{{ a }}", "{% if a %}", "{% endif %}", "{% for x in y %}", "{% endfor %}",
		"{{#section s}}", "{{/section}}", "{{item:x}}", "{{item:_last}}", "{% if {{item:y}} == {{param:x}} %}", "{{item:x | upcase}}", "{{param:y | size}}",
		"{{slot:b}}", "<p>", `<a href="`, `'`, `">`, "<style>", "</style>", "<!--", "-->", "\n", " ", "{% raw %}", "{% endraw %}", "{{{", "}}}", "{% comment %}", "{% endcomment %}",
	})
	var all []Parameter
	for _, name := range []string{"x", "y"} {
		all = append(all, Parameter{Name: name})
	}
	s := Schema{Parameters: all, Sections: []Section{{Name: "s", Item: all}}, Slots: []Slot{{Name: "b"}}}
	block := &Block{Schema: s, Bodies: Bodies{HTML: "}{{param:x}}{% if param.x %}{{y}}{% endif %}{", MJML: "<mj-text>{{x}}{{y}}</mj-text>"}}
	types := []Type{Text, Textarea, RichText, RawHTML, URL, List}
	used := 0
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "template"), "")
		d, _, err := ParseDocument(Bodies{Subject: body, HTML: body, MJML: body, Text: body}, s)
		if err != nil {
			if d, _, err = ParseDocument(Bodies{HTML: body, MJML: body, Text: body}, s); err != nil {
				return
			}
		}
		values := func(label string) map[string]Value {
			m := map[string]Value{}
			for _, name := range []string{"x", "y"} {
				typ := rapid.SampledFrom(types).Draw(rt, label+" type")
				v := Value{Type: typ, V: anything().Draw(rt, label)}
				if typ == List {
					v.V = []string{anything().Draw(rt, label), v.V.(string)}
				}
				m[name] = v
			}
			return m
		}
		tame := map[string]Value{"x": {Text, "v"}, "y": {Text, "v"}}
		of := func(v, inner map[string]Value, rows ...map[string]Value) Bodies {
			return d.Expand(Bound{Values: v, Rows: map[string][]map[string]Value{"s": rows}, Slots: map[string]Filling{"b": {Block: block, Bound: Bound{Values: inner}}}})
		}
		full, bare := of(tame, tame, tame), of(nil, nil)
		b := of(values("value"), values("block's"), values("row's"), values("row's"))
		for _, f := range []form{subjectForm, htmlForm, mjmlForm, plainForm} {
			_, err := liquid.Parse(full.of(f), liquid.Options{})
			_, err2 := liquid.Parse(bare.of(f), liquid.Options{})
			if errors.Join(err, err2) != nil {
				continue // an invalid template
			}
			used++
			if _, err := liquid.Parse(b.of(f), liquid.Options{}); err != nil {
				rt.Errorf("%q becomes %q: %v", body, b.of(f), err)
			}
		}
	})
	if used == 0 {
		t.Error("no template was good enough to be tested")
	}
}

// MJML stays well-formed XML.
func TestMJMLStaysWellFormed(t *testing.T) {
	d := mustParse(t, Bodies{MJML: `<mjml><mj-text title="{{param:x}}" b='{{x}}'>{{param:x}}</mj-text><!-- {{x}} --><mj-title>{{x}}</mj-title>{{slot:b}}</mjml>`},
		Schema{Parameters: []Parameter{{Name: "x"}}, Slots: []Slot{{Name: "b"}}})
	types := []Type{Text, Textarea, RichText, URL, Select, List}
	check := func(t failer, typ Type, x string) {
		v := Value{Type: typ, V: x}
		if typ == List {
			v.V = []string{x, x}
		}
		got := d.Expand(Bound{Values: map[string]Value{"x": v}, Slots: map[string]Filling{"b": {Notice: x}}}).MJML
		decoder := xml.NewDecoder(strings.NewReader(markup.Mask(got)))
		for {
			if _, err := decoder.Token(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("%s %q: %q is not XML: %v", typ, x, got, err)
			}
		}
	}
	for _, x := range hostile {
		for _, typ := range types {
			check(t, typ, x)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, rapid.SampledFrom(types).Draw(rt, "type"), anything().Draw(rt, "x"))
	})
}

// Values are not parsed for placeholders.
func TestValuesAreNoPlaceholders(t *testing.T) {
	s := Schema{
		Parameters: []Parameter{{Name: "x"}, {Name: "secret"}}, Sections: []Section{{Name: "s", Item: []Parameter{{Name: "f"}}}},
		Slots: []Slot{{Name: "b"}},
	}
	d := mustParse(t, Bodies{Subject: "{{x}}", HTML: "{{x}}{{#section s}}{{item:f}}{{/section}}{{slot:b}}", Text: "{{x}}"}, s)
	secret := Value{Text, "SECRET"}
	rapid.Check(t, func(rt *rapid.T) {
		try := rapid.SliceOfN(rapid.SampledFrom([]string{
			"{{param:secret}}", "{{secret}}", "{{item:secret}}", "{{#section s}}", "{{/section}}", "{{slot:b}}", "{{", "}}", "param:secret", "secret", "{", "}", " ", "{{item:f}}",
		}), 1, 6).Draw(rt, "x")
		v := Value{rapid.SampledFrom([]Type{Text, Textarea, RichText, RawHTML, URL}).Draw(rt, "type"), strings.Join(try, "")}
		b := d.Expand(Bound{
			Values: map[string]Value{"x": v, "secret": secret},
			Rows:   map[string][]map[string]Value{"s": {{"f": v, "secret": secret}}},
			Slots: map[string]Filling{"b": {Block: &Block{Schema: s, Bodies: Bodies{HTML: "{{param:x}}"}}, Bound: Bound{
				Values: map[string]Value{"x": v, "secret": secret},
			}}},
		})
		for _, body := range []string{b.Subject, b.HTML, b.Text} {
			if strings.Contains(body, "SECRET") {
				rt.Fatalf("%q becomes %q", v.V, body)
			}
		}
	})
}

// With more than linear time, this would take minutes.
func TestExpandIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("a megabyte of each takes long under the race detector")
	}
	t.Parallel()
	s := Schema{Parameters: []Parameter{{Name: "x"}}, Sections: []Section{{Name: "s"}}}
	for _, body := range []string{
		strings.Repeat("{{param:x}}", 100_000), strings.Repeat("{{", 15_000), strings.Repeat("{", 215_000), strings.Repeat("{% if {{param:x}} ", 15_000),
		strings.Repeat("{{#section s}}", 15_000), strings.Repeat("{{#section s}}{{/section}}", 10_000), strings.Repeat("{{#section s}}{% if a %}{{/section}}", 5_000),
		strings.Repeat("{% if a %}{{#section s}}{% endif %}{% if a %}{{/section}}{% endif %}", 10_000), strings.Repeat("<p title='", 100_000), strings.Repeat("<!--", 50_000), strings.Repeat("<style>", 100_000), strings.Repeat("<mj-a>", 115_000),
		strings.Repeat("{% raw %}", 100_000), strings.Repeat("{% comment %}", 20_000), strings.Repeat("{{ x | upcase }}", 15_000), strings.Repeat("{{ param.x }}", 15_000),
		strings.Repeat(" ", 15_000) + "{{#section s}}" + strings.Repeat(" ", 15_000), strings.Repeat("{{ '", 50_000),
	} {
		d, _, err := ParseDocument(Bodies{HTML: body, MJML: body, Text: body, Subject: body}, s)
		if err == nil {
			d.Expand(Bound{Values: map[string]Value{"x": {Text, body[:100]}}})
		}
		for _, typ := range []Type{Text, Textarea, RawHTML} {
			if out := escaped(prepared(Value{typ, body}, "b"), where{form: htmlForm}); len(out) > 8*len(body) {
				t.Errorf("%.30q…: %d bytes become %d", body, len(body), len(out))
			}
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, x := range hostile {
		f.Add(shaped, x)
		f.Add(x+"{{param:x}}"+x, x)
	}
	f.Fuzz(func(t *testing.T, body, x string) {
		s := Schema{Parameters: []Parameter{{Name: "x"}}, Sections: []Section{{Name: "s", Item: []Parameter{{Name: "x"}}}}, Slots: []Slot{{Name: "b"}}}
		d, _, err := ParseDocument(Bodies{Subject: body, HTML: body, MJML: body, Text: body}, s)
		if err != nil {
			if !errors.Is(err, ErrReference) {
				t.Errorf("ParseDocument(%q) = %v", body, err)
			}
			return
		}
		of := func(v Value) Bodies {
			values := map[string]Value{"x": v}
			return d.Expand(Bound{Values: values, Rows: map[string][]map[string]Value{"s": {values, values}}, Slots: map[string]Filling{"b": {Notice: "n"}}})
		}
		full, bare := of(Value{Text, "v"}), of(Value{})
		for _, typ := range []Type{Text, Textarea, RichText, RawHTML, URL} {
			got := of(Value{typ, x})
			for _, f := range []form{subjectForm, htmlForm, mjmlForm, plainForm} {
				_, err := liquid.Parse(full.of(f), liquid.Options{})
				_, err2 := liquid.Parse(bare.of(f), liquid.Options{})
				if errors.Join(err, err2) != nil {
					continue // an invalid template
				}
				if _, err := liquid.Parse(got.of(f), liquid.Options{}); err != nil && !strings.Contains(err.Error(), "deeper") {
					t.Errorf("%q with %s %q becomes %q: %v", body, typ, x, got.of(f), err)
				}
			}
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	s := everything()
	var html strings.Builder
	values := map[string]Value{}
	s.Parameters = nil
	for i := range 100 {
		name := fmt.Sprintf("p%d", i)
		s.Parameters = append(s.Parameters, Parameter{Name: name, Type: Text})
		values[name] = Value{Text, `Some words & a merge field, {{ first_name | default: "you" }}`}
		fmt.Fprintf(&html, "<p style=\"margin:0\" title=\"{{param:%s}}\">%s {{param:%s}}</p>\n", name, strings.Repeat("lorem ipsum ", 20), name)
	}
	html.WriteString("{{#section rows}}<td>{{item:text}} {{item:url}}</td>{{/section}}")
	rows := make([]map[string]Value, 20)
	for i := range rows {
		rows[i] = texts("text", "a <b>", "url", "https://x.example/?a&b")
	}
	body := html.String()
	bound := Bound{Values: values, Rows: map[string][]map[string]Value{"rows": rows}}
	d := mustParse(b, Bodies{HTML: body}, s)
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			mustParse(b, Bodies{HTML: body}, s)
		}
	})
	b.Run("expand", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			d.Expand(bound)
		}
	})
}

// The text of a block that has none of its own, and of values with HTML, is text for every recipient: their
// Liquid prints no markup there.
func TestTextsOfHTMLPrintNoMarkup(t *testing.T) {
	vars := liquid.Values{Vars: map[string]any{"name": "O'Brien & Sons", "bio": "first\nsecond", "rich": "<b>bold</b> words"}}
	for source, want := range map[string]string{
		"{{ name }}":                                  "O'Brien & Sons",
		"{{ name | escape }}":                         "O'Brien & Sons",
		"{{- name|escape_once -}}":                    "O'Brien & Sons",
		"{{ name | escape | upcase }}":                "O'BRIEN & SONS",
		"{{ bio | newline_to_br }}":                   "first\nsecond",
		"{{ bio | escape | newline_to_br | raw }}":    "first\nsecond",
		"{{ rich | raw }}":                            "bold words",
		`{{ nothing | default: "a | raw" }}`:          "a | raw",
		`{{ nothing | default: 'a "|" b' | escape }}`: `a "|" b`,
		"{% if name %}{{ name | escape }}{% endif %}": "O'Brien & Sons",
		"{% raw %}{{ name | escape }}{% endraw %}":    "{{ name | escape }}",
	} {
		block := &Block{Bodies: Bodies{HTML: "<p>" + source + "</p>"}}
		d := mustParse(t, Bodies{HTML: "{{slot:b}}", Text: "{{slot:b}};{{x}}"}, Schema{Parameters: []Parameter{{Name: "x", Type: RawHTML}}, Slots: []Slot{{Name: "b"}}})
		made := d.Expand(Bound{Values: map[string]Value{"x": {RawHTML, "<p>" + source + "</p>"}}, Slots: map[string]Filling{"b": {Strategy: Fixed, Block: block}}})
		parsed, err := liquid.Parse(made.Text, liquid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsed.Append(t.Context(), nil, vars, nil)
		if want += ";" + want; err != nil || string(got) != want {
			t.Errorf("%s is %q, which reads %q, want %q (%v)", source, made.Text, got, want, err)
		}
		if !strings.Contains(made.HTML, source) {
			t.Errorf("the HTML of %s is %s", source, made.HTML)
		}
	}
}
