package sequence

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/rule"
	"github.com/packetboat/packetboat/internal/slug"
)

// TriggerType is the kind of a trigger.
type TriggerType string

// The types of triggers.
const (
	OnEvent          TriggerType = "event"
	OnListAdded      TriggerType = "list_added"
	OnForm           TriggerType = "form_submitted"
	OnTagAdded       TriggerType = "tag_added"
	OnStageChanged   TriggerType = "stage_changed"
	OnContactCreated TriggerType = "contact_created"
	OnFieldChanged   TriggerType = "field_changed"
	OnEngagement     TriggerType = "email_engagement"
)

// TriggerTypes returns all types of triggers.
func TriggerTypes() []TriggerType {
	return []TriggerType{
		OnEvent, OnListAdded, OnForm, OnTagAdded, OnStageChanged, OnContactCreated, OnFieldChanged, OnEngagement,
	}
}

// Trigger enrolls contacts when something happens.
type Trigger struct {
	Type   TriggerType   `json:"trigger_type"`
	Config TriggerConfig `json:"trigger_config"`
}

// TriggerConfig says when a trigger fires. Which fields are set depends on its type.
type TriggerConfig struct {
	Event   string          `json:"event_name,omitempty"`
	Filters json.RawMessage `json:"filters,omitempty"` // of the event's properties

	Segment string `json:"segment_key,omitempty"`

	Form      string   `json:"form_slug,omitempty"`
	Tag       string   `json:"tag,omitempty"`
	FromStage id.Stage `json:"from_stage_id,omitzero"`
	ToStage   id.Stage `json:"to_stage_id,omitzero"`
	Source    string   `json:"source,omitempty"` // of a new contact; empty: any

	Field string `json:"field,omitempty"` // that changed
	To    any    `json:"to,omitempty"`    // the new value of the field; nil: any

	Engagement string       `json:"event,omitempty"` // "opened" or "clicked"
	Broadcast  id.Broadcast `json:"broadcast_id,omitzero"`
	Link       string       `json:"link_url,omitempty"`

	Definition json.RawMessage `json:"definition,omitempty"` // a rule that the contact must satisfy
}

// ParseTrigger parses a trigger. Null means that there is none.
func ParseTrigger(raw json.RawMessage) (*Trigger, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var t Trigger
	if err := decodeStrictly(raw, &t); err != nil {
		return nil, err
	}
	return &t, t.check()
}

// check checks what the trigger says by itself.
func (t Trigger) check() error {
	if !slices.Contains(TriggerTypes(), t.Type) {
		return fmt.Errorf("trigger_type: there is no type %q", t.Type)
	}
	c := t.Config
	var err error
	switch t.Type {
	case OnEvent:
		err = checkEventName("event_name", c.Event)
	case OnListAdded:
		err = required("segment_key", c.Segment != "")
	case OnForm:
		if !slug.Valid(c.Form) {
			err = fmt.Errorf("form_slug: %s", slug.Rule)
		}
	case OnTagAdded:
		err = required("tag", c.Tag != "")
	case OnStageChanged:
		err = required("to_stage_id", !c.ToStage.IsZero())
	case OnFieldChanged:
		err = required("field", c.Field != "")
		switch c.To.(type) {
		case nil, string, float64, bool:
		default:
			err = errors.Join(err, errors.New("to: must be a text, a number or a boolean"))
		}
	case OnEngagement:
		err = named("event", oneOf(c.Engagement, "opened", "clicked"))
		if c.Link != "" && c.Engagement != "clicked" {
			err = errors.Join(err, errors.New("link_url: only a click has a link"))
		}
	}
	if stray := t.stray(); stray != "" {
		err = errors.Join(err, fmt.Errorf("%s: a trigger of type %s has no such field", stray, t.Type))
	}
	return named("trigger_config", err)
}

