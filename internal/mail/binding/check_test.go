package binding_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// letter is a schema with one of everything.
const letter = `{
	"parameters_schema": [
		{"name": "headline", "type": "text", "required": true, "validation": {"max_length": 20}, "sample": "Big news"},
		{"name": "intro", "type": "rich_text"},
		{"name": "cta", "type": "url", "required": true, "default": "https://example.org/"}],
	"sections_schema": [
		{"name": "products", "required": true, "max": 3, "item_schema": [
			{"name": "title", "type": "text", "required": true},
			{"name": "price", "type": "number", "default": 1}]},
		{"name": "footer_links", "min": 2, "item_schema": [{"name": "url", "type": "url"}]}],
	"slots_schema": [
		{"name": "hero", "tag_filter": ["hero"], "required": true, "allowed_strategies": ["fixed", "random"]},
		{"name": "aside", "tag_filter": ["aside", "new"]}]
}`

const quote = `{
	"parameters_schema": [{"name": "title", "type": "text", "required": true}, {"name": "tone", "type": "select", "validation": {"options": ["warm", "cool"]}}],
	"sections_schema": [{"name": "x", "max": 2, "item_schema": [{"name": "y", "type": "number", "required": true}]}]
}`

func blocks(t testing.TB) blockPool {
	t.Helper()
	return blockPool{
		blockOf(t, "ann", "hero", quote),
		blockOf(t, "bob", "hero new", `{"parameters_schema": [{"name": "title", "type": "text", "default": "Bob"}]}`),
		blockOf(t, "cat", "aside", `{}`),
	}
}

// fullBinding is a valid binding of letter, of which tests change one thing.
const fullBinding = `{
	"parameters": {"headline": "Hello", "intro": "<p>Hi</p>"},
	"sections": {"products": [{"title": "A", "price": 2.50}, {"title": "B"}]},
	"slots": {"hero": {"strategy": "fixed", "block_id": "ann", "parameters": {"title": "T"}, "sections": {"x": [{"y": 1}]}}}
}`

