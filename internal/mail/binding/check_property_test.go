package binding_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

// A few names, so that declared and bound names are often the same.
var someName = rapid.SampledFrom([]string{"a", "b", "c", "title", "headline"})

// goodValues are values that fit a type whatever it validates below, and
// badValues some that may not.
var (
	goodValues = map[string][]string{
		"text": {`"abc"`, `"{{ a }}"`}, "textarea": {`"a\nb"`, `"abc"`}, "rich_text": {`"<p>a</p>"`}, "html": {`"<b>"`},
		"url": {`"https://a.example"`, `"{{ a }}"`}, "image": {`"https://a.example/i.png"`}, "email": {`"a@b.example"`}, "color": {`"#fff"`},
		"number": {`1`, `2.50`, `1e1`}, "boolean": {`true`, `false`}, "date": {`"2026-01-31"`}, "datetime": {`"2026-01-31T00:00:00Z"`},
		"select": {`"abc"`}, "list": {`["a"]`, `["b", "c"]`},
	}
	badValues = []string{`null`, `5`, `"x\ny"`, `[]`, `{}`, `""`, `"javascript:a"`, `"{% if %}"`, `true`, `[1]`, `"fixed"`}
	kinds     = []string{"text", "textarea", "rich_text", "html", "url", "image", "email", "color", "number", "boolean", "date", "datetime", "select", "list"}
)

// generator draws JSON texts.
type generator struct{ *rapid.T }

func (d generator) one(list ...string) string { return rapid.SampledFrom(list).Draw(d.T, "one") }

func (d generator) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(d.T, "chance") < percent
}

// named draws up to n entries with different names.
func (d generator) named(n int, entry func(name string) string) string {
	names := rapid.SliceOfNDistinct(someName, 0, n, rapid.ID[string]).Draw(d.T, "names")
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, entry(name))
	}
	return strings.Join(parts, ",")
}

func (d generator) parameters() string {
	return "[" + d.named(4, func(name string) string {
		t := d.one(kinds...)
		rest := ""
		if t == "select" {
			rest += `, "validation": {"options": ["abc", {"value": "x", "label": "X"}]}`
		}
		if d.chance(30) {
			rest += `, "default": ` + d.one(goodValues[t]...)
		}
		if d.chance(30) {
			rest += `, "sample": ` + d.one(goodValues[t]...)
		}
		return fmt.Sprintf(`{"name": %q, "type": %q, "required": %t%s}`, name, t, d.chance(50), rest)
	}) + "]"
}

func (d generator) sections() string {
	return "[" + d.named(2, func(name string) string {
		return fmt.Sprintf(`{"name": %q, "required": %t, "min": %d, "max": %d, "item_schema": %s}`,
			name, d.chance(50), rapid.IntRange(0, 2).Draw(d.T, "min"), rapid.IntRange(2, 3).Draw(d.T, "max"), d.parameters())
	}) + "]"
}

func (d generator) slots() string {
	return "[" + d.named(3, func(name string) string {
		rest := ""
		if d.chance(50) {
			rest = `, "allowed_strategies": ` + d.one(`["fixed"]`, `["random", "empty"]`, `["random"]`, `["empty", "fixed"]`)
		}
		return fmt.Sprintf(`{"name": %q, "required": %t, "tag_filter": %s%s}`, name, d.chance(50), d.one(`[]`, `["x"]`, `["x", "y"]`), rest)
	}) + "]"
}

func (d generator) schema(t *testing.T) binding.Schema {
	return schemaOf(t, `{"parameters_schema": `+d.parameters()+`, "sections_schema": `+d.sections()+`, "slots_schema": `+d.slots()+`}`)
}

func (d generator) pool(t *testing.T) blockPool {
	var pool blockPool
	for _, slug := range []string{"one", "two", "three"} {
		pool = append(pool, blockOf(t, slug, d.one("", "x", "x y"), `{"parameters_schema": `+d.parameters()+`, "sections_schema": `+d.sections()+`}`))
	}
	return pool
}

// value draws a value of a parameter that mostly fits.
func (d generator) value(t binding.Type) string {
	if d.chance(85) {
		return d.one(goodValues[string(t)]...)
	}
	return d.one(badValues...)
}

