package trigger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/base/strictjson"
)

// Type is the kind of a trigger.
type Type string

// The types of triggers.
const (
	Event          Type = "event"
	SegmentEntered Type = "segment_entered"
	SegmentLeft    Type = "segment_left"
	ListAdded      Type = "list_added"
	FormSubmitted  Type = "form_submitted"
	TagAdded       Type = "tag_added"
	StageChanged   Type = "stage_changed"
	ContactCreated Type = "contact_created"
	FieldChanged   Type = "field_changed"
	Date           Type = "date"
	Engagement     Type = "email_engagement"
)

// Types returns all types of triggers.
func Types() []Type {
	return []Type{Event, SegmentEntered, SegmentLeft, ListAdded, FormSubmitted, TagAdded, StageChanged, ContactCreated, FieldChanged, Date, Engagement}
}

// Trigger is what must happen to a contact.
type Trigger struct {
	Type   Type   `json:"trigger_type"`
	Config Config `json:"trigger_config"`

	// Filter is a rule of the holder that the contact must satisfy besides the definition of the
	// configuration; nil: none.
	Filter json.RawMessage `json:"-"`
}

// Config says when a trigger fires. Which fields are set depends on its type.
type Config struct {
	Event   string          `json:"event_name,omitempty"`
	Filters json.RawMessage `json:"filters,omitempty"` // of the event's properties

	Segment  string `json:"segment_key,omitempty"`
	Existing bool   `json:"include_existing,omitempty"` // those who are inside already enter, too

	Form      string   `json:"form_slug,omitempty"`
	Tag       string   `json:"tag,omitempty"`
	FromStage id.Stage `json:"from_stage_id,omitzero"`
	ToStage   id.Stage `json:"to_stage_id,omitzero"`
	Source    string   `json:"source,omitempty"` // of a new contact; empty: any

	Field string `json:"field,omitempty"` // that changed, or has the date
	To    any    `json:"to,omitempty"`    // the new value of the field; nil: any

	Offset *calendar.Offset `json:"offset,omitempty"` // from the date; nil: none
	Time   string           `json:"time,omitempty"`   // of day; "": that of the date
	Repeat string           `json:"repeat,omitempty"` // Once or Yearly

	Engagement string       `json:"event,omitempty"` // "opened" or "clicked"
	Broadcast  id.Broadcast `json:"broadcast_id,omitzero"`
	Link       string       `json:"link_url,omitempty"`

	Definition json.RawMessage `json:"definition,omitempty"` // a rule that the contact must satisfy
}

// maxBytes limits the size of a trigger in JSON.
const maxBytes = 64 << 10

// Parse parses a trigger, an object with trigger_type and trigger_config, and adds its problems to p
// with paths below path. Null means that there is none. Records that it refers to are checked by
// Refer.
func Parse(raw json.RawMessage, path string, p *fault.Problems) *Trigger {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var parts struct {
		Type   Type            `json:"trigger_type"`
		Config json.RawMessage `json:"trigger_config"`
	}
	if err := strictjson.Decode(raw, maxBytes, &parts); err != nil {
		p.Add(path, err.Error())
		return nil
	}
	return ParseConfig(parts.Type, parts.Config, path, p)
}

// ParseConfig is Parse for a type and a configuration that are separate. The path is that of the
// object that contains both as trigger_type and trigger_config; it may be empty.
func ParseConfig(typ Type, config json.RawMessage, path string, p *fault.Problems) *Trigger {
	t := &Trigger{Type: typ}
	if !slices.Contains(Types(), typ) {
		names := make([]string, len(Types()))
		for i, known := range Types() {
			names[i] = string(known)
		}
		p.Add(below(path, "trigger_type"), fmt.Sprintf("there is no type %q; it must be one of %s", typ, strings.Join(names, ", ")))
		return nil
	}
	at := below(path, "trigger_config")
	if len(config) == 0 {
		config = json.RawMessage(`{}`)
	}
	if err := strictjson.Decode(config, maxBytes, &t.Config); err != nil {
		p.Add(at, err.Error())
		return nil
	}
	for _, part := range []*json.RawMessage{&t.Config.Filters, &t.Config.Definition} {
		if string(*part) == "null" {
			*part = nil
		}
	}
	t.check(at, p)
	return t
}

