package template_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// fragments of bodies, some of them broken.
var fragments = []string{
	"{{param:a}}", "{{ item : f }}", "{{slot:s}}", "{{#section s}}", "{{ / section }}", "{{\nparam:a\n}}", "{{a}}", "{{ x | upcase }}", "{% if a %}", "{% endif %}",
	"\n", " ", "\t", "text", "<p>", "{", "}", "{{{", "}}}", "{{#sections}}", "ä", "\r\n", "{% raw %}", "{{param:", "\xff",
}

func TestOnlyPlaceholdersAreMasked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 30).Draw(t, "body"), "")
		masked := template.MaskPlaceholders(body)
		if len(masked) != len(body) {
			t.Fatalf("%q became %q", body, masked)
		}
		for i := range body {
			if masked[i] != body[i] && masked[i] != ' ' && masked[i] != '0' || (body[i] == '\n') != (masked[i] == '\n') {
				t.Fatalf("%q became %q", body, masked)
			}
		}
		for _, kind := range []string{"{{param:a}}", "{{slot:s}}", "{{#section s}}"} {
			if strings.Contains(masked, kind) {
				t.Fatalf("%q became %q", body, masked)
			}
		}
	})
}

// Each line of a filled body maps to the right line of its source, or is unknown.
func TestLinesOfFilledBodiesAreFound(t *testing.T) {
	t.Parallel()
	schema, err := binding.Schema{}.With(binding.RawSchema{
		Parameters: json.RawMessage(`[{"name": "a", "type": "text"}, {"name": "l", "type": "textarea", "sample": "x\ny"}]`),
		Sections:   json.RawMessage(`[{"name": "s", "item_schema": [{"name": "f", "type": "text"}]}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{}
		open := false
		for range rapid.IntRange(0, 20).Draw(t, "lines") {
			line := rapid.SampledFrom([]string{"text", "", "{{param:a}}", "{{param:l}}", "section", "  section ", "a section b", "{{ x }}"}).Draw(t, "line")
			if strings.Contains(line, "section") {
				mark := "{{#section s}}"
				if open {
					mark = "{{/section}}"
				}
				open = !open
				line = strings.ReplaceAll(line, "section", mark)
			}
			lines = append(lines, line)
		}
		if open {
			lines = append(lines, "{{/section}}")
		}
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		lines = slices.Insert(lines, at, "MARK")
		source := strings.Join(lines, "\n")
		doc, _, err := binding.ParseDocument(binding.Bodies{Text: source}, schema)
		if err != nil {
			t.Fatal(err)
		}
		filled := doc.Expand(binding.Sample(schema)).Text
		line := 1 + strings.Count(filled[:strings.Index(filled, "MARK")], "\n")
		if got := template.LineIn(source, filled)(line); got != 0 && got != at+1 {
			t.Fatalf("the mark is on line %d, found on %d, in\n%s\nfilled\n%s", at+1, got, source, filled)
		} else if got != 0 {
			known++
		}
	})
	if known == 0 {
		t.Error("no line was found in any source")
	}
}

func TestStringListsAreDecodedAsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", `"`, `\`, ",", "]", " x "}))).Draw(t, "labels")
		texts := make([]string, len(want))
		for i, label := range want {
			b, err := json.Marshal(label)
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = string(b)
		}
		for _, between := range []string{",", ", "} {
			text := "[" + strings.Join(texts, between) + "]"
			got, err := template.DecodeStrings(text)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s read as %q, %v", text, got, err)
			}
		}
	})
}

func FuzzPlaces(f *testing.F) {
	for _, s := range fragments {
		f.Add(s, "x\n"+s)
	}
	f.Fuzz(func(t *testing.T, source, filled string) {
		if masked := template.MaskPlaceholders(source); len(masked) != len(source) || strings.Count(masked, "\n") != strings.Count(source, "\n") {
			t.Errorf("%q became %q", source, masked)
		}
		if line := template.LineIn(source, filled)(1); line < 0 || line > 1+strings.Count(source, "\n") {
			t.Errorf("line %d of %q", line, source)
		}
	})
}