func TestEachProblemHasItsPath(t *testing.T) {
	t.Parallel()
	with := func(was, is string) string {
		if !strings.Contains(fullBinding, was) {
			t.Fatalf("%q is not in the binding", was)
		}
		return strings.Replace(fullBinding, was, is, 1)
	}
	hero := func(is string) string {
		return with(`{"strategy": "fixed", "block_id": "ann", "parameters": {"title": "T"}, "sections": {"x": [{"y": 1}]}}`, is)
	}
	for _, tt := range []struct{ name, raw, want string }{
		{"nothing", fullBinding, ""},
		{"null parts and values", with(`"intro": "<p>Hi</p>"`, `"intro": null, "cta": null`), ""},
		{"members that mean nothing", with(`"parameters": {`, `"version": 3, "parameters": {`), ""},

		{"missing", ``, " shape\n"},
		{"null", `null`, " shape\n"},
		{"an array", `[]`, " shape\n"},
		{"a string", `"binding"`, " shape\n"},
		{"broken", `{"parameters": `, " shape\n"},
		{"two values", `{} {}`, " shape\n"},
		{"deep", strings.Repeat(`{"a":`, 100_000), " shape\n"},
		{"parts of the wrong shape", `{"parameters": [], "sections": "x", "slots": 5}`, "parameters shape\nsections shape\nslots shape\n"},
		{"one part of the wrong shape", with(`{"headline": "Hello", "intro": "<p>Hi</p>"}`, `[]`), "parameters shape\n"},

		{"empty", `{}`, lines("parameters.headline required_missing", "sections.products required_missing", "slots.hero required_missing")},
		{"a null parameter", with(`"Hello"`, `null`), "parameters.headline required_missing\n"},
		{"a wrong parameter", with(`"Hello"`, `"Hello, hello, hello, hello"`), "parameters.headline invalid_type\n"},
		{"strange parameters", with(`"intro"`, `"zeta": 1, "alpha": 2, "intro"`), "parameters.alpha unknown_param\nparameters.zeta unknown_param\n"},

		{"a strange section", with(`"products": `, `"foo": [], "products": `), "sections.foo unknown_section\n"},
		{"no array", with(`[{"title": "A", "price": 2.50}, {"title": "B"}]`, `{}`), "sections.products invalid_type\n"},
		{"a row that is none", with(`{"title": "B"}`, `"B"`), "sections.products[1] invalid_type\n"},
		{"a wrong field", with(`2.50`, `"2.50"`), "sections.products[0].price invalid_type\n"},
		{"a missing field", with(`{"title": "B"}`, `{}`), "sections.products[1].title required_missing\n"},
		{"a strange field", with(`{"title": "B"}`, `{"title": "B", "colour": 1}`), "sections.products[1].colour unknown_param\n"},
		{"no rows", with(`[{"title": "A", "price": 2.50}, {"title": "B"}]`, `[]`), "sections.products min_rows\n"},
		{"too few rows", with(`"products": `, `"footer_links": [{}], "products": `), "sections.footer_links min_rows\n"},
		{"no rows where some are needed", with(`"products": `, `"footer_links": [], "products": `), "sections.footer_links min_rows\n"},
		{"too many rows", with(`{"title": "B"}`, `{"title": "B"}, {"title": "C"}, {"title": "D"}, {}`), "sections.products max_rows\n"},

		{"a strange slot", with(`"slots": {`, `"slots": {"foot": {"strategy": "empty"}, `), "slots.foot unknown_slot\n"},
		{"a bare string", hero(`"ann"`), "slots.hero invalid_type\n"},
		{"a null slot", hero(`null`), "slots.hero required_missing\n"},
		{"a strange strategy", hero(`{"strategy": "best"}`), "slots.hero.strategy invalid_strategy\n"},
		{"a strategy that is not allowed", hero(`{"strategy": "empty"}`), "slots.hero.strategy invalid_strategy\n"},
		{"a strategy that is no string", hero(`{"strategy": 1}`), "slots.hero.strategy invalid_type\n"},
		{"no block", hero(`{"strategy": "fixed"}`), "slots.hero.block_id required_missing\n"},
		{"an empty block", hero(`{"strategy": "fixed", "block_id": ""}`), "slots.hero.block_id required_missing\n"},
		{"a block that is no string", hero(`{"strategy": "fixed", "block_id": 7}`), "slots.hero.block_id invalid_type\n"},
		{"an unknown block", hero(`{"strategy": "fixed", "block_id": "eve"}`), "slots.hero.block_id block_not_eligible\n"},
		{"a block that lacks a tag", hero(`{"strategy": "fixed", "block_id": "cat"}`), "slots.hero.block_id block_not_eligible\n"},
		{"a block by id", hero(`{"strategy": "fixed", "block_id": "` + idtest.Named[id.Block]("id-bob").String() + `"}`), ""},
		{"a block without a strategy", hero(`{"block_id": "bob"}`), ""},
		{"neither", hero(`{}`), "slots.hero.block_id required_missing\n"},
		{"a missing parameter of a block", with(`{"title": "T"}`, `{}`), "slots.hero.parameters.title required_missing\n"},
		{"a wrong parameter of a block", with(`{"title": "T"}`, `{"title": 1, "tone": "hot"}`), "slots.hero.parameters.title invalid_type\nslots.hero.parameters.tone invalid_type\n"},
		{"a strange parameter of a block", with(`{"title": "T"}`, `{"title": "T", "titel": "T"}`), "slots.hero.parameters.titel unknown_param\n"},
		{"parameters of a block that are none", with(`{"title": "T"}`, `["T"]`), "slots.hero.parameters invalid_type\n"},
		{"sections of a block that are none", with(`{"x": [{"y": 1}]}`, `5`), "slots.hero.sections invalid_type\n"},
		{"a wrong field of a block", with(`{"y": 1}`, `{"y": "1"}`), "slots.hero.sections.x[0].y invalid_type\n"},
		{"too many rows of a block", with(`{"y": 1}`, `{"y": 1}, {"y": 1}, {"y": 1}`), "slots.hero.sections.x max_rows\n"},
		{"a strange section of a block", with(`{"x": [`, `{"z": [], "x": [`), "slots.hero.sections.z unknown_section\n"},
		{"an optional slot left empty", with(`"slots": {`, `"slots": {"aside": {"strategy": "empty"}, `), ""},
		{"an optional slot without a fitting block", with(`"slots": {`, `"slots": {"aside": {"strategy": "random"}, `), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, issues := binding.Check(schemaOf(t, letter), json.RawMessage(tt.raw), blocks(t), "seed")
			if diff := cmp.Diff(tt.want, listed(issues)); diff != "" {
				t.Errorf("issues (-want +got):\n%s", diff)
			}
			for _, i := range issues {
				if i.Message == "" || i.Fix == "" || i.Path != "" && !strings.Contains(i.Fix, "'"+i.Path) {
					t.Errorf("issue %+v: wants a message, and a fix that names the path", i)
				}
			}
		})
	}
}

