package mjml

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// page puts elements into the only column of a document, on its fifth line.
func page(inside string) string {
	return "<mjml>\n<mj-body>\n<mj-section>\n<mj-column>\n" + inside + "\n</mj-column>\n</mj-section>\n</mj-body>\n</mjml>"
}

func TestWhatIsNotWellFormedIsAnError(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"nothing", "", "line 1: there is no <mjml> element"},
		{"only text", "Dear all,", "line 1: there is text outside <mjml>"},
		{"another root", "\n<html><body></body></html>", "line 2: the root is <html>, and has to be <mjml>"},
		{"no body", "<mjml><mj-head></mj-head></mjml>", "line 1: <mjml> has no <mj-body>"},
		{"body deeper", "<mjml><mj-head><mj-body></mj-body></mj-head></mjml>", "line 1: <mjml> has no <mj-body>"},
		{"two roots", "<mjml><mj-body></mj-body></mjml>\n<mjml></mjml>", "line 2: <mjml> stands outside <mjml>"},
		{"text behind", "<mjml><mj-body></mj-body></mjml>\n\nbye", "line 3: there is text outside <mjml>"},
		{"head in the body", page("\n<mj-style>a</mj-style>"), "line 6: <mj-style> stands in mj-body, and belongs in mj-head"},
		{"nested root", page("<mjml></mjml>"), "line 5: <mjml> stands inside <mj-column>"},
		{"not closed", "<mjml>\n<mj-body>\n", "line 2: <mj-body> is not closed"},
		{"text not closed", page("<mj-text>a"), "line 5: <mj-text> is not closed: </mj-column> of line 6 ends what is around it"},
		{"text not closed at all", "<mjml><mj-body>\n<mj-text>a", "line 2: <mj-text> is not closed"},
		{"crossed", "<mjml><mj-body>\n<mj-section>\n</mj-body></mjml>", "line 2: <mj-section> is not closed: </mj-body> of line 3 ends what is around it"},
		{"end without start", page("</mj-group>"), "line 5: </mj-group> ends nothing: <mj-column> of line 4 is open here"},
		{"end first", "</mjml>", "line 1: </mjml> ends nothing"},
		{"bad end tag", page("<mj-text></mj-text a='b'></mj-column x>"), `line 5: "</mj-column" is no end tag`},
		{"tag not closed", page("<mj-divider "), "line 5: <mj-divider> is not closed by >"},
		{"tag cut off", "<mjml><mj-body", "line 1: <mj-body> is not closed by >"},
		{"lone bracket", page("1 < 2"), "line 5: a < begins no element here: write &lt; for the character"},
		{"odd name", page("<mj-te$xt/>"), `line 5: "mj-te$xt" is no name of an element`},
		{"liquid in a name", page("<mj-{{kind}}/>"), `line 5: "mj-{{kind}}" is no name of an element`},
		{"not quoted", page("<mj-image src=a.png />"), "line 5: the value of the attribute src of <mj-image> is not quoted"},
		{"liquid not quoted", page("<mj-image src={{a}} />"), "line 5: the value of the attribute src of <mj-image> is not quoted"},
		{"no value", page("<mj-image\n hidden />"), "line 6: the attribute hidden of <mj-image> has no value"},
		{"no closing quote", page(`<mj-image src="a.png />`), "line 5: the value of the attribute src of <mj-image> has no closing quote"},
		{"quote forgotten", page(`<mj-image src="a.png /><mj-text color="red">x</mj-text>`), "line 5: a < stands in the attribute src of <mj-image>: write &lt;, or close the quotes"},
		{"twice", page(`<mj-image src="a" src="b" />`), "line 5: <mj-image> has two attributes src"},
		{"no space", page(`<mj-image src="a"alt="b" />`), "line 5: a space is missing between the attributes of <mj-image>"},
		{"slash", page(`<mj-image / src="a">`), "line 5: a / stands inside <mj-image>"},
		{"odd attribute", page(`<mj-image "src"="a">`), `line 5: "\"src\"" is no name of an attribute of <mj-image>`},
		{"liquid between attributes", page(`<mj-text {% if a %}color="red"{% endif %}>x</mj-text>`), "line 5: {% if a %} stands between the attributes of <mj-text>: Liquid has to be inside quotes"},
		{"doctype", "<!DOCTYPE mjml>\n<mjml/>", "line 1: MJML has no <!DOCTYPE> and no other declarations: remove it"},
		{"entities", "<!DOCTYPE mjml [<!ENTITY a 'b'>]><mjml>&a;</mjml>", "line 1: MJML has no <!DOCTYPE> and no other declarations: remove it"},
		{"entity inside", page("<!ENTITY a 'b'>"), "line 5: MJML has no <!DOCTYPE> and no other declarations: remove it"},
		{"comment", page("<!-- a"), "line 5: a comment is not closed by -->"},
		{"comment in text", page("<mj-text><!-- a</mj-text>"), "line 5: a comment in <mj-text> is not closed by -->"},
		{"CDATA", page("<![CDATA[ a"), "line 5: a CDATA section is not closed by ]]>"},
		{"CDATA in text", page("<mj-text>\n<![CDATA[</mj-text>"), "line 6: a CDATA section in <mj-text> is not closed by ]]>"},
		{"instruction", "<?xml", "line 1: a processing instruction is not closed by ?>"},
		{"style in text", page("<mj-text><style></mj-text>"), "line 5: <style> in <mj-text> is not closed"},
		{"attribute in text", page("<mj-text><a href=\"x></mj-text>"), "line 5: <a> in <mj-text> is not closed by >"},
		{"NUL", page("\n\x00"), "line 6: the control character U+0000 is not allowed"},
		{"not UTF-8", page("\n<mj-text>\xff</mj-text>"), "line 6: this is not UTF-8"},
		{"cut in a letter", page("\xe2\x82"), "line 5: this is not UTF-8"},
		{"deep", strings.Repeat("<mjml><mj-body>"[:6], 1) + strings.Repeat("<mj-wrapper>\n", 70), "line 64: elements stand more than 64 deep in one another"},
		{"attributes", page("<mj-text " + attributes(101) + "/>"), "line 5: <mj-text> has more than 100 attributes"},
		{"long", strings.Repeat("x", maxSource+1), "MJML may have 1048576 bytes, this has 1048577"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			warnings, err := Check(tt.source)
			if _, ok := errors.AsType[*Error](err); !ok || err.Error() != "mjml: "+tt.want {
				t.Errorf("Check says %v, %v; want %q", warnings, err, tt.want)
			}
		})
	}
}

func attributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `a%d="" `, i)
	}
	return b.String()
}

func TestUnknownElementsAreNamedWithTheirPositions(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         []Element
	}{
		{"one", page("<mj-foo></mj-foo>"), []Element{{"mj-foo", 5, 1}}},
		{"all of them", page("<mj-foo>\n<mj-bar/>\n<mj-text/></mj-foo>\n<p>ä<br>b</p>"), []Element{{"mj-foo", 5, 1}, {"mj-bar", 6, 1}, {"p", 8, 1}, {"br", 8, 5}}},
		{"include", page("\n<mj-include path=\"./a.mjml\" />"), []Element{{"mj-include", 6, 1}}},
		{"in the head", "<mjml><mj-head>\n<mj-import/></mj-head><mj-body/></mjml>", []Element{{"mj-import", 2, 1}}},
		{"upper case", page("<MJ-TEXT></MJ-TEXT>"), []Element{{"MJ-TEXT", 5, 1}}},
		{"of old", page("<mj-container></mj-container>"), []Element{{"mj-container", 5, 1}}},
		{"names of JavaScript", page("<constructor/><__proto__/>"), []Element{{"constructor", 5, 1}, {"__proto__", 5, 15}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Check(tt.source)
			u, ok := errors.AsType[*UnknownError](err)
			if !ok || !reflect.DeepEqual(u.Elements, tt.want) {
				t.Errorf("Check says %v, want %v", err, tt.want)
			}
		})
	}
}

func TestWhatIsDroppedIsAWarning(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         []Warning
	}{
		{"nothing wrong", page("<mj-text>a {{b}}</mj-text><!-- c -->"), nil},
		{"text", page("\n hello"), []Warning{{6, "mj-column", "text between elements is dropped: put it into mj-text or mj-raw"}}},
		{"CDATA", page("<![CDATA[hello]]>"), []Warning{{5, "mj-column", "text between elements is dropped: put it into mj-text or mj-raw"}}},
		{"liquid", page("{% if a > 1 %}\n<mj-text>x</mj-text>\n{% endif %}"), []Warning{
			{5, "mj-column", "{% if a > 1 %} stands between elements, where Liquid is dropped: put it into mj-raw, or into mj-text"},
			{7, "mj-column", "{% endif %} stands between elements, where Liquid is dropped: put it into mj-raw, or into mj-text"},
		}},
		{"liquid outside", "{% assign a = 1 %}<mjml><mj-body/></mjml>", []Warning{{1, "", "{% assign a = 1 %} stands between elements, where Liquid is dropped: put it into mj-raw, or into mj-text"}}},
		{"placeholders", page("{{slot:hero}} {{#section rows}}\n<mj-text>{{item:a}}</mj-text>{{/section}} {{ param:html }}"), nil},
		{"liquid comments", page("{% comment %} <mj-foo> {% endcomment %}{% # a note %}"), nil},
		{"MJML in HTML", page("<mj-raw>\n<mj-text>a</mj-text></mj-raw>"), []Warning{{6, "mj-text", "it stands in mj-raw, whose content is HTML: it is not compiled"}}},
		{"second body", "<mjml><mj-body/>\n<mj-body/></mjml>", []Warning{{2, "mj-body", "only the first mj-body is compiled"}}},
		{"instruction", page("<?php x ?>"), []Warning{{5, "", "processing instructions are dropped"}}},
		{"declaration", "\ufeff<?xml version=\"1.0\"?>\n<mjml><mj-body/></mjml>", nil},
		{"value of an attribute", "<mjml><mj-head><mj-html-attributes><mj-selector path=\"a\"><mj-html-attribute name=\"b\">c</mj-html-attribute></mj-selector></mj-html-attributes></mj-head><mj-body/></mjml>", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Check(tt.source)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Check says %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// TestHostileSourcesAreJudgedAtOnce: whatever comes, Check needs no stack that
// grows with the source. It has no clock: what took more than linear time would
// take many minutes here.
func TestHostileSourcesAreJudgedAtOnce(t *testing.T) {
	const n = 100_000
	for name, source := range hostile(n) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if warnings, err := Check(source); len(warnings) > maxWarnings {
				t.Errorf("Check has %d warnings for %d bytes and says %.100v", len(warnings), len(source), err)
			}
		})
	}
}

