package binding_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

// BenchmarkCheck checks a binding of 100 parameters and 30 slots: 10 random ones
// with 100 blocks to choose from, 20 fixed ones with 5 parameters each.
func BenchmarkCheck(b *testing.B) {
	s, raw, pool := large(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, issues := binding.Check(s, raw, pool, "seed"); len(issues) > 0 {
			b.Fatal(issues)
		}
	}
}

// treePool is a pool with its blocks by tag, like the real one.
type treePool struct {
	all   map[string]*binding.Block
	byTag map[string][]*binding.Block
}

func (g treePool) Find(ref string) (*binding.Block, bool) {
	b, ok := g.all[ref]
	return b, ok
}

func (g treePool) Eligible(s binding.Slot) []*binding.Block { return g.byTag[s.TagFilter[0]] }

func large(b *testing.B) (binding.Schema, json.RawMessage, treePool) {
	b.Helper()
	var parameters, values, slots, fillings, five []string
	types := []string{"text", "rich_text", "url", "number", "date", "email", "textarea", "color", "boolean", "image"}
	samples := []string{`"A headline with {{ first_name }}"`, `"<p>Some <b>text</b> with {{ plan }}</p>"`, `"https://example.org/a?b=c"`, `12.50`, `"2026-11-21"`, `"a@example.org"`, `"a\nb"`, `"#1a2b3c"`, `true`, `"https://example.org/i.png"`}
	for i := range 100 {
		parameters = append(parameters, fmt.Sprintf(`{"name": "p%d", "type": %q, "required": true}`, i, types[i%10]))
		values = append(values, fmt.Sprintf(`"p%d": %s`, i, samples[i%10]))
	}
	for i := range 5 {
		five = append(five, fmt.Sprintf(`"p%d": %s`, i, samples[i]))
	}
	schema := `{"parameters_schema": [` + strings.Join(parameters[:5], ",") + `]}`
	pool := treePool{map[string]*binding.Block{}, map[string][]*binding.Block{}}
	for i := range 30 {
		tag := fmt.Sprintf("tag%d", i)
		slots = append(slots, fmt.Sprintf(`{"name": "s%d", "tag_filter": [%q], "required": true}`, i, tag))
		n, filling := 100, `"strategy": "random"`
		if i >= 10 {
			n, filling = 1, fmt.Sprintf(`"strategy": "fixed", "block_id": "b%d-0"`, i)
		}
		fillings = append(fillings, fmt.Sprintf(`"s%d": {%s, "parameters": {%s}}`, i, filling, strings.Join(five, ",")))
		for j := range n {
			block := blockOf(b, fmt.Sprintf("b%d-%d", i, j), tag, schema)
			pool.all[block.Slug] = block
			pool.byTag[tag] = append(pool.byTag[tag], block)
		}
	}
	s := schemaOf(b, `{"parameters_schema": [`+strings.Join(parameters, ",")+`], "slots_schema": [`+strings.Join(slots, ",")+`]}`)
	return s, json.RawMessage(`{"parameters": {` + strings.Join(values, ",") + `}, "slots": {` + strings.Join(fillings, ",") + `}}`), pool
}
