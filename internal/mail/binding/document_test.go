package binding

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// everything declares a parameter of each type, a section with the same fields,
// and two slots.
func everything() Schema {
	var params []Parameter
	for _, t := range []Type{Text, Textarea, RichText, RawHTML, URL, Image, Email, Color, Number, Boolean, Date, DateTime, Select, List} {
		params = append(params, Parameter{Name: string(t), Type: t})
	}
	return Schema{
		Parameters: params,
		Sections:   []Section{{Name: "rows", Max: 200, Item: params}, {Name: "others", Max: 200, Item: params}},
		Slots:      []Slot{{Name: "hero"}, {Name: "foot"}},
	}
}

func texts(pairs ...string) map[string]Value {
	m := map[string]Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = Value{Type: Type(pairs[i]), V: pairs[i+1]}
	}
	return m
}

func mustParse(t testing.TB, b Bodies, s Schema) *Document {
	t.Helper()
	d, _, err := ParseDocument(b, s)
	if err != nil {
		t.Fatalf("ParseDocument(%+v) = %v", b, err)
	}
	return d
}

func TestPlaceholders(t *testing.T) {
	bound := Bound{
		Values: texts("text", "T", "url", "https://u.example/?a=1&b=2"),
		Rows: map[string][]map[string]Value{
			"rows": {texts("text", "A"), texts("text", "B"), texts("text", "C")},
		},
	}
	for _, tt := range []struct{ name, body, want string }{
		{"a parameter", "x {{param:text}} y", "x T y"},
		{"spaces", "{{ param : text }}{{\n text\t}}", "TT"},
		{"the short form", "{{text}} {{first_name}}", "T {{first_name}}"},
		{"filters make it Liquid", "{{ text | upcase }}", "{{ text | upcase }}"},
		{"three braces are text", "{{{param:text}}}", "{{{param:text}}}"},
		{"one brace before", "{{{param:text}}", "{T"},
		{"one brace after", "a{b:{{param:text}}}", "a{b:T}"},
		{"raw", "{% raw %}{{param:text}}{% endraw %}{{param:text}}", "{% raw %}{{param:text}}{% endraw %}T"},
		{"comment", "{% comment %}{{param:nope}}{% endcomment %}", "{% comment %}{{param:nope}}{% endcomment %}"},
		{"in a tag", `{% assign x = "{{param:text}}" %}`, `{% assign x = "{{param:text}}" %}`},
		{"a section", "{{#section rows}}<{{item:text}}>{{/section}}", "<A><B><C>"},
		{"no rows", "a{{#section others}}<{{item:text}}>{{/section}}b", "ab"},
		{"the names of rows", "{{# section rows }}{{item:_index}}{{item:_first}}{{item:_last}} {{ / section rows }}", "1truefalse 2falsefalse 3falsetrue "},
		{"a parameter in a section", "{{#section rows}}{{param:text}}{{/section}}", "TTT"},
		{"a merge field in a section", "{{#section rows}}{{text}}{{/section}}", "{{text}}{{text}}{{text}}"},
		{"lines of their own", "a\n  {{#section rows}}  \n- {{item:text}}\n{{/section}}\nb", "a\n- A\n- B\n- C\nb"},
		{"lines with something else", "a {{#section rows}}\n{{item:text}}{{/section}}\nb", "a \nA\nB\nC\nb"},
		{"absent", "[{{param:number}}]", "[]"},
		{"filters", `{{param:text | upcase}} {{#section rows}}{{item:text | append: "x"}}{{/section}}`, `{{ param.text | upcase }} {{ "A" | append: "x" }}{{ "B" | append: "x" }}{{ "C" | append: "x" }}`},
		{"values in tags", `{{#section rows}}{% if {{item:_first}} or {{ item:number }} == {{param:number}} %}1{% endif %}{{/section}}`, "{% if true or nil == param.number %}1{% endif %}{% if false or nil == param.number %}1{% endif %}{% if false or nil == param.number %}1{% endif %}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mustParse(t, Bodies{Text: tt.body, HTML: ""}, everything()).Expand(bound).Text
			if got != tt.want {
				t.Errorf("Expand(%q) = %q, want %q", tt.body, got, tt.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bodies Bodies
		want   []Reference
	}{
		{"undeclared, everywhere", Bodies{
			Subject: "{{param:a}}",
			HTML:    "\n{{param:b}}\n\n{{slot:c}}{{param:text}}",
			Text:    "{{#section d}}{{item:x}}{{/section}}\n{{#section rows}}\n{{item:e}}{{/section}}",
		}, []Reference{
			{"{{#section d}}", "content_text", 1}, {"{{item:e}}", "content_text", 3},
			{"{{param:a}}", "subject", 1},
			{"{{param:b}}", "content_html", 2}, {"{{slot:c}}", "content_html", 4},
		}},
		{"in the subject", Bodies{Subject: "{{slot:hero}}{{#section rows}}{{item:text}}{{/section}}"}, []Reference{
			{"{{slot:hero}}", "subject", 1}, {"{{#section rows}}", "subject", 1}, {"{{item:text}}", "subject", 1},
		}},
		{"an item outside", Bodies{HTML: "{{item:text}}"}, []Reference{{"{{item:text}}", "content_html", 1}}},
		{"nested", Bodies{HTML: "{{#section rows}}\n{{#section others}}{{item:text}}{{/section}}{{/section}}"}, []Reference{
			{"{{#section others}}", "content_html", 2},
		}},
		{"a slot in a section", Bodies{HTML: "{{#section rows}}{{slot:hero}}{{/section}}"}, []Reference{{"{{slot:hero}}", "content_html", 1}}},
		{"a name that differs", Bodies{HTML: "{{#section rows}}{{/section others}}"}, []Reference{{"{{/section others}}", "content_html", 1}}},
		{"in Liquid", Bodies{HTML: "{% if {{param:a}} == {{item:b}} %}{% endif %}{{param:c | upcase}}{{item:d|size}}"}, []Reference{
			{"{{param:a}}", "content_html", 1}, {"{{item:b}}", "content_html", 1}, {"{{param:c | upcase}}", "content_html", 1}, {"{{item:d|size}}", "content_html", 1},
		}},
		{"a long one", Bodies{HTML: "{{param:" + strings.Repeat("é", 100) + "}}"}, []Reference{{"{{param:" + strings.Repeat("é", 56) + "…", "content_html", 1}}},
		{"not closed", Bodies{MJML: "\n\n{{#section rows}}x"}, []Reference{{"{{#section rows}}", "content_mjml", 3}}},
		{"not opened", Bodies{MJML: "x{{/section}}"}, []Reference{{"{{/section}}", "content_mjml", 1}}},
		{"half a block", Bodies{HTML: "{{#section others}}{{/section}}\n{% if a %}{{#section rows}}{% endif %}{% if b %}{{/section}}{% endif %}"}, []Reference{
			{"{{#section rows}}", "content_html", 2},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, _, err := ParseDocument(tt.bodies, everything())
			if d != nil || !errors.Is(err, ErrReference) {
				t.Fatalf("ParseDocument = %v, %v; want UNRESOLVED_REFERENCE", d, err)
			}
			e, _ := errors.AsType[*fault.Error](err)
			if diff := cmp.Diff(References{tt.want}, e.Details); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnused(t *testing.T) {
	s := Schema{
		Parameters: []Parameter{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}},
		Sections:   []Section{{Name: "x", Item: []Parameter{{Name: "f"}, {Name: "g"}}}, {Name: "y", Item: []Parameter{{Name: "f"}}}},
		Slots:      []Slot{{Name: "hero"}, {Name: "foot"}},
	}
	_, warnings, err := ParseDocument(Bodies{
		Subject: "{{a}}",
		HTML:    `{% if param.b and "param.e" and x.param.e %}{{slot:hero}}{% endif %}{{ param["d"] }}`,
		Text:    "{{#section x}}{{item:g}}{{/section}}",
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.Code+" "+w.Path)
	}
	want := []string{
		"unused parameters_schema[2]", "unused parameters_schema[4]",
		"unused sections_schema[0].item_schema[0]", "unused sections_schema[1]", "unused slots_schema[1]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if _, warnings, _ = ParseDocument(Bodies{HTML: "{% for p in param %}{% endfor %}"}, Schema{Parameters: s.Parameters}); len(warnings) > 0 {
		t.Errorf("a loop through all parameters left %v unused", warnings)
	}
}

func TestParams(t *testing.T) {
	block := &Block{Schema: Schema{Parameters: []Parameter{{Name: "title", Type: Text}}}, Bodies: Bodies{
		HTML: `<b>{{param:title}}</b>{% if param.title %}{{ x.param.title }}{{ "param.title" }}{% endif %}`,
	}}
	d := mustParse(t, Bodies{HTML: "{% if param.text %}{{slot:hero}}{% endif %}"}, everything())
	bound := Bound{
		Values: map[string]Value{
			"text": {Text, "x"}, "number": {Number, json.Number("12")}, "boolean": {Boolean, true},
			"list": {List, []string{"a", "b"}}, "date": {Date, "2026-11-21"}, "url": {URL, nil},
			"rich_text": {RichText, "<p onclick=x>a"},
		},
		Slots: map[string]Filling{
			"hero": {Strategy: Fixed, Block: block, Bound: Bound{Values: map[string]Value{"title": {Text, "{{ param.title }}"}}}},
			"foot": {Strategy: Empty},
		},
	}
	want := map[string]any{
		"text": "x", "number": int64(12), "boolean": true, "list": []any{"a", "b"}, "date": "2026-11-21", "url": nil,
		"rich_text": "<p>a</p>", "_hero": map[string]any{"title": "{{ param.title }}"},
	}
	if diff := cmp.Diff(want, d.Params(bound)); diff != "" {
		t.Errorf("Params (-want +got):\n%s", diff)
	}
	html := `{% if param.text %}<b>{{ param._hero.title }}</b>{% if param._hero.title %}{{ x.param.title }}{{ "param.title" }}{% endif %}{% endif %}`
	if got := d.Expand(bound).HTML; got != html {
		t.Errorf("Expand = %q, want %q", got, html)
	}
}

func TestSlots(t *testing.T) {
	block := &Block{Schema: everything(), Bodies: Bodies{
		HTML: "<p>{{text}} &amp; <a href=\"https://x.example/\">more</a></p>", MJML: "<mj-text>{{text}}</mj-text>",
	}}
	withText := *block
	withText.Bodies.Text = "* {{text}} *"
	filled := func(b *Block) Bound {
		return Bound{Slots: map[string]Filling{"hero": {Strategy: Fixed, Block: b, Bound: Bound{Values: texts("text", "<T>")}}}}
	}
	noticed := Bound{Slots: map[string]Filling{"hero": {Strategy: Fixed, Notice: "[slot: hero]"}}}
	for _, tt := range []struct {
		name   string
		bodies Bodies
		bound  Bound
		want   Bodies
	}{
		{"html", Bodies{HTML: "<td>{{slot:hero}}</td>"}, filled(block), Bodies{HTML: `<td><p>&lt;T&gt; &amp; <a href="https://x.example/">more</a></p></td>`}},
		{"attribute", Bodies{HTML: `<td title="{{slot:hero}}">`}, filled(block), Bodies{HTML: `<td title="&lt;T&gt; &amp; more">`}},
		{"column", Bodies{MJML: "<mj-column>{{slot:hero}}</mj-column>"}, filled(block), Bodies{MJML: "<mj-column><mj-text>&lt;T&gt;</mj-text></mj-column>"}},
		{"body", Bodies{MJML: "<mj-body>{{slot:hero}}</mj-body>"}, filled(block), Bodies{MJML: "<mj-body><mj-section><mj-column><mj-text>&lt;T&gt;</mj-text></mj-column></mj-section></mj-body>"}},
		{"section", Bodies{MJML: "<mj-body><mj-section><mj-column /> {{slot:hero}}</mj-section></mj-body>"}, filled(block), Bodies{MJML: "<mj-body><mj-section><mj-column /> <mj-column><mj-text>&lt;T&gt;</mj-text></mj-column></mj-section></mj-body>"}},
		{"text of its own", Bodies{Text: "{{slot:hero}}"}, filled(&withText), Bodies{Text: "* <T> *"}},
		{"text of its html", Bodies{Text: "{{slot:hero}}"}, filled(block), Bodies{Text: "<T> & more (https://x.example/)"}},
		{"empty", Bodies{HTML: "a{{slot:hero}}b", Text: "{{slot:hero}}"}, Bound{}, Bodies{HTML: "ab"}},
		{"notice in text", Bodies{Text: "{{slot:hero}}"}, noticed, Bodies{Text: "[slot: hero]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mustParse(t, tt.bodies, everything()).Expand(tt.bound)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Expand (-want +got):\n%s", diff)
			}
		})
	}
	for _, tt := range []struct{ parent, block, want string }{
		{"mj-body", "<!-- a --> {{ b }}< <mj-column>c", "<mj-section><!-- a --> {{ b }}< <mj-column>c</mj-section>"},
		{"mj-body", "<mj-section>c", "<mj-section>c"},
		{"mj-wrapper", "<mj-image />", "<mj-section><mj-column><mj-image /></mj-column></mj-section>"},
		{"mj-section", "<mj-column>c", "<mj-column>c"},
		{"mj-hero", "<mj-button>c", "<mj-button>c"},
		{"mj-body", "text", "text"},
		{"mj-body", "<!-- a", "<!-- a"},
	} {
		d := mustParse(t, Bodies{MJML: "<mjml><mj-head></mj-head><" + tt.parent + ">{{slot:hero}}"}, everything())
		_, got, _ := strings.Cut(d.Expand(filled(&Block{Bodies: Bodies{MJML: tt.block}})).MJML, "<"+tt.parent+">")
		if got != tt.want {
			t.Errorf("%q in %s becomes %q, want %q", tt.block, tt.parent, got, tt.want)
		}
	}
	for _, tt := range []struct{ body, want string }{
		{"<mj-body>{{slot:hero}}</mj-body>", "<mj-body><mj-section><mj-column><mj-text"},
		{"<mj-column>{{slot:hero}}</mj-column>", "<mj-column><mj-text"},
		{"<mj-text>{{slot:hero}}</mj-text>", "<mj-text><div"},
	} {
		got := mustParse(t, Bodies{MJML: tt.body}, everything()).Expand(noticed).MJML
		if !strings.HasPrefix(got, tt.want) || !strings.Contains(got, "[slot: hero]") {
			t.Errorf("Expand(%q) = %q, want %q…", tt.body, got, tt.want)
		}
	}
}

func TestExpandIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	d := mustParse(t, Bodies{HTML: strings.Repeat("{{param:text}}", 100_000)}, everything())
	b, err := d.Fill(Bound{Values: texts("text", long)})
	if !errors.Is(err, ErrBinding) || b != (Bodies{}) {
		t.Errorf("Fill with 10 GB = %d bytes, %v; want INVALID_BINDING", len(b.HTML), err)
	}
	rows := make([]map[string]Value, 200)
	for i := range rows {
		rows[i] = texts("text", "")
	}
	d = mustParse(t, Bodies{HTML: "{{#section rows}}" + strings.Repeat("{{item:text}}", 300_000) + "{{/section}}"}, everything())
	if _, err = d.Fill(Bound{Rows: map[string][]map[string]Value{"rows": rows}}); !errors.Is(err, ErrBinding) {
		t.Errorf("Fill with 60 million placeholders = %v, want INVALID_BINDING", err)
	}
	var wrong strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&wrong, "{{param:x%d}}\n", i)
	}
	if _, _, err = ParseDocument(Bodies{HTML: wrong.String()}, everything()); !errors.Is(err, ErrReference) {
		t.Errorf("ParseDocument = %v, want UNRESOLVED_REFERENCE", err)
	}
}