func (d generator) values(list []binding.Parameter) string {
	var parts []string
	for _, p := range list {
		if d.chance(80) {
			parts = append(parts, fmt.Sprintf("%q: %s", p.Name, d.value(p.Type)))
		}
	}
	if d.chance(5) {
		parts = append(parts, `"strange": 1`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (d generator) rows(list []binding.Section) string {
	var parts []string
	for _, s := range list {
		if !d.chance(80) {
			continue
		}
		var rows []string
		for range rapid.IntRange(0, 4).Draw(d.T, "rows") {
			rows = append(rows, d.values(s.Item))
		}
		if d.chance(5) {
			rows = append(rows, d.one(badValues...))
		}
		parts = append(parts, fmt.Sprintf("%q: [%s]", s.Name, strings.Join(rows, ",")))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (d generator) binding(s binding.Schema, pool blockPool) string {
	var slots []string
	for _, sl := range s.Slots {
		b := pool[rapid.IntRange(0, len(pool)-1).Draw(d.T, "block")]
		fill := fmt.Sprintf(`{"strategy": %s, "block_id": %q, "parameters": %s, "sections": %s}`,
			d.one(`"fixed"`, `"random"`, `"empty"`, `null`, `"best"`), b.Slug, d.values(b.Schema.Parameters), d.rows(b.Schema.Sections))
		if d.chance(20) {
			fill = d.one(badValues...)
		}
		slots = append(slots, fmt.Sprintf("%q: %s", sl.Name, fill))
	}
	raw := fmt.Sprintf(`{"parameters": %s, "sections": %s, "slots": {%s}}`, d.values(s.Parameters), d.rows(s.Sections), strings.Join(slots, ","))
	if d.chance(3) {
		return d.one(badValues...)
	}
	return raw
}

// makeInvalid returns what has no value of its type, or "".
func makeInvalid(s binding.Schema, b binding.Bound) string {
	for _, p := range s.Parameters {
		if v, there := b.Values[p.Name]; !there || !fits(p, v) {
			return fmt.Sprintf("parameter %s of %s holds %#v", p.Name, p.Type, v)
		}
	}
	for _, sec := range s.Sections {
		rows, there := b.Rows[sec.Name]
		if !there || len(rows) > sec.Max {
			return "section " + sec.Name
		}
		for i, row := range rows {
			for _, p := range sec.Item {
				if v, there := row[p.Name]; !there || !fits(p, v) {
					return fmt.Sprintf("row %d of section %s: %s of %s holds %#v", i, sec.Name, p.Name, p.Type, v)
				}
			}
		}
	}
	for _, sl := range s.Slots {
		f, there := b.Slots[sl.Name]
		switch {
		case !there || sl.Required && f.Block == nil && f.Notice == "":
			return "slot " + sl.Name
		case f.Block != nil:
			if wrong := makeInvalid(f.Block.Schema, f.Bound); wrong != "" {
				return "in slot " + sl.Name + " " + wrong
			}
		}
	}
	return ""
}

func fits(p binding.Parameter, v binding.Value) bool {
	if v.Type != p.Type {
		return false
	}
	if v.V == nil {
		return !p.Required
	}
	switch p.Type {
	case binding.Number:
		n, ok := v.V.(json.Number)
		return ok && !strings.ContainsAny(string(n), "eE")
	case binding.Boolean:
		_, ok := v.V.(bool)
		return ok
	case binding.List:
		_, ok := v.V.([]string)
		return ok
	case binding.Date:
		s, _ := v.V.(string)
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	case binding.Text:
		s, ok := v.V.(string)
		return ok && !strings.ContainsAny(s, "\r\n")
	}
	_, ok := v.V.(string)
	return ok
}

func TestWhatIsDeclaredHasAValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := generator{r}
		s, pool := d.schema(t), d.pool(t)
		raw := json.RawMessage(d.binding(s, pool))
		b, issues := binding.Check(s, raw, pool, "seed")
		if len(issues) == 0 {
			if wrong := makeInvalid(s, b); wrong != "" {
				r.Fatalf("without issues, but %s: %s", wrong, raw)
			}
			for _, f := range b.Slots {
				if f.Notice != "" {
					r.Fatalf("without issues, but with the notice %s: %s", f.Notice, raw)
				}
			}
		}
		shown, same := binding.Lenient(s, raw, pool, "seed")
		if wrong := makeInvalid(s, shown); wrong != "" {
			r.Fatalf("Lenient leaves %s: %s", wrong, raw)
		}
		if len(issues) == 0 && !reflect.DeepEqual(b, shown) || !reflect.DeepEqual(issues, same) {
			r.Fatalf("Check and Lenient differ: %+v, %+v", issues, same)
		}
		if again, repeated := binding.Check(s, raw, pool, "seed"); !reflect.DeepEqual(again, b) || !reflect.DeepEqual(repeated, issues) {
			r.Fatalf("the same input gives %+v, then %+v", issues, repeated)
		}
		if wrong := makeInvalid(s, binding.Sample(s)); wrong != "" {
			r.Fatalf("Sample leaves %s", wrong)
		}
	})
}

func TestIssuesOfARebaseAreThoseOfTheMergedBinding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := generator{r}
		base, theirs, pool := d.schema(t), d.schema(t), d.pool(t)
		raw := json.RawMessage(d.binding(base, pool))
		_, before := binding.Check(base, raw, pool, "")
		merged, diff := binding.Rebase(base, raw, theirs, pool)
		_, issues := binding.Check(theirs, merged, pool, "")
		if listed(issues) != listed(diff.Issues) {
			r.Fatalf("the merged binding has %s; reported was %s", listed(issues), listed(diff.Issues))
		}
		for _, i := range issues {
			switch i.Code {
			case binding.RequiredMissing, binding.InvalidType, binding.MinRows:
			default:
				if len(before) == 0 {
					r.Fatalf("%s becomes %s, which has %+v", raw, merged, i)
				}
			}
		}
		again, none := binding.Rebase(theirs, merged, theirs, pool)
		if !bytes.Equal(again, merged) || len(none.Added)+len(none.Removed)+len(none.Changed) > 0 {
			r.Fatalf("%s, rebased to its own schema, becomes %s: %+v", merged, again, none)
		}
		if same, _ := binding.Rebase(base, raw, theirs, pool); !bytes.Equal(same, merged) {
			r.Fatalf("the same input gives %s, then %s", merged, same)
		}
	})
}
