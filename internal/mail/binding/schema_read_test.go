package binding_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

func TestSchemaEntriesGetTheirDefaults(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{
		"parameters_schema": [{"name": "headline", "type": "text"}],
		"sections_schema": [{"name": "products"}, {"name": "links", "required": true, "max": 3, "item_schema": [{"name": "url", "type": "url"}]}],
		"slots_schema": [{"name": "a"}, {"name": "b", "required": true}, {"name": "c", "allowed_strategies": ["random", "fixed"]}, {"name": "d", "tag_filter": ["x"], "default_strategy": "random"}],
		"groups_schema": [{"name": "g", "slots": ["a"]}],
		"expects_schema": [{"path": "contact.plan", "type": "string"}]
	}`)
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"parameters_schema":[{"name":"headline","type":"text","required":false,"label":null,"help_text":null,"validation":{},"sample":null,"default":null}],` +
		`"sections_schema":[{"name":"products","label":null,"help_text":null,"required":false,"min":0,"max":200,"item_schema":[]},` +
		`{"name":"links","label":null,"help_text":null,"required":true,"min":1,"max":3,"item_schema":[{"name":"url","type":"url","required":false,"label":null,"help_text":null,"validation":{},"sample":null,"default":null}]}],` +
		`"slots_schema":[{"name":"a","label":null,"help_text":null,"tag_filter":[],"required":false,"allowed_strategies":["fixed","random","empty"],"default_strategy":"empty"},` +
		`{"name":"b","label":null,"help_text":null,"tag_filter":[],"required":true,"allowed_strategies":["fixed","random","empty"],"default_strategy":"fixed"},` +
		`{"name":"c","label":null,"help_text":null,"tag_filter":[],"required":false,"allowed_strategies":["random","fixed"],"default_strategy":"random"},` +
		`{"name":"d","label":null,"help_text":null,"tag_filter":["x"],"required":false,"allowed_strategies":["fixed","random","empty"],"default_strategy":"random"}],` +
		`"groups_schema":[{"name":"g","label":null,"help_text":null,"parameters":[],"sections":[],"slots":["a"],"collapsed":false}],` +
		`"expects_schema":[{"path":"contact.plan","type":"string","required":false,"label":null,"fallback":null,"item_schema":[],"sample":null}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the schema as JSON (-want +got):\n%s", diff)
	}
}

func TestStoredSchemasComeBackTheSame(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{
		"parameters_schema": [
			{"name": "headline", "type": "text", "required": true, "label": "Headline", "help_text": "Short.", "validation": {"min_length": 1, "max_length": 60, "pattern": "\\S.*"}, "sample": "Tom & <b>", "default": "Hi"},
			{"name": "price", "type": "number", "validation": {"min": 1, "max": 2.50, "integer": false, "unheard_of": 1}, "default": 15e-1},
			{"name": "size", "type": "select", "validation": {"options": ["S", {"value": "M", "label": "Medium"}, {"value": "L"}]}, "sample": "M"},
			{"name": "day", "type": "date", "validation": {"min": "2026-01-01"}},
			{"name": "link", "type": "url", "validation": {"schemes": ["https"]}},
			{"name": "words", "type": "list", "validation": {"min_items": 1, "max_items": 3}, "sample": ["a", "b"]}],
		"expects_schema": [{"path": "contact.custom_fields.orders", "type": "array", "label": "Orders", "fallback": [], "item_schema": [{"name": "sku", "type": "string"}], "sample": [{"sku": "A1"}]}]
	}`)
	first, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back binding.Schema
	if err := json.Unmarshal(first, &back); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(back)
	if err != nil || string(first) != string(second) {
		t.Errorf("stored %s, %v\nread back %s", first, err, second)
	}
	again, err := binding.Schema{}.With(rawSchema(t, string(first)))
	if third, _ := json.Marshal(again); err != nil || string(first) != string(third) {
		t.Errorf("what was answered and sent again is %s, %v; want %s", third, err, first)
	}
	for _, want := range []string{`"options":["S",{"value":"M","label":"Medium"},"L"]`, `"default":1.5`, `"max":2.50`, `"fallback":[]`} {
		if !strings.Contains(string(first), want) {
			t.Errorf("stored is %s, which lacks %s", first, want)
		}
	}
	if strings.Contains(string(first), "unheard_of") {
		t.Error("a rule that no type knows is kept")
	}
}

