package binding_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/mail/binding"
)

// rawSchema returns a schema that is written as one JSON object.
func rawSchema(t testing.TB, text string) binding.RawSchema {
	t.Helper()
	var parts struct {
		Parameters json.RawMessage `json:"parameters_schema"`
		Sections   json.RawMessage `json:"sections_schema"`
		Slots      json.RawMessage `json:"slots_schema"`
		Groups     json.RawMessage `json:"groups_schema"`
		Expects    json.RawMessage `json:"expects_schema"`
	}
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		t.Fatalf("the schema of the test: %v", err)
	}
	return binding.RawSchema(parts)
}

func schemaOf(t testing.TB, text string) binding.Schema {
	t.Helper()
	s, err := binding.Schema{}.With(rawSchema(t, text))
	if err != nil {
		t.Fatalf("With(%s): %v", text, err)
	}
	return s
}

// onlyParameter returns the schema of one parameter named x with
// the given members: `"type": "text", "required": true`.
func onlyParameter(t testing.TB, rest string) binding.Schema {
	t.Helper()
	return schemaOf(t, `{"parameters_schema": [{"name": "x", `+rest+`}]}`)
}

// blockPool is a pool of blocks.
type blockPool []*binding.Block

func (p blockPool) Find(ref string) (*binding.Block, bool) {
	i := slices.IndexFunc(p, func(b *binding.Block) bool { return b.Slug == ref || b.ID.String() == ref })
	if i < 0 {
		return nil, false
	}
	return p[i], true
}

func (p blockPool) Eligible(s binding.Slot) []*binding.Block {
	var out []*binding.Block
	for _, b := range p {
		if !slices.ContainsFunc(s.TagFilter, func(tag string) bool { return !slices.Contains(b.Tags, tag) }) {
			out = append(out, b)
		}
	}
	return out
}

// blockOf is a block whose id is made of its slug.
func blockOf(t testing.TB, slug, tags, schema string) *binding.Block {
	t.Helper()
	return &binding.Block{ID: idtest.Named[id.Block]("id-" + slug), Slug: slug, Name: slug, Tags: strings.Fields(tags), Schema: schemaOf(t, schema)}
}

// listed writes issues as "path code", one a line.
func listed(issues []binding.Issue) string {
	var b strings.Builder
	for _, i := range issues {
		fmt.Fprintf(&b, "%s %s\n", i.Path, i.Code)
	}
	return b.String()
}

func lines(texts ...string) string {
	if len(texts) == 0 {
		return ""
	}
	return strings.Join(texts, "\n") + "\n"
}
