package liquid_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// Marks say where the long texts of a template went, and nothing else of it.
func TestMarksSayWhereTextsAre(t *testing.T) {
	t.Parallel()
	const a, b, c = "a text that is long enough", "another one, in a block", "text that is captured, not printed"
	for _, tt := range []struct {
		name, source string
		want         []string // the texts marked, in order
	}{
		{"alone", a, []string{a}},
		{"around a value", a + "{{ x }}" + b, []string{a, b}},
		{"too short", "short{{ x }}" + a, []string{a}},
		{"in turns", "{% for i in (1..3) %}" + b + "{{ i }}{% endfor %}", []string{b, b, b}},
		{"in a branch that is not taken", "{% if no %}" + a + "{% else %}" + b + "{% endif %}", []string{b}},
		{"captured", "{% capture k %}" + c + "{% endcapture %}{{ k }}" + a, []string{a}},
		{"raw", "{% raw %}{{ raw and long enough }}{% endraw %}", []string{"{{ raw and long enough }}"}},
		{"trimmed", a + "   {{- x -}}   " + b, []string{a, b}},
		{"none", "{{ x }}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			template, err := liquid.Parse(tt.source, liquid.Options{Mode: liquid.HTML})
			if err != nil {
				t.Fatal(err)
			}
			env := liquid.Values{Vars: map[string]any{"x": "<value> " + a}}
			plain, err := template.Append(t.Context(), nil, env, nil)
			if err != nil {
				t.Fatal(err)
			}
			earlier := liquid.Mark{At: 7, Text: 7}
			out, marks, err := template.AppendMarked(t.Context(), []byte("before"), []liquid.Mark{earlier}, env, nil)
			if err != nil || string(out) != "before"+string(plain) || marks[0] != earlier {
				t.Fatalf("AppendMarked = %q, %v, %v; want %q", out, marks, err, plain)
			}
			texts := template.Texts()
			end := 0
			var got []string
			for _, m := range marks[1:] {
				if m.At < end || !strings.HasPrefix(string(plain[m.At:]), texts[m.Text]) {
					t.Errorf("%q is not at %d of %q", texts[m.Text], m.At, plain)
				}
				end = m.At + len(texts[m.Text])
				got = append(got, texts[m.Text])
			}
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("marked %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAFailedRenderingLeavesNoMarks(t *testing.T) {
	t.Parallel()
	template, err := liquid.Parse("a text that is long enough{{ 1 | divided_by: 0 }}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, marks, err := template.AppendMarked(t.Context(), []byte("x"), nil, liquid.Values{}, nil)
	if err == nil || string(out) != "x" || len(marks) != 0 {
		t.Errorf("AppendMarked = %q, %v, %v", out, marks, err)
	}
}
