package binding_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

func TestRequiredSlotsGetABlock(t *testing.T) {
	t.Parallel()
	plain := blockOf(t, "plain", "a", `{}`)
	for _, tt := range []struct{ name, slot, raw, want string }{
		{"left out, fixed by default", `"required": true`, `{}`, "slots.s required_missing\n"},
		{"left out, random by default", `"required": true, "default_strategy": "random"`, `{}`, ""},
		{"left out, random and nothing fits", `"required": true, "default_strategy": "random", "tag_filter": ["z"]`, `{}`, "slots.s required_missing\n"},
		{"left out, empty by default", `"required": true, "default_strategy": "empty"`, `{}`, "slots.s required_missing\n"},
		{"asked to be empty", `"required": true`, `{"slots": {"s": {"strategy": "empty"}}}`, "slots.s required_missing\n"},
		{"random and nothing fits", `"required": true, "tag_filter": ["z"]`, `{"slots": {"s": {"strategy": "random"}}}`, "slots.s required_missing\n"},
		{"optional, fixed by default", `"default_strategy": "fixed"`, `{}`, ""},
		{"optional, nothing fits", `"tag_filter": ["z"]`, `{"slots": {"s": {"strategy": "random"}}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := schemaOf(t, `{"slots_schema": [{"name": "s", `+tt.slot+`}]}`)
			_, issues := binding.Check(s, json.RawMessage(tt.raw), blockPool{plain}, "seed")
			if got := listed(issues); got != tt.want {
				t.Errorf("issues %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRandomBlocksAreChosenFromThoseThatFit(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{"slots_schema": [{"name": "one", "tag_filter": ["a"]}, {"name": "two", "tag_filter": ["a"]}]}`)
	var pool blockPool
	for i := range 20 {
		pool = append(pool, blockOf(t, fmt.Sprintf("free%d", i), "a", `{}`))
	}
	pool = append(pool,
		blockOf(t, "other", "b", `{}`),
		blockOf(t, "needy", "a", `{"parameters_schema": [{"name": "title", "type": "text", "required": true}]}`),
		blockOf(t, "rows", "a", `{"sections_schema": [{"name": "x", "required": true}]}`))
	raw := json.RawMessage(`{"slots": {"one": {"strategy": "random"}, "two": {"strategy": "random"}}}`)
	seen, alike := map[string]int{}, 0
	for i := range 400 {
		seed := fmt.Sprint("seed", i)
		b, issues := binding.Check(s, raw, pool, seed)
		again, _ := binding.Check(s, raw, pool, seed)
		if len(issues) > 0 {
			t.Fatal(issues)
		}
		one, two := b.Slots["one"], b.Slots["two"]
		if one.Strategy != binding.Random || one.Block != again.Slots["one"].Block || two.Block != again.Slots["two"].Block {
			t.Fatalf("seed %s chooses %s, then %s", seed, one.Block.Slug, again.Slots["one"].Block.Slug)
		}
		seen[one.Block.Slug]++
		if one.Block == two.Block {
			alike++
		}
	}
	if len(seen) != 20 || seen["other"]+seen["needy"]+seen["rows"] > 0 {
		t.Errorf("chosen are %v, want each of the 20 that need nothing", seen)
	}
	if alike > 60 {
		t.Errorf("the two slots got the same block in %d of 400 cases", alike)
	}
}

func TestRandomBlocksUseBoundValues(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{"slots_schema": [{"name": "s", "required": true}]}`)
	pool := blockPool{
		blockOf(t, "needy", "", `{"parameters_schema": [{"name": "title", "type": "text", "required": true}]}`),
		blockOf(t, "other", "", `{"parameters_schema": [{"name": "colour", "type": "color", "required": true}]}`),
	}
	check := func(parameters string) (binding.Bound, string) {
		b, issues := binding.Check(s, json.RawMessage(`{"slots": {"s": {"strategy": "random", "parameters": `+parameters+`}}}`), pool, "x")
		return b, listed(issues)
	}
	b, issues := check(`{"title": "T"}`)
	if issues != "" || b.Slots["s"].Block.Slug != "needy" || b.Slots["s"].Bound.Values["title"].V != "T" {
		t.Errorf("with a title: %+v, %s", b.Slots["s"], issues)
	}
	if b, issues = check(`{"colour": "#fff"}`); issues != "" || b.Slots["s"].Block.Slug != "other" {
		t.Errorf("with a colour: %+v, %s", b.Slots["s"], issues)
	}
	if b, issues = check(`{"colour": "#fff", "title": "T"}`); issues != "" || b.Slots["s"].Block == nil {
		t.Errorf("with what either needs: %+v, %s", b.Slots["s"], issues)
	}
	if _, issues = check(`{"title": "T", "size": 1}`); issues != "slots.s.parameters.size unknown_param\n" {
		t.Errorf("with what neither knows: %s", issues)
	}
	if _, issues = check(`{}`); issues != "slots.s required_missing\n" {
		t.Errorf("with nothing: %s", issues)
	}
}

func TestRandomBlocksThatDoNotFitTheBindingAreSkipped(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{"slots_schema": [{"name": "s", "required": true}]}`)
	pool := blockPool{
		blockOf(t, "short", "", `{"parameters_schema": [{"name": "title", "type": "text", "validation": {"max_length": 3}}]}`),
		blockOf(t, "number", "", `{"parameters_schema": [{"name": "title", "type": "number"}]}`),
		blockOf(t, "long", "", `{"parameters_schema": [{"name": "title", "type": "text"}]}`),
	}
	for i := range 50 {
		seed := fmt.Sprint(i)
		b, issues := binding.Check(s, json.RawMessage(`{"slots": {"s": {"strategy": "random", "parameters": {"title": "a long one"}}}}`), pool, seed)
		if len(issues) > 0 || b.Slots["s"].Block.Slug != "long" {
			t.Fatalf("seed %s: %+v, %+v", seed, b.Slots["s"], issues)
		}
		_, issues = binding.Check(s, json.RawMessage(`{"slots": {"s": {"strategy": "random", "parameters": {"title": true, "size": 1}}}}`), pool, seed)
		if got := listed(issues); got != lines("slots.s.parameters.title invalid_type", "slots.s.parameters.size unknown_param") {
			t.Fatalf("seed %s: %s", seed, got)
		}
	}
}