// stray returns the name of a field that is set and that the type does not have, or "".
func (t Trigger) stray() string {
	c := t.Config
	for _, f := range []struct {
		name  string
		set   bool
		types []TriggerType
	}{
		{"event_name", c.Event != "", []TriggerType{OnEvent}},
		{"filters", c.Filters != nil, []TriggerType{OnEvent}},
		{"segment_key", c.Segment != "", []TriggerType{OnListAdded}},
		{"form_slug", c.Form != "", []TriggerType{OnForm}},
		{"tag", c.Tag != "", []TriggerType{OnTagAdded}},
		{"from_stage_id", !c.FromStage.IsZero(), []TriggerType{OnStageChanged}},
		{"to_stage_id", !c.ToStage.IsZero(), []TriggerType{OnStageChanged}},
		{"source", c.Source != "", []TriggerType{OnContactCreated}},
		{"field", c.Field != "", []TriggerType{OnFieldChanged}},
		{"to", c.To != nil, []TriggerType{OnFieldChanged}},
		{"event", c.Engagement != "", []TriggerType{OnEngagement}},
		{"broadcast_id", !c.Broadcast.IsZero(), []TriggerType{OnEngagement}},
		{"link_url", c.Link != "", []TriggerType{OnEngagement}},
	} {
		if f.set && !slices.Contains(f.types, t.Type) {
			return f.name
		}
	}
	return ""
}

// ExitEvent is a custom event that ends an enrollment.
type ExitEvent struct {
	Name    string          `json:"event_name"`
	Filters json.RawMessage `json:"filters,omitempty"`
}

// Exits are the conditions that end an enrollment, wherever it is.
type Exits struct {
	Definition  json.RawMessage `json:"definition,omitempty"`
	Events      []ExitEvent     `json:"events,omitempty"`
	SegmentLeft string          `json:"on_segment_left,omitempty"`
}

// maxExitEvents is how many events may end an enrollment.
const maxExitEvents = 20

// ParseExits parses exit conditions. Null means that there are none.
func ParseExits(raw json.RawMessage) (*Exits, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var x Exits
	if err := decodeStrictly(raw, &x); err != nil {
		return nil, err
	}
	if len(x.Events) > maxExitEvents {
		return nil, fmt.Errorf("events: at most %d", maxExitEvents)
	}
	var err error
	for i, e := range x.Events {
		err = errors.Join(err, named(fmt.Sprintf("events[%d]", i), checkEventName("event_name", e.Name)))
	}
	return &x, err
}

// referTrigger checks the records that a trigger refers to.
func (c *checker) referTrigger(t *Trigger) error {
	if t == nil {
		return nil
	}
	var err error
	f := t.Config
	switch t.Type {
	case OnEvent:
		_, wrong := rule.ParseEventFilters(orEmptyList(f.Filters), "filters")
		err = ofFields(wrong)
	case OnListAdded:
		if c.segments[f.Segment] != "static" {
			err = fmt.Errorf("segment_key: there is no static list %q", f.Segment)
		}
	case OnStageChanged:
		for _, s := range []id.Stage{f.FromStage, f.ToStage} {
			if !s.IsZero() && !c.stages[s] {
				err = errors.Join(err, fmt.Errorf("there is no stage %s", s))
			}
		}
	case OnFieldChanged:
		if !c.isField(f.Field) {
			err = fmt.Errorf("field: the contact has no field %q", f.Field)
		} else if f.To != nil {
			for _, r := range (&Trigger{Type: t.Type, Config: TriggerConfig{Field: f.Field, To: f.To}}).rules() {
				err = c.rule("to", r)
			}
		}
	}
	if len(f.Definition) > 0 {
		err = errors.Join(err, c.rule("definition", f.Definition))
	}
	return named("trigger_config", err)
}

// isField reports whether a contact has a field of a name, as in rules.
func (c *checker) isField(name string) bool {
	if key, custom := customKey(name); custom {
		_, ok := c.schema.Fields[key]
		return ok
	}
	return slices.Contains(contact.ColumnNames(), name)
}

// referExits checks the records that exit conditions refer to.
func (c *checker) referExits(x *Exits) error {
	if x == nil {
		return nil
	}
	var err error
	if len(x.Definition) > 0 {
		err = c.rule("definition", x.Definition)
	}
	for i, e := range x.Events {
		_, wrong := rule.ParseEventFilters(orEmptyList(e.Filters), fmt.Sprintf("events[%d].filters", i))
		err = errors.Join(err, ofFields(wrong))
	}
	if x.SegmentLeft != "" && c.segments[x.SegmentLeft] == "" {
		err = errors.Join(err, fmt.Errorf("on_segment_left: there is no list or segment %q", x.SegmentLeft))
	}
	return err
}
