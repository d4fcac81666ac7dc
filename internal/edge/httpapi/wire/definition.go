package wire

import (
	"reflect"
	"slices"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// Definition is the definition of a segment as received. Package rule parses it and reports all
// its problems.
type Definition []byte

// UnmarshalJSON copies the text.
func (d *Definition) UnmarshalJSON(b []byte) error { *d = slices.Clone(b); return nil }

// Schema describes what package rule accepts. What is checked has no types of values, so that package rule, and
// not the schema, reports a wrong type with its path in the definition.
func (Definition) Schema(all endpoint.Registry) *endpoint.Schema {
	return endpoint.ShownSchema(checkedDefinition(), all.Schema(reflect.TypeFor[shownDefinition](), true, ""))
}

// shownDefinition describes a definition for programs.
type shownDefinition struct {
	Logic      string           `json:"logic" enum:"and,or" doc:"Whether all conditions must match, or any."`
	Conditions []shownCondition `json:"conditions" doc:"At least one."`
	Negate     bool             `json:"negate,omitempty" doc:"true: it matches the contacts that it would not match otherwise."`
}

// SchemaName is the name in the document.
func (shownDefinition) SchemaName() string { return "RuleDefinition" }

// shownCondition describes a group or a leaf. It has the fields of all leaves, since generators of clients cannot tell
// objects apart that have fields in common.
type shownCondition struct {
	Type          string   `json:"type,omitempty" enum:"field,list,segment,email,broadcast,sequence_email,event,event_sequence,page_view,form,subscription,sequence,suppression" doc:"Of a leaf; field when absent. Each type has its operators and fields; those named below without a type are for all leaves."`
	Operator      string   `json:"operator,omitempty" doc:"Of a leaf."`
	Field         string   `json:"field,omitempty" doc:"Of field: a field of contacts."`
	Value         any      `json:"value,omitempty" doc:"Of field."`
	SegmentKeys   []string `json:"segment_keys,omitempty" doc:"Of list and segment."`
	Added         any      `json:"added,omitempty" doc:"Of list: the window in which contacts were added."`
	Event         string   `json:"event,omitempty" doc:"Of email, broadcast and sequence_email: what happened to the mail."`
	EmailTypeKeys []string `json:"email_type_keys,omitempty" doc:"Of email."`
	BroadcastID   string   `json:"broadcast_id,omitempty" doc:"Of broadcast."`
	VariantID     string   `json:"variant_id,omitempty" doc:"Of broadcast."`
	LinkURL       string   `json:"link_url,omitempty" doc:"Of broadcast, for clicks."`
	Level         string   `json:"level,omitempty" doc:"Of email, broadcast and sequence_email, for opens and clicks: verified, confirmed or apparent."`
	SequenceID    string   `json:"sequence_id,omitempty" doc:"Of sequence and sequence_email."`
	NodeID        string   `json:"node_id,omitempty" doc:"Of sequence_email."`
	EventName     string   `json:"event_name,omitempty" doc:"Of event."`
	Filters       any      `json:"filters,omitempty" doc:"Of event: an array of conditions on its properties."`
	First         any      `json:"first,omitempty" doc:"Of event_sequence: the first event, an object of event_name and filters, as an event leaf has them."`
	Then          any      `json:"then,omitempty" doc:"Of event_sequence: the event that follows it, an object like first."`
	Within        any      `json:"within,omitempty" doc:"Of event_sequence: the time in which it follows, an object of amount and unit: hour, day or week."`
	URL           string   `json:"url,omitempty" doc:"Of page_view."`
	Match         string   `json:"match,omitempty" doc:"Of page_view: how the URL is compared."`
	FormSlug      string   `json:"form_slug,omitempty" doc:"Of form."`
	EmailTypeKey  string   `json:"email_type_key,omitempty" doc:"Of subscription."`
	CategoryID    string   `json:"category_id,omitempty" doc:"Of subscription."`
	Count         any      `json:"count,omitempty" doc:"Of email, event and page_view: how often."`
	Window        any      `json:"window,omitempty" doc:"Of email, event, event_sequence (its first event), page_view, form and sequence: when."`

	Logic      string           `json:"logic,omitempty" enum:"and,or" doc:"Of a group."`
	Conditions []shownCondition `json:"conditions,omitempty" doc:"Of a group: at least one; groups may be nested five levels deep."`
	Negate     bool             `json:"negate,omitempty" doc:"Of a group."`
}

// SchemaName is the name in the document.
func (shownCondition) SchemaName() string { return "RuleCondition" }

func checkedDefinition() *endpoint.Schema {
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
