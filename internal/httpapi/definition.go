package httpapi

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/packetboat/packetboat/internal/rule"
)

// definition is a definition in a request, as it came. Package rule reads it and
// reports all that is wrong with it.
type definition []byte

// UnmarshalJSON keeps the text.
func (d *definition) UnmarshalJSON(b []byte) error { *d = slices.Clone(b); return nil }

// Schema describes what package rule accepts. It names no types of values, so
// that nothing is refused for them before package rule has read the definition:
// its problems have their path in it.
func (definition) Schema(huma.Registry) *huma.Schema {
	group := func(conditions *huma.Schema) *huma.Schema {
		return &huma.Schema{
			Description: "A group of conditions.", Required: []string{"logic", "conditions"},
			Properties: map[string]*huma.Schema{
				"logic":      {Description: "and or or."},
				"conditions": conditions,
				"negate":     {Description: "true: the group holds where it would not."},
			},
		}
	}
	inner := group(&huma.Schema{Description: "An array of conditions, at least one; groups may be nested five levels deep."})
	conditions := []*huma.Schema{inner}
	for _, t := range rule.LeafTypes() {
		conditions = append(conditions, leafSchema(t))
	}
	return group(&huma.Schema{
		Description: "An array of conditions, at least one: groups, and leaves of the types below.",
		Items:       &huma.Schema{AnyOf: conditions},
	})
}

func leafSchema(t rule.LeafType) *huma.Schema {
	s := &huma.Schema{
		Description: "A leaf of type " + t.Name + ".", Required: slices.Concat([]string{"type"}, t.Required, []string{"operator"}),
		Properties: map[string]*huma.Schema{"type": {Enum: []any{t.Name}}, "operator": {}}, AdditionalProperties: false,
	}
	if t.Name == "field" {
		s.Description += " It may leave out type."
		s.Required = s.Required[1:]
	}
	for _, name := range slices.Concat(t.Required, t.Optional) {
		s.Properties[name] = &huma.Schema{}
	}
	return s
}
