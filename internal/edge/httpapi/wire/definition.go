package wire

import (
	"slices"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// Definition is the definition of a segment as received. Package rule parses it and reports all
// its problems.
type Definition []byte

// UnmarshalJSON copies the text.
func (d *Definition) UnmarshalJSON(b []byte) error { *d = slices.Clone(b); return nil }

// Schema describes what package rule accepts. It has no types of values, so that package rule, and
// not the schema, reports a wrong type with its path in the definition.
func (Definition) Schema(endpoint.Registry) *endpoint.Schema {
	group := func(conditions *endpoint.Schema) *endpoint.Schema {
		return &endpoint.Schema{
			Description: "A group of conditions.", Required: []string{"logic", "conditions"},
			Properties: map[string]*endpoint.Schema{
				"logic":      {Description: "and or or."},
				"conditions": conditions,
				"negate":     {Description: "true: the group matches the contacts that it would not match otherwise."},
			},
		}
	}
	inner := group(&endpoint.Schema{Description: "An array of conditions, at least one; groups may be nested five levels deep."})
	conditions := []*endpoint.Schema{inner}
	for _, t := range rule.LeafTypes() {
		conditions = append(conditions, leafSchema(t))
	}
	return group(&endpoint.Schema{
		Description: "An array of conditions, at least one: groups, and leaves of the types below.",
		Items:       &endpoint.Schema{AnyOf: conditions},
	})
}

func leafSchema(t rule.LeafType) *endpoint.Schema {
	s := &endpoint.Schema{
		Description: "A leaf of type " + t.Name + ".", Required: slices.Concat([]string{"type"}, t.Required, []string{"operator"}),
		Properties: map[string]*endpoint.Schema{"type": {Enum: []any{t.Name}}, "operator": {}}, AdditionalProperties: false,
	}
	if t.Name == "field" {
		s.Description += " type may be left out."
		s.Required = s.Required[1:]
	}
	for _, name := range slices.Concat(t.Required, t.Optional) {
		s.Properties[name] = &endpoint.Schema{}
	}
	return s
}
