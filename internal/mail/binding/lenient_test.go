package binding_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

func TestMissingValuesAreShown(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]any{
		`"type": "text"`:                             "[x]",
		`"type": "textarea"`:                         "[x]",
		`"type": "rich_text"`:                        "[x]",
		`"type": "html"`:                             "[x]",
		`"type": "url"`:                              "https://example.com/",
		`"type": "image"`:                            "https://placehold.co/600x200/cccccc/cccccc.png",
		`"type": "email"`:                            "name@example.com",
		`"type": "color"`:                            "#cccccc",
		`"type": "number"`:                           json.Number("0"),
		`"type": "boolean"`:                          false,
		`"type": "date"`:                             "2030-01-31",
		`"type": "datetime"`:                         "2030-01-31T09:00:00Z",
		`"type": "list"`:                             []string{"[x]"},
		`"type": "text", "sample": "Big <news>"`:     "Big <news>",
		`"type": "number", "sample": 1.50`:           json.Number("1.50"),
		`"type": "number", "validation": {"min": 3}`: json.Number("3"),
		`"type": "date", "validation": {"min": "2031-01-01"}`:          "2031-01-01",
		`"type": "select", "validation": {"options": ["a", "b"]}`:      "a",
		`"type": "list", "sample": ["a"]`:                              []string{"a"},
		`"type": "image", "sample": "https://example.org/i.png"`:       "https://example.org/i.png",
		`"type": "datetime", "sample": "2031-01-01T00:00:00.5+01:00"`:  "2031-01-01T00:00:00.5+01:00",
		`"type": "boolean", "sample": true`:                            true,
		`"type": "text", "sample": "S", "validation": {"pattern":"S"}`: "S",
	} {
		s := onlyParameter(t, rest+`, "required": true`)
		b, issues := binding.Lenient(s, json.RawMessage(`{}`), nil, "")
		if diff := cmp.Diff(want, b.Values["x"].V); diff != "" || listed(issues) != "parameters.x required_missing\n" {
			t.Errorf("%s (-want +got):\n%s%s", rest, diff, listed(issues))
		}
		b, _ = binding.Lenient(s, json.RawMessage(`{"parameters": {"x": {}}}`), nil, "")
		if diff := cmp.Diff(want, b.Values["x"].V); diff != "" {
			t.Errorf("%s, bound to what does not fit (-want +got):\n%s", rest, diff)
		}
		if diff := cmp.Diff(want, binding.Sample(s).Values["x"].V); diff != "" {
			t.Errorf("Sample of %s (-want +got):\n%s", rest, diff)
		}
	}
}

func TestMissingPartsOfALetterAreShown(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, letter)
	b, issues := binding.Lenient(s, json.RawMessage(`{"slots": {"aside": {"strategy": "fixed", "block_id": "none"}}}`), blocks(t), "")
	if got := listed(issues); got != lines("parameters.headline required_missing", "sections.products required_missing", "slots.hero required_missing", "slots.aside.block_id block_not_eligible") {
		t.Errorf("issues are\n%s", got)
	}
	want := binding.Bound{
		Values: map[string]binding.Value{
			"headline": {Type: binding.Text, V: "Big news"}, "intro": {Type: binding.RichText}, "cta": {Type: binding.URL, V: "https://example.org/"},
		},
		Rows: map[string][]map[string]binding.Value{
			"products":     {{"title": {Type: binding.Text, V: "[title]"}, "price": {Type: binding.Number, V: json.Number("1")}}},
			"footer_links": nil,
		},
		Slots: map[string]binding.Filling{
			"hero":  {Strategy: binding.Empty, Notice: "[slot: hero]"},
			"aside": {Strategy: binding.Empty, Notice: "[slot: aside]"},
		},
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("Lenient (-want +got):\n%s", diff)
	}
	b, _ = binding.Lenient(s, json.RawMessage(`{"slots": {"hero": {"strategy": "fixed", "block_id": "ann"}}}`), blocks(t), "")
	if got := b.Slots["hero"]; got.Block == nil || got.Bound.Values["title"].V != "[title]" {
		t.Errorf("a block that lacks a parameter is %+v", got)
	}
}

func TestSampleHasOneRowOfEachSection(t *testing.T) {
	t.Parallel()
	b := binding.Sample(schemaOf(t, letter))
	if len(b.Values) != 3 || len(b.Rows["products"]) != 1 || len(b.Rows["footer_links"]) != 1 || b.Rows["footer_links"][0]["url"].V != "https://example.com/" || b.Slots["aside"].Notice != "[slot: aside]" {
		t.Errorf("Sample = %+v", b)
	}
}
