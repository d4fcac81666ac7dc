package sequence

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/strictjson"
)

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
	if err := strictjson.Decode(raw, maxNodeBytes, &x); err != nil {
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
