package liquid_test

import (
	"fmt"
	"strings"
	"testing"

	"packetboat/internal/mail/liquid"
)

// BenchmarkAppend renders a page of 10 KB with 20 merge fields, as deliver
// does for every recipient.
func BenchmarkAppend(b *testing.B) {
	var source strings.Builder
	for i := range 20 {
		fmt.Fprintf(&source, "<td style=\"%s\">%s</td>", strings.Repeat("padding:0;", 45), []string{
			"{{ first_name }}", `{{ contact.first_name | default: "there" }}`, "{{ unsubscribe_url }}",
			"{{ contact.custom_fields.plan }}", "{% if vip %}{{ unsafe }}{% endif %}",
		}[i%5])
	}
	tmpl, err := liquid.Parse(source.String(), liquid.Options{Mode: liquid.HTML})
	if err != nil {
		b.Fatal(err)
	}
	env := &liquid.Values{Vars: vars, At: noon}
	var dst []byte
	b.SetBytes(int64(source.Len()))
	b.ReportAllocs()
	for b.Loop() {
		budget := liquid.NewBudget(liquid.Limits{})
		if dst, err = tmpl.Append(b.Context(), dst[:0], env, budget); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse compiles the same page once per content.
func BenchmarkParse(b *testing.B) {
	source := strings.Repeat("<p>"+strings.Repeat("x", 400)+`{{ contact.first_name | default: "there" }}</p>`, 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := liquid.Parse(source, liquid.Options{Mode: liquid.HTML}); err != nil {
			b.Fatal(err)
		}
	}
}
