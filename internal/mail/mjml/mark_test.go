package mjml

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/packetboat/packetboat/internal/mail/mark"
)

// TestMarksChangeNothingElse compiles each document with and without marks.
func TestMarksChangeNothingElse(t *testing.T) {
	c := open(t)
	for name, source := range documents(t) {
		t.Run(name, func(t *testing.T) {
			want, err := c.Compile(t.Context(), "owner", source)
			if err != nil {
				t.Fatal(err)
			}
			m := mark.New(source)
			labelled := Label(m, source, false)
			if _, plain, err := classed(m, labelled); err != nil || plain != source {
				t.Error("a text without its labels is not the source")
			}
			got, _, err := c.CompileMarked(t.Context(), "owner", m, labelled)
			if err != nil {
				t.Fatal(err)
			}
			if html := m.Remove(got.HTML); html != want.HTML {
				t.Errorf("the HTML differs%s", difference(html, want.HTML))
			}
			if fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) {
				t.Errorf("warnings %v, want %v", got.Warnings, want.Warnings)
			}
			if shown := m.Show(got.HTML); strings.Contains(shown, m.Word()) || want.HTML != "" && !strings.Contains(shown, mark.Prefix) {
				t.Error("the marks are not shown")
			}
		})
	}
}

func TestAMarkIsThePositionOfItsElement(t *testing.T) {
	c := open(t)
	const source = `<mjml><mj-head><mj-attributes><mj-all css-class="all" /><mj-text css-class='of "text"' />` +
		`<mj-class name="a" css-class="one"><mj-text css-class="inner" /></mj-class><mj-class name="b" css-class="two" /></mj-attributes></mj-head>` +
		`<mj-body><!-- 😀 <mj-text> --><mj-section><mj-column><mj-text css-class="{{ '>' | append: x }} own">é</mj-text>{% comment %}<mj-text>{% endcomment %}<mj-divider mj-class="b a" />` +
		`<mj-text css-class="">empty</mj-text></mj-column><mj-column mj-class="a"><mj-text>inner</mj-text></mj-column></mj-section></mj-body></mjml>`
	m := mark.New(source)
	r, exact, err := c.CompileMarked(t.Context(), "owner", m, Label(m, source, false))
	if err != nil || !exact {
		t.Fatal(exact, err)
	}
	shown := m.Show(r.HTML)
	at := func(text string) string {
		before, _, _ := strings.Cut(source, text)
		return fmt.Sprintf("%s%d", mark.Prefix, len(utf16.Encode([]rune(before))))
	}
	for element, class := range map[string]string{
		`<mj-body>`:             `class="all ` + at("<mj-body>") + `"`,
		`<mj-section>`:          `class="all ` + at("<mj-section>") + `"`,
		`<mj-text css-class="{`: `class="{{ '>' | append: x }} own ` + at(`<mj-text css-class="{`) + `"`,
		`<mj-divider`:           `class="two one ` + at("<mj-divider") + `"`,
		`<mj-text>inner`:        `class="inner ` + at("<mj-text>inner") + `"`,
	} {
		if !strings.Contains(shown, class) {
			t.Errorf("%s has no %s in %s", element, class, shown)
		}
	}
	if n := strings.Count(shown, at(`<mj-text css-class="">`)); n != 0 {
		t.Errorf("an element with an empty class has %d marks", n)
	}
	plain, err := New().Compile(t.Context(), "owner", source)
	if err != nil || plain.HTML != m.Remove(r.HTML) {
		t.Errorf("without marks: %v%s", err, difference(m.Remove(r.HTML), plain.HTML))
	}
}

func TestTheDocumentWithoutMarksIsNotCompiledAgain(t *testing.T) {
	c, runs := New(), 0
	c.compile = func(_ context.Context, source string) (output, error) {
		runs++
		return output{HTML: source}, nil
	}
	compile := func(source string) {
		m := mark.New(source)
		if _, _, err := c.CompileMarked(t.Context(), "owner", m, Label(m, source, false)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile(t.Context(), "owner", source); err != nil {
			t.Fatal(err)
		}
	}
	const document = `<mjml><mj-head><mj-style inline="inline">p%s { color: red }</mj-style></mj-head><mj-body><mj-raw>x</mj-raw></mj-body></mjml>`
	compile(fmt.Sprintf(document, ".a"))
	if runs != 1 {
		t.Errorf("compiled %d times", runs)
	}
	compile(fmt.Sprintf(document, "[ CLASS=a]")) // it sees marks
	if runs != 3 {
		t.Errorf("compiled %d times, want 3", runs)
	}
}

// A value that is put into a labelled document may contain what a label looks like, or what a mark does. The HTML of
// another document must not come from it.
func TestWhatOnlyLooksLikeALabelIsNotCutFromADocument(t *testing.T) {
	const source = `<mjml><mj-body><mj-raw>VALUE</mj-raw></mj-body></mjml>`
	m := mark.New(source)
	for name, tt := range map[string]struct{ value, other string }{
		"a label in text":           {`a` + labelStart(m) + `<b>evil</b>"c`, `ac`},
		"a label that has no end":   {`a` + labelStart(m) + `evil`, `a`},
		"a mark in text":            {`a ` + m.Class("7") + `c`, `ac`},
		"a label of another form":   {`</mj-raw><mj-text` + labelStart(m) + `7 evil">x</mj-text><mj-raw>`, `</mj-raw><mj-text>x</mj-text><mj-raw>`},
		"a label with single quote": {`</mj-raw><mj-text ` + m.Word() + `='7'>x</mj-text><mj-raw>`, `</mj-raw><mj-text>x</mj-text><mj-raw>`},
	} {
		t.Run(name, func(t *testing.T) {
			c := New()
			c.compile = func(_ context.Context, source string) (output, error) { return output{HTML: source}, nil }
			labelled := strings.Replace(Label(m, source, false), "VALUE", tt.value, 1)
			if _, exact, err := c.CompileMarked(t.Context(), "attacker", m, labelled); err != nil || exact {
				t.Errorf("exact %t, %v", exact, err)
			}
			for _, value := range []string{tt.value, tt.other} {
				document := strings.Replace(source, "VALUE", value, 1)
				if r, err := c.Compile(t.Context(), "another", document); err != nil || r.HTML != document {
					t.Errorf("the HTML of %s is %s, %v", document, r.HTML, err)
				}
			}
		})
	}
}

func FuzzMarks(f *testing.F) {
	for _, source := range documents(f) {
		f.Add(source)
	}
	f.Add(`<mjml><mj-body><mj-text css-class='a"'>{% raw %}<mj-text>{% endraw %}</mj-text></mj-body></mjml>`)
	f.Fuzz(func(t *testing.T, source string) {
		m := mark.New(source)
		labelled := Label(m, source, false)
		_, failed := inspect(source, false)
		classed, plain, err := classed(m, labelled)
		if err == nil && plain != source {
			t.Fatalf("without labels: %q", plain)
		}
		if (err == nil) != (failed == nil) {
			t.Fatalf("%v, and with labels %v", failed, err)
		}
		if err == nil {
			if _, err := inspect(classed, false); err != nil && len(classed) < maxSource {
				t.Fatalf("with marks: %v: %q", err, classed)
			}
		}
		if strings.Contains(m.Show(classed), m.Word()) || strings.Contains(m.Remove(classed), m.Word()) {
			t.Fatal("marks remain")
		}
	})
}
