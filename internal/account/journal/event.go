package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Event is the data of a CustomEvent entry, whose Name is the event's.
type Event struct {
	Type       string         `json:"type,omitempty"`    // the kind of activity; empty if none was given
	Source     string         `json:"source,omitempty"`  // empty: the API
	Deleted    bool           `json:"deleted,omitempty"` // the contact was deleted when the event was received
	Properties map[string]any `json:"properties,omitempty"`
}

// Event returns the data of a CustomEvent entry.
func (e Entry) Event() (Event, error) {
	var ev Event
	switch d := e.Data.(type) {
	case Event:
		return d, nil
	case json.RawMessage:
		if len(d) == 0 {
			return ev, nil
		}
		if err := json.Unmarshal(d, &ev); err != nil {
			return Event{}, fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
	}
	return ev, nil
}

// ExactProperties returns the properties of a CustomEvent entry, with numbers as json.Number: a float64
// has fewer digits than an order number may have.
func (e Entry) ExactProperties() (map[string]any, error) {
	data, stored := e.Data.(json.RawMessage)
	if !stored || len(data) == 0 {
		ev, err := e.Event()
		return ev.Properties, err
	}
	var ev Event
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&ev); err != nil {
		return nil, fmt.Errorf("journal entry %s: %w", e.ID, err)
	}
	return ev.Properties, nil
}
