package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// MaxTrigger is the size of an encoded Trigger in bytes. A larger one is stored without its
// properties.
const MaxTrigger = 64 << 10

// Trigger is what a sequence or an automation keeps of what started it. In Liquid it is
// {{ event }}: {{ event.plan }} prints a property.
type Trigger struct {
	Name       string         `json:"name,omitempty"` // of a custom event, form or tag
	Type       string         `json:"type"`           // of the journal entry
	At         time.Time      `json:"occurred_at"`
	Properties map[string]any `json:"properties,omitempty"`
}

// Encode returns the trigger as it is stored.
func (t Trigger) Encode() (json.RawMessage, error) {
	data, err := json.Marshal(t)
	if err == nil && len(data) > MaxTrigger {
		t.Properties = nil
		data, err = json.Marshal(t)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the event that starts a sequence or an automation: %w", err)
	}
	return data, nil
}

// DecodeTrigger decodes what Encode returned. Nothing and null are the zero Trigger. Numbers are
// json.Number, which Liquid prints as they were received.
func DecodeTrigger(data json.RawMessage) (Trigger, error) {
	var t Trigger
	if len(data) == 0 {
		return t, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&t); err != nil {
		return t, fmt.Errorf("decode the event that started a sequence or an automation: %w", err)
	}
	return t, nil
}

// Field returns a property, or if there is none of that name: all of them ("properties"), the name
// and type of the event, or when it occurred.
func (t Trigger) Field(name string) any {
	if v, ok := t.Properties[name]; ok {
		return v
	}
	switch {
	case name == "properties" && t.Properties != nil:
		return t.Properties
	case name == "name" && t.Name != "":
		return t.Name
	case name == "type" && t.Type != "":
		return t.Type
	case name == "occurred_at" && !t.At.IsZero():
		return t.At
	}
	return nil
}

// Names returns the names of the properties.
func (t Trigger) Names() []string { return slices.Sorted(maps.Keys(t.Properties)) }