// hostile returns sources that are n constructs long or deep.
func hostile(n int) map[string]string {
	cut := func(s string) string { return s[:min(len(s), maxSource-200)] }
	many := func(s string) string { return cut(strings.Repeat(s, n)) }
	return map[string]string{
		"5 MB":                  strings.Repeat("<mj-text>", 5<<20/9),
		"deep":                  many("<mjml>"),
		"deep HTML":             page("<mj-text>" + many("<div>") + "</mj-text>"),
		"deep paragraphs":       page("<mj-text>" + many("<p><b>") + "</mj-text>"),
		"nested ends":           page("<mj-raw>" + many("<mj-raw>") + "</mj-raw>"),
		"end tags":              page("<mj-text>" + many("</div>") + "</mj-text>"),
		"wrong end tags":        page("<mj-text>" + cut(strings.Repeat("<a>", n/2)+strings.Repeat("</b>", n/2)) + "</mj-text>"),
		"comments":              page(many("<!---->")),
		"open comments":         page("<mj-text>" + many("<!--")),
		"open CDATA":            page("<mj-text>" + many("<![CDATA[")),
		"open declarations":     page("<mj-text>" + many("<!")),
		"open tags":             page("<mj-text>" + many("<a ")),
		"open quotes":           page("<mj-text>" + many("<a b='\"")),
		"open styles":           page("<mj-text>" + many("<style>")),
		"open style ends":       page("<mj-text><style>" + many("</style/")),
		"attributes":            page("<mj-text " + cut(attributes(n)) + "/>"),
		"attributes in HTML":    page("<mj-text><a " + cut(attributes(n)) + "></mj-text>"),
		"one long attribute":    page("<mj-text a=\"" + many("x") + "\"/>"),
		"unknown":               page(many("<x/>")),
		"liquid":                page(many("{{a}}")),
		"liquid and elements":   page(many("{{a}}<!---->")),
		"open liquid":           page(many("{{")),
		"open liquid tags":      page(many("{%")),
		"liquid raw":            page(many("{%raw%}{{a}}")),
		"liquid comments":       page(many("{%comment%}")),
		"braces":                page(many("{{{")),
		"brackets":              page("<mj-text>" + many("<")),
		"brackets of the words": page("<mj-text>" + many("</ ")),
		"lines":                 page(many("\n<!-- a -->")),
		"entities":              "<!DOCTYPE x [" + many("<!ENTITY a '&b;&b;'>") + "]>",
		"NUL":                   page(many("\x00")),
		"the word for Liquid":   page("{{a}}" + many("liquid")),
	}
}

func FuzzCheck(f *testing.F) {
	for _, source := range documents(f) {
		f.Add(source)
	}
	for _, source := range hostile(3) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		warnings, err := Check(source)
		again, errAgain := Check(source)
		if !reflect.DeepEqual(warnings, again) || !reflect.DeepEqual(err, errAgain) {
			t.Errorf("Check says %v, %v and then %v, %v", warnings, err, again, errAgain)
		}
		lines := 1 + strings.Count(source, "\n")
		for _, w := range warnings {
			if w.Line < 1 || w.Line > lines {
				t.Errorf("a warning names line %d of %d", w.Line, lines)
			}
		}
		if e, ok := errors.AsType[*Error](err); ok && (e.Line < 0 || e.Line > lines) {
			t.Errorf("an error names line %d of %d", e.Line, lines)
		}
		p := protect(source, nil)
		if got := p.restore(p.text); got != source {
			t.Errorf("restored: %q, want %q", got, source)
		}
	})
}
