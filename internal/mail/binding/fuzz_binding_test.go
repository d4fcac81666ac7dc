package binding_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

// FuzzCheck checks untrusted bindings against a schema, renders them, and rebases them on
// another.
func FuzzCheck(f *testing.F) {
	s, theirs, pool := schemaOf(f, letter), schemaOf(f, changedLetter), blocks(f)
	for _, seed := range []string{
		fullBinding, ``, `null`, `[]`, `{"parameters": {"headline": 1e999999999}}`, `{"sections": {"products": [[], {}, {"price": -0.0e-7}]}}`,
		`{"slots": {"hero": {"strategy": "random", "parameters": {"title": "{{x}}"}}}}`, "{\"\xff\": 1}", `{"parameters": {"cta": "{{a}}java&#x73;cript:b"}}`,
		strings.Repeat(`[`, 20_000), `{"parameters": {"a": ` + strings.Repeat(`{"a":`, 9000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, issues := binding.Check(s, raw, pool, "seed")
		if len(issues) == 0 {
			if wrong := makeInvalid(s, b); wrong != "" {
				t.Errorf("without issues, but %s", wrong)
			}
		}
		if len(issues) > 500 {
			t.Errorf("%d issues", len(issues))
		}
		b, _ = binding.Lenient(s, raw, pool, "seed")
		if wrong := makeInvalid(s, b); wrong != "" {
			t.Errorf("Lenient leaves %s", wrong)
		}
		merged, _ := binding.Rebase(s, raw, theirs, pool)
		if !json.Valid(merged) {
			t.Errorf("the merged binding is %s", merged)
		}
	})
}

// FuzzSchema parses untrusted schemas. An accepted one can be stored and read,
// stays the same, and can be filled in.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		letter, changedLetter, quote, `{}`, `{"parameters_schema": [{"name": "a", "type": "text", "validation": {"pattern": "((a{30}){30}"}}]}`,
		`{"parameters_schema": [{"name": "a", "type": "number", "default": -12.5e-3, "validation": {"min": -1e2}}, {"name": "b", "type": "select", "validation": {"options": [{"value": ""}, "x"]}, "default": ""}]}`,
		`{"groups_schema": [{"name": "g", "parameters": ["a"]}], "expects_schema": [{"path": "a.b", "type": "object", "sample": {"x": [1.0, null]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var parts map[string]json.RawMessage
		if json.Unmarshal(raw, &parts) != nil {
			parts = map[string]json.RawMessage{"parameters_schema": raw, "sections_schema": raw}
		}
		s, err := binding.Schema{}.With(binding.RawSchema{
			Parameters: parts["parameters_schema"], Sections: parts["sections_schema"], Slots: parts["slots_schema"],
			Groups: parts["groups_schema"], Expects: parts["expects_schema"],
		})
		if err != nil {
			if !errors.Is(err, binding.ErrSchema) && !errors.Is(err, binding.ErrLimit) && !errors.Is(err, binding.ErrReference) {
				t.Errorf("With(%s): %v", raw, err)
			}
			return
		}
		first, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back binding.Schema
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatalf("%s does not come back: %v", first, err)
		}
		again, err := binding.Schema{}.With(rawSchema(t, string(first)))
		if second, _ := json.Marshal(again); err != nil || string(first) != string(second) {
			t.Errorf("%s, sent again, becomes %s, %v", first, second, err)
		}
		if wrong := makeInvalid(back, binding.Sample(back)); wrong != "" {
			t.Errorf("Sample of %s leaves %s", first, wrong)
		}
		b, _ := binding.Lenient(back, json.RawMessage(`{}`), nil, "")
		if wrong := makeInvalid(back, b); wrong != "" {
			t.Errorf("Lenient of %s leaves %s", first, wrong)
		}
	})
}
