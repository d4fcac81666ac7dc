package binding_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// changedLetter is a later version of letter.
const changedLetter = `{
	"parameters_schema": [
		{"name": "headline", "type": "textarea", "required": true, "validation": {"max_length": 4}},
		{"name": "cta", "type": "text", "required": true},
		{"name": "discount", "type": "number", "default": 10},
		{"name": "preheader", "type": "text", "required": true}],
	"sections_schema": [
		{"name": "products", "required": true, "max": 2, "item_schema": [
			{"name": "price", "type": "text", "required": true},
			{"name": "badge", "type": "text", "default": "New"},
			{"name": "image", "type": "image"}]},
		{"name": "events", "required": true}],
	"slots_schema": [
		{"name": "hero", "tag_filter": ["new"], "required": true, "default_strategy": "random"},
		{"name": "legal", "required": true},
		{"name": "extra", "default_strategy": "random"}]
}`

func TestRebaseKeepsWhatIsStillDeclared(t *testing.T) {
	t.Parallel()
	raw := `{
		"parameters": {"headline": "Hello", "intro": "<p>Tom & Ann</p>", "cta": "https://example.org/?a=1&b=2"},
		"sections": {"products": [{"title": "A", "price": 2.50}, {"title": "B"}, {"title": "C", "price": 1}], "footer_links": [{"url": "https://a.example"}, {}]},
		"slots": {"hero": {"strategy": "fixed", "block_id": "ann", "parameters": {"title": "T"}}, "aside": {"strategy": "empty"}}}`
	base, theirs := schemaOf(t, letter), schemaOf(t, changedLetter)
	merged, diff := binding.Rebase(base, json.RawMessage(raw), theirs, blocks(t))
	golden(t, "rebase.json", map[string]any{"merged_binding": merged, "diff": diff})
}

func TestRebaseOfSlots(t *testing.T) {
	t.Parallel()
	base := schemaOf(t, `{"slots_schema": [{"name": "s"}]}`)
	for _, tt := range []struct{ name, slot, filled, want string }{
		{"a block that still fits stays", ``, `{"strategy": "fixed", "block_id": "ann", "parameters": {"title": "T", "gone": 1}}`, `{"block_id":"ann","parameters":{"title":"T"},"strategy":"fixed"}`},
		{"a block that fits no more", `"tag_filter": ["aside"]`, `{"strategy": "fixed", "block_id": "ann"}`, `{"strategy":"empty"}`},
		{"a block that is gone", `"default_strategy": "random"`, `{"strategy": "fixed", "block_id": "eve"}`, `{"strategy":"random"}`},
		{"a block that is gone from a slot that wants one", `"required": true`, `{"strategy": "fixed", "block_id": "eve"}`, ``},
		{"chance stays", ``, `{"strategy": "random", "parameters": {"title": "T", "gone": 1}}`, `{"parameters":{"title":"T"},"strategy":"random"}`},
		{"chance that is not allowed any more", `"allowed_strategies": ["empty"]`, `{"strategy": "random"}`, `{"strategy":"empty"}`},
		{"not bound", `"required": true`, `null`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rest := tt.slot
			if rest != "" {
				rest = ", " + rest
			}
			theirs := schemaOf(t, `{"slots_schema": [{"name": "s"`+rest+`}]}`)
			merged, _ := binding.Rebase(base, json.RawMessage(`{"slots": {"s": `+tt.filled+`}}`), theirs, blocks(t))
			want := `{"parameters":{},"sections":{},"slots":{}}`
			if tt.want != "" {
				want = `{"parameters":{},"sections":{},"slots":{"s":` + tt.want + `}}`
			}
			if string(merged) != want {
				t.Errorf("merged is %s, want %s", merged, want)
			}
		})
	}
}

func TestTypesThatCarryOver(t *testing.T) {
	t.Parallel()
	value := map[binding.Type]string{
		"text": `"a"`, "textarea": `"a"`, "rich_text": `"a"`, "html": `"a"`, "url": `"https://a.example"`, "image": `"https://a.example"`, "email": `"a@b.org"`,
		"color": `"#fff"`, "number": `1.50`, "boolean": `true`, "date": `"2026-01-01"`, "datetime": `"2026-01-01T00:00:00Z"`, "select": `"a"`, "list": `["a"]`,
	}
	rest := func(t binding.Type) string {
		if t == binding.Select {
			return `"type": "select", "validation": {"options": ["a"]}`
		}
		return `"type": "` + string(t) + `"`
	}
	textLike := "text textarea url email color select date datetime number"
	for from, v := range value {
		for to := range value {
			compatible := from == to || bytes.Contains([]byte(" "+textLike+" "), []byte(" "+from+" ")) && (to == "text" || to == "textarea" || to == "rich_text")
			merged, diff := binding.Rebase(onlyParameter(t, rest(from)), json.RawMessage(`{"parameters": {"x": `+v+`}}`), onlyParameter(t, rest(to)), nil)
			want := `{}`
			switch {
			case compatible && from == "number" && to != "number":
				want = `{"x":"1.50"}`
			case compatible:
				want = `{"x":` + v + `}`
			}
			if got := string(merged); got != `{"parameters":`+want+`,"sections":{},"slots":{}}` {
				t.Errorf("%s to %s gives %s, want %s", from, to, got, want)
			}
			if from != to && (len(diff.Changed) != 1 || diff.Changed[0].ValueKept != compatible) {
				t.Errorf("%s to %s is reported as %+v", from, to, diff.Changed)
			}
			if len(diff.Issues) > 0 {
				t.Errorf("%s to %s leaves %+v", from, to, diff.Issues)
			}
		}
	}
}

// golden compares v as JSON with a file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
