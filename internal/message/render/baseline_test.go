package render_test

import (
	"bytes"
	"html/template"
	"regexp"
	"testing"
)

// BenchmarkBaseline10KB writes the HTML of the same page, from a map that holds
// every value already, with Go's own html/template: the yardstick of the
// benchmarks beside it.
func BenchmarkBaseline10KB(b *testing.B) { benchmarkBaseline(b, 10<<10) }

// BenchmarkBaseline48KB writes pages of 48 KB.
func BenchmarkBaseline48KB(b *testing.B) { benchmarkBaseline(b, 48<<10) }

func benchmarkBaseline(b *testing.B, size int) {
	name := regexp.MustCompile(`\{\{ ([a-z_.]+)[^}]*\}\}`)
	values := map[string]string{}
	source := name.ReplaceAllStringFunc(page(size, 0), func(field string) string {
		key := name.FindStringSubmatch(field)[1]
		values[key] = "Archer & Sons"
		return `{{ index . "` + key + `" }}`
	})
	t, err := template.New("page").Parse(source)
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := t.Execute(&out, values); err != nil {
			b.Fatal(err)
		}
	}
}