func TestFixesOfUnknownNamesSuggestDeclaredOnes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ raw, want string }{
		{`{"sections": {"foo": []}}`, "Remove 'sections.foo' or use one of: products, footer_links"},
		{`{"sections": {"product": []}}`, "Rename 'sections.product' to 'products'"},
		{`{"sections": {"FooterLinks": []}}`, "Rename 'sections.FooterLinks' to 'footer_links'"},
		{`{"parameters": {"subject": 1}}`, "Remove 'parameters.subject' or use one of: headline, intro, cta"},
		{`{"parameters": {"headlin": 1}}`, "Rename 'parameters.headlin' to 'headline'"},
		{`{"parameters": {"` + strings.Repeat("x", 500) + `": 1}}`, "Remove 'parameters." + strings.Repeat("x", 80) + "…' or use one of: headline, intro, cta"},
		{`{"slots": {"hiro": {}}}`, "Rename 'slots.hiro' to 'hero'"},
		{`{"slots": {"hero": {"strategy": "fixed", "block_id": "cat"}}}`, "Set 'slots.hero.block_id' to the slug of a block that fits: ann, bob"},
		{`{"slots": {"aside": {"strategy": "fixed", "block_id": "cat"}}}`, "Set 'slots.aside.block_id' to the slug of a block that fits: there is none yet that carries aside, new"},
		{`{"slots": {"hero": {"strategy": "empty"}}}`, "Set 'slots.hero.strategy' to one of: fixed, random"},
		{`{"sections": {"products": []}}`, "Add 1 row to 'sections.products'"},
		{`{"sections": {"products": [{},{},{},{},{}]}}`, "Remove 2 rows from 'sections.products'"},
	} {
		_, issues := binding.Check(schemaOf(t, letter), json.RawMessage(tt.raw), blocks(t), "")
		found := false
		for _, i := range issues {
			found = found || i.Fix == tt.want
		}
		if !found {
			t.Errorf("Check(%.80s) gives %+v; wants the fix %q", tt.raw, issues, tt.want)
		}
	}
}

func TestUnboundParametersHaveTheirDefault(t *testing.T) {
	t.Parallel()
	b, issues := binding.Check(schemaOf(t, letter), json.RawMessage(fullBinding), blocks(t), "seed")
	if len(issues) > 0 {
		t.Fatal(issues)
	}
	text := func(v any) binding.Value { return binding.Value{Type: binding.Text, V: v} }
	want := binding.Bound{
		Values: map[string]binding.Value{
			"headline": text("Hello"), "intro": {Type: binding.RichText, V: "<p>Hi</p>"}, "cta": {Type: binding.URL, V: "https://example.org/"},
		},
		Rows: map[string][]map[string]binding.Value{
			"products": {
				{"title": text("A"), "price": {Type: binding.Number, V: json.Number("2.50")}},
				{"title": text("B"), "price": {Type: binding.Number, V: json.Number("1")}},
			},
			"footer_links": nil,
		},
		Slots: map[string]binding.Filling{
			"hero": {Strategy: binding.Fixed, Block: blocks(t)[0], Bound: binding.Bound{
				Values: map[string]binding.Value{"title": text("T"), "tone": {Type: binding.Select}},
				Rows:   map[string][]map[string]binding.Value{"x": {{"y": {Type: binding.Number, V: json.Number("1")}}}},
			}},
			"aside": {Strategy: binding.Empty},
		},
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("Check (-want +got):\n%s", diff)
	}
}

func TestIssuesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `"strange%d": 1,`, i)
	}
	raw := json.RawMessage(`{"parameters": {` + b.String() + `"headline": 5}}`)
	_, issues := binding.Check(schemaOf(t, letter), raw, blocks(t), "")
	if len(issues) != 500 || issues[0].Path != "parameters.headline" || issues[1].Path != "parameters.strange0" {
		t.Errorf("Check reports %d issues, the first %+v", len(issues), issues[:2])
	}
}
