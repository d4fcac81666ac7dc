package liquid_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// page returns a template of about so many bytes with 20 merge fields.
func page(size int) string {
	var source strings.Builder
	for i := range 20 {
		fmt.Fprintf(&source, "<td style=\"%s\">%s</td>", strings.Repeat("padding:0;", size/20/10-3), []string{
			"{{ first_name }}", `{{ contact.first_name | default: "there" }}`, "{{ unsubscribe_url }}",
			"{{ contact.custom_fields.plan }}", "{% if vip %}{{ unsafe }}{% endif %}",
		}[i%5])
	}
	return source.String()
}

func benchmarkRender(b *testing.B, size int) {
	tmpl, err := liquid.Parse(page(size), liquid.Options{Mode: liquid.HTML})
	if err != nil {
		b.Fatal(err)
	}
	env, budget := &liquid.Values{Vars: vars, At: noon}, &liquid.Budget{}
	var dst []byte
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		budget.Reset(liquid.Limits{})
		if dst, err = tmpl.Append(b.Context(), dst[:0], env, budget); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRender10KB renders a page of 10 KB with 20 merge fields, as a letter
// does for every recipient.
func BenchmarkRender10KB(b *testing.B) { benchmarkRender(b, 10<<10) }

// BenchmarkRender48KB renders a page of 48 KB.
func BenchmarkRender48KB(b *testing.B) { benchmarkRender(b, 48<<10) }

func TestRenderingIsNearlyFreeOfAllocations(t *testing.T) {
	tmpl, err := liquid.Parse(page(10<<10), liquid.Options{Mode: liquid.HTML})
	if err != nil {
		t.Fatal(err)
	}
	env, budget, dst := &liquid.Values{Vars: vars, At: noon}, &liquid.Budget{}, make([]byte, 0, 64<<10)
	got := testing.AllocsPerRun(100, func() {
		budget.Reset(liquid.Limits{})
		if _, err := tmpl.Append(t.Context(), dst, env, budget); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 {
		t.Errorf("a rendering takes %v allocations", got)
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