// below returns the path of a field of an object.
func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// check checks what the trigger says by itself, and sets optional fields.
func (t *Trigger) check(path string, p *fault.Problems) {
	c := t.Config
	need := func(name string, present bool) {
		if !present {
			p.Add(below(path, name), "is required")
		}
	}
	switch t.Type {
	case Event:
		if c.Event == "" || len([]rune(c.Event)) > 128 {
			p.Add(below(path, "event_name"), "must be 1 to 128 characters")
		}
		_, wrong := rule.ParseEventFilters(orEmptyList(c.Filters), below(path, "filters"))
		for _, f := range wrong {
			p.Add(f.Path, f.Message)
		}
	case ListAdded, SegmentEntered, SegmentLeft:
		need("segment_key", c.Segment != "")
	case FormSubmitted:
		if !slug.Valid(c.Form) {
			p.Add(below(path, "form_slug"), slug.Rule)
		}
	case TagAdded:
		need("tag", c.Tag != "")
	case StageChanged:
		need("to_stage_id", !c.ToStage.IsZero())
	case FieldChanged:
		need("field", c.Field != "")
		switch c.To.(type) {
		case nil, string, float64, bool:
		default:
			p.Add(below(path, "to"), "must be a text, a number or a boolean")
		}
	case Date:
		t.Config.checkDate(path, p)
	case Engagement:
		if c.Engagement != "opened" && c.Engagement != "clicked" {
			p.Add(below(path, "event"), "must be one of opened, clicked")
		}
		if c.Link != "" && c.Engagement != "clicked" {
			p.Add(below(path, "link_url"), "only a click has a link")
		}
	}
	for _, name := range t.strays() {
		p.Add(below(path, name), fmt.Sprintf("a trigger of type %s has no such field", t.Type))
	}
}

// strays returns the names of fields that are set and that the type does not have.
func (t Trigger) strays() []string {
	c := t.Config
	var list []string
	for _, f := range []struct {
		name  string
		set   bool
		types []Type
	}{
		{"event_name", c.Event != "", []Type{Event}},
		{"filters", c.Filters != nil, []Type{Event}},
		{"segment_key", c.Segment != "", []Type{ListAdded, SegmentEntered, SegmentLeft}},
		{"include_existing", c.Existing, []Type{SegmentEntered}},
		{"form_slug", c.Form != "", []Type{FormSubmitted}},
		{"tag", c.Tag != "", []Type{TagAdded}},
		{"from_stage_id", !c.FromStage.IsZero(), []Type{StageChanged}},
		{"to_stage_id", !c.ToStage.IsZero(), []Type{StageChanged}},
		{"source", c.Source != "", []Type{ContactCreated}},
		{"field", c.Field != "", []Type{FieldChanged, Date}},
		{"to", c.To != nil, []Type{FieldChanged}},
		{"offset", c.Offset != nil, []Type{Date}},
		{"time", c.Time != "", []Type{Date}},
		{"repeat", c.Repeat != "", []Type{Date}},
		{"event", c.Engagement != "", []Type{Engagement}},
		{"broadcast_id", !c.Broadcast.IsZero(), []Type{Engagement}},
		{"link_url", c.Link != "", []Type{Engagement}},
	} {
		if f.set && !slices.Contains(f.types, t.Type) {
			list = append(list, f.name)
		}
	}
	return list
}

// onSegment reports whether the trigger is about entering or leaving a segment.
func (t Trigger) onSegment() bool { return t.Type == SegmentEntered || t.Type == SegmentLeft }

func orEmptyList(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("[]")
	}
	return raw
}