func TestPartsThatAreNotSentStay(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{"parameters_schema": [{"name": "a", "type": "text"}], "slots_schema": [{"name": "s"}], "groups_schema": [{"name": "g", "parameters": ["a"]}]}`)
	got, err := s.With(binding.RawSchema{Slots: json.RawMessage(`null`)})
	if err != nil || len(got.Parameters) != 1 || got.Slots == nil || len(got.Slots) != 0 || len(got.Groups) != 1 {
		t.Errorf("With(slots null) = %+v, %v", got, err)
	}
	if _, err := s.With(binding.RawSchema{Parameters: json.RawMessage(`[]`)}); !errors.Is(err, binding.ErrReference) {
		t.Errorf("a group of a parameter that is gone: %v, want UNRESOLVED_REFERENCE", err)
	}
}

func TestMalformedEntriesAreReportedWithTheirPath(t *testing.T) {
	t.Parallel()
	parameter := func(rest string) string { return `{"parameters_schema": [{"name": "a", ` + rest + `}]}` }
	for _, tt := range []struct{ schema, want string }{
		{`{"parameters_schema": {}}`, "parameters_schema"},
		{`{"parameters_schema": [5]}`, "parameters_schema[0]"},
		{`{"parameters_schema": [{}]}`, "parameters_schema[0].name parameters_schema[0].type"},
		{`{"parameters_schema": [{"name": "A", "type": "string"}]}`, "parameters_schema[0].name parameters_schema[0].type"},
		{`{"parameters_schema": [{"name": "_a", "type": "text"}, {"name": "` + strings.Repeat("a", 65) + `", "type": "text"}]}`, "parameters_schema[0].name parameters_schema[1].name"},
		{`{"parameters_schema": [{"name": "a", "type": "text"}, {"name": "a", "type": "url"}]}`, "parameters_schema[1].name"},
		{parameter(`"type": "text", "required": "yes", "label": 5, "help_text": "` + strings.Repeat("a", 2001) + `"`), "parameters_schema[0].required parameters_schema[0].label parameters_schema[0].help_text"},
		{parameter(`"type": "text", "required": null`), "parameters_schema[0].required"},
		{parameter(`"type": "text", "validation": []`), "parameters_schema[0].validation"},
		{parameter(`"type": "text", "validation": {"max_length": "5"}`), "parameters_schema[0].validation.max_length"},
		{parameter(`"type": "text", "validation": {"max_length": 0}`), "parameters_schema[0].validation.max_length"},
		{parameter(`"type": "text", "validation": {"max_length": 1.5}`), "parameters_schema[0].validation.max_length"},
		{parameter(`"type": "text", "validation": {"min_length": 5, "max_length": 4}`), "parameters_schema[0].validation.min_length"},
		{parameter(`"type": "number", "validation": {"max_length": 4}`), "parameters_schema[0].validation.max_length"},
		{parameter(`"type": "rich_text", "validation": {"pattern": "a", "min_length": 1}`), "parameters_schema[0].validation.min_length parameters_schema[0].validation.pattern"},
		{parameter(`"type": "text", "validation": {"pattern": "(a"}`), "parameters_schema[0].validation.pattern"},
		{parameter(`"type": "text", "validation": {"pattern": "a)(b"}`), "parameters_schema[0].validation.pattern"},
		{parameter(`"type": "text", "validation": {"pattern": "(?=a)"}`), "parameters_schema[0].validation.pattern"},
		{parameter(`"type": "text", "validation": {"pattern": "(\\pL{40}){20}(a{30}){10}"}`), "parameters_schema[0].validation.pattern"},
		{parameter(`"type": "text", "validation": {"pattern": "` + strings.Repeat("a", 501) + `"}`), "parameters_schema[0].validation.pattern"},
		{parameter(`"type": "url", "validation": {"schemes": ["https:", "javascript", "https", "https"]}`), "parameters_schema[0].validation.schemes[0] parameters_schema[0].validation.schemes[1] parameters_schema[0].validation.schemes[3]"},
		{parameter(`"type": "url", "validation": {"schemes": []}`), "parameters_schema[0].validation.schemes"},
		{parameter(`"type": "number", "validation": {"min": "1", "max": 1e99}`), "parameters_schema[0].validation.min parameters_schema[0].validation.max"},
		{parameter(`"type": "number", "validation": {"min": 2, "max": 1.5}`), "parameters_schema[0].validation.min"},
		{parameter(`"type": "number", "validation": {"integer": 1}`), "parameters_schema[0].validation.integer"},
		{parameter(`"type": "date", "validation": {"min": "2026-02-30"}`), "parameters_schema[0].validation.min"},
		{parameter(`"type": "datetime", "validation": {"min": "2026-01-01T00:00:00Z", "max": "2026-01-01T00:30:00+01:00"}`), "parameters_schema[0].validation.min"},
		{parameter(`"type": "select"`), "parameters_schema[0].validation.options"},
		{parameter(`"type": "select", "validation": {"options": []}`), "parameters_schema[0].validation.options"},
		{parameter(`"type": "select", "validation": {"options": ["a", "a", 5, {"label": "x"}, {"value": "b", "label": 5}]}`),
			"parameters_schema[0].validation.options[1] parameters_schema[0].validation.options[2] parameters_schema[0].validation.options[3].value parameters_schema[0].validation.options[4].label"},
		{parameter(`"type": "select", "validation": {"options": ["{{ a }}", "b\nc", {"value": "` + strings.Repeat("a", 501) + `"}, "d"]}`),
			"parameters_schema[0].validation.options[0] parameters_schema[0].validation.options[1] parameters_schema[0].validation.options[2].value"},
		{parameter(`"type": "list", "validation": {"min_items": 3, "max_items": 2}`), "parameters_schema[0].validation.min_items"},
		{parameter(`"type": "text", "validation": {"max_length": 2}, "sample": "abc", "default": 5`), "parameters_schema[0].sample parameters_schema[0].default"},
		{parameter(`"type": "select", "validation": {"options": ["a"]}, "default": "b"`), "parameters_schema[0].default"},
		{parameter(`"type": "list", "sample": ["a", 5]`), "parameters_schema[0].sample[1]"},
		{parameter(`"type": "url", "default": "javascript:alert(1)"`), "parameters_schema[0].default"},
		{`{"sections_schema": [{"name": "s", "min": -1, "max": 201}]}`, "sections_schema[0].min sections_schema[0].max"},
		{`{"sections_schema": [{"name": "s", "min": 3, "max": 2}]}`, "sections_schema[0].min"},
		{`{"sections_schema": [{"name": "s", "item_schema": [{"name": "f", "type": "text"}, {"name": "f", "type": "nope"}]}]}`, "sections_schema[0].item_schema[1].type sections_schema[0].item_schema[1].name"},
		{`{"slots_schema": [{"name": "s", "allowed_strategies": []}]}`, "slots_schema[0].allowed_strategies"},
		{`{"slots_schema": [{"name": "s", "allowed_strategies": ["fixed", "best"], "default_strategy": "worst"}]}`, "slots_schema[0].allowed_strategies[1] slots_schema[0].default_strategy"},
		{`{"slots_schema": [{"name": "s", "allowed_strategies": ["fixed"], "default_strategy": "empty"}]}`, "slots_schema[0].default_strategy"},
		{`{"slots_schema": [{"name": "s", "tag_filter": ["", " a", "b"]}]}`, "slots_schema[0].tag_filter[0] slots_schema[0].tag_filter[1]"},
		{`{"parameters_schema": [{"name": "a", "type": "text"}], "groups_schema": [{"name": "g", "parameters": ["a"]}, {"name": "h", "parameters": ["a"], "collapsed": "no"}]}`,
			"groups_schema[1].collapsed groups_schema[1].parameters[0]"},
		{`{"expects_schema": [{"type": "text"}, {"path": "contact..x", "type": "string"}, {"path": "plan", "type": "number", "fallback": "x", "item_schema": [{}]}]}`,
			"expects_schema[0].path expects_schema[0].type expects_schema[1].path expects_schema[2].item_schema expects_schema[2].fallback"},
		{`{"expects_schema": [{"path": "a", "type": "array", "item_schema": [{"name": "a b", "type": "string"}], "sample": {}}, {"path": "a", "type": "date", "sample": "soon"}]}`,
			"expects_schema[0].item_schema[0].name expects_schema[0].sample expects_schema[1].sample expects_schema[1].path"},
	} {
		_, err := binding.Schema{}.With(rawSchema(t, tt.schema))
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != "INVALID_SCHEMA" {
			t.Errorf("With(%s): %v, want INVALID_SCHEMA", tt.schema, err)
			continue
		}
		var paths []string
		for _, p := range f.Details.(fault.Fields).Fields {
			paths = append(paths, p.Path)
		}
		if got := strings.Join(paths, " "); got != tt.want {
			t.Errorf("With(%s) reports\n%s, want\n%s\n%v", tt.schema, got, tt.want, err)
		}
	}
}

func TestSchemasAreBounded(t *testing.T) {
	t.Parallel()
	many := func(n int, entry string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(entry, "#", fmt.Sprint(i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for _, tt := range []struct {
		name, format, entry string
		most                int
	}{
		{"parameters", `{"parameters_schema": %s}`, `{"name": "p#", "type": "text"}`, 100},
		{"sections", `{"sections_schema": %s}`, `{"name": "p#"}`, 30},
		{"fields", `{"sections_schema": [{"name": "s", "item_schema": %s}]}`, `{"name": "p#", "type": "text"}`, 100},
		{"slots", `{"slots_schema": %s}`, `{"name": "p#"}`, 30},
		{"tags", `{"slots_schema": [{"name": "s", "tag_filter": %s}]}`, `"t#"`, 50},
		{"groups", `{"groups_schema": %s}`, `{"name": "p#"}`, 100},
		{"expectations", `{"expects_schema": %s}`, `{"path": "p#", "type": "string"}`, 100},
		{"options", `{"parameters_schema": [{"name": "p", "type": "select", "validation": {"options": %s}}]}`, `"o#"`, 500},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := (binding.Schema{}).With(rawSchema(t, fmt.Sprintf(tt.format, many(tt.most, tt.entry)))); err != nil {
				t.Errorf("%d are refused: %v", tt.most, err)
			}
			if _, err := (binding.Schema{}).With(rawSchema(t, fmt.Sprintf(tt.format, many(tt.most+1, tt.entry)))); !errors.Is(err, binding.ErrLimit) {
				t.Errorf("%d: %v, want LIMIT_EXCEEDED", tt.most+1, err)
			}
		})
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	_, err := binding.Schema{}.With(rawSchema(t, `{"expects_schema": [{"path": "a", "type": "array", "sample": `+deep+`}]}`))
	if !errors.Is(err, binding.ErrSchema) {
		t.Errorf("a sample nested 5000 deep: %v, want INVALID_SCHEMA", err)
	}
	deep = strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	_, err = binding.Schema{}.With(binding.RawSchema{Parameters: json.RawMessage(deep)})
	if !errors.Is(err, binding.ErrSchema) {
		t.Errorf("parameters nested 100,000 deep: %v, want INVALID_SCHEMA", err)
	}
}

func TestGroupsContainOnlyDeclaredNames(t *testing.T) {
	t.Parallel()
	_, err := binding.Schema{}.With(rawSchema(t, `{
		"parameters_schema": [{"name": "a", "type": "text"}], "slots_schema": [{"name": "s"}],
		"groups_schema": [{"name": "g", "parameters": ["a", "b"], "slots": ["a"]}, {"name": "h", "sections": ["s"]}]}`))
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != "UNRESOLVED_REFERENCE" {
		t.Fatalf("With: %v, want UNRESOLVED_REFERENCE", err)
	}
	want := binding.References{References: []binding.Reference{
		{Token: "b", Field: "groups_schema[0].parameters"}, {Token: "a", Field: "groups_schema[0].slots"}, {Token: "s", Field: "groups_schema[1].sections"},
	}}
	if diff := cmp.Diff(want, f.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestExpectationsHaveSamplesOfTheirType(t *testing.T) {
	t.Parallel()
	for of, tt := range map[string]struct{ good, bad string }{
		"string":   {`"a"`, `5`},
		"number":   {`1.5`, `"1.5"`},
		"boolean":  {`false`, `0`},
		"date":     {`"2026-01-31"`, `"2026-02-30"`},
		"datetime": {`"2026-01-31T10:00:00Z"`, `"2026-01-31"`},
		"array":    {`[{"sku": "A1"}]`, `{}`},
		"object":   {`{"a": [1]}`, `[]`},
	} {
		for _, key := range []string{"sample", "fallback"} {
			text := `{"expects_schema": [{"path": "contact.x", "type": "` + of + `", "` + key + `": `
			if _, err := (binding.Schema{}).With(rawSchema(t, text+tt.good+`}]}`)); err != nil {
				t.Errorf("%s %s of %s: %v", key, tt.good, of, err)
			}
			if _, err := (binding.Schema{}).With(rawSchema(t, text+tt.bad+`}]}`)); !errors.Is(err, binding.ErrSchema) {
				t.Errorf("%s %s of %s: %v, want INVALID_SCHEMA", key, tt.bad, of, err)
			}
		}
	}
}
