package rule

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
)

// MarshalJSON returns the canonical encoding of the tree; ParseDefinition of it returns an equal
// tree.
func (t Tree) MarshalJSON() ([]byte, error) { return encode(wireGroup(t.Root)) }

// Filters encodes the tree as filters. It must be a result of ParseFilters.
func (t Tree) Filters() (json.RawMessage, error) { return encode(wireGroup(t.Root).Conditions) }

// encode encodes JSON without escaping HTML characters.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a rule: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type groupJSON struct {
	Logic      Logic `json:"logic"`
	Conditions []any `json:"conditions"`
	Negate     bool  `json:"negate,omitempty"`
}

// leafJSON has the members of all leaves, in the order of encoding.
type leafJSON struct {
	Type        string       `json:"type,omitempty"`
	Field       string       `json:"field,omitempty"`
	Property    string       `json:"property,omitempty"`
	Broadcast   id.Broadcast `json:"broadcast_id,omitzero"`
	Sequence    id.Sequence  `json:"sequence_id,omitzero"`
	Node        string       `json:"node_id,omitempty"`
	Event       EmailEvent   `json:"event,omitempty"`
	EventName   string       `json:"event_name,omitempty"`
	URL         string       `json:"url,omitempty"`
	Match       Operator     `json:"match,omitempty"`
	FormSlug    string       `json:"form_slug,omitempty"`
	TypeKey     string       `json:"email_type_key,omitempty"`
	Category    id.Category  `json:"category_id,omitzero"`
	Operator    Operator     `json:"operator"`
	Value       any          `json:"value,omitempty"`
	SegmentKeys []string     `json:"segment_keys,omitempty"`
	TypeKeys    []string     `json:"email_type_keys,omitempty"`
	LinkURL     string       `json:"link_url,omitempty"`
	Variant     string       `json:"variant_id,omitempty"`
	Level       Level        `json:"level,omitempty"`
	Filters     []leafJSON   `json:"filters,omitempty"`
	First       *eventJSON   `json:"first,omitempty"`
	Then        *eventJSON   `json:"then,omitempty"`
	Within      *spanJSON    `json:"within,omitempty"`
	Count       *countJSON   `json:"count,omitempty"`
	Window      *windowJSON  `json:"window,omitempty"`
	Added       *windowJSON  `json:"added,omitempty"`
}

type countJSON struct {
	Operator CountOperator `json:"operator"`
	Value    int           `json:"value"`
}

type eventJSON struct {
	Name    string     `json:"event_name,omitempty"`
	Filters []leafJSON `json:"filters,omitempty"`
}

type spanJSON struct {
	Amount int  `json:"amount"`
	Unit   Unit `json:"unit"`
}

type windowJSON struct {
	InTheLast *spanJSON `json:"in_the_last,omitempty"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
}

func wireGroup(g Group) groupJSON {
	w := groupJSON{Logic: g.Logic, Conditions: make([]any, len(g.Conditions)), Negate: g.Negate}
	if w.Logic == "" {
		w.Logic = And
	}
	for i, c := range g.Conditions {
		w.Conditions[i] = wire(c)
	}
	return w
}

func wire(c Condition) any {
	switch c := c.(type) {
	case Group:
		return wireGroup(c)
	case Broken:
		return json.RawMessage(c.Raw)
	case Field:
		return leafJSON{Field: c.Name, Operator: c.Operator, Value: wireValue(c)}
	case List:
		return leafJSON{Type: typeList, Operator: c.Operator, SegmentKeys: c.Keys, Added: wireWindow(c.Added)}
	case InSegment:
		return leafJSON{Type: typeSegment, Operator: c.Operator, SegmentKeys: c.Keys}
	case Email:
		return leafJSON{
			Type: typeEmail, Event: c.Event, Operator: c.Operator, TypeKeys: c.Types,
			Level: wireLevel(c.Level), Count: wireCount(c.Count), Window: wireWindow(c.Window),
		}
	case Broadcast:
		return leafJSON{
			Type: typeBroadcast, Broadcast: c.ID, Event: c.Event, Operator: c.Operator,
			LinkURL: c.LinkURL, Variant: c.Variant, Level: wireLevel(c.Level),
		}
	case SequenceEmail:
		return leafJSON{
			Type: typeSequenceEmail, Sequence: c.Sequence, Node: c.Node, Event: c.Event, Operator: c.Operator, Level: wireLevel(c.Level),
		}
	case Event:
		return leafJSON{
			Type: typeEvent, EventName: c.Name, Operator: c.Operator, Filters: wireFilters(c.Filters),
			Count: wireCount(c.Count), Window: wireWindow(c.Window),
		}
	case EventSequence:
		return leafJSON{
			Type: typeEventSequence, Operator: c.Operator, First: wireEvent(c.First), Then: wireEvent(c.Then),
			Within: new(spanJSON(c.Within)), Window: wireWindow(c.Window),
		}
	case PageView:
		w := leafJSON{Type: typePageView, URL: c.URL, Match: c.Match, Operator: c.Operator, Count: wireCount(c.Count), Window: wireWindow(c.Window)}
		if c.Match == Equals {
			w.Match = ""
		}
		return w
	case Form:
		return leafJSON{Type: typeForm, FormSlug: c.Slug, Operator: c.Operator, Window: wireWindow(c.Window)}
	case Subscription:
		return leafJSON{Type: typeSubscription, TypeKey: c.TypeKey, Category: c.Category, Operator: c.Operator}
	case InSequence:
		return leafJSON{Type: typeSequence, Sequence: c.Sequence, Operator: c.Operator, Window: wireWindow(c.Window)}
	case TriggerEvent:
		return leafJSON{Type: typeTriggerEvent, Property: c.Path, Operator: c.Operator, Value: wireProperty(c.Value)}
	case Suppression:
		return leafJSON{Type: typeSuppression, Operator: c.Operator}
	}
	panic(fmt.Sprintf("rule: a condition of type %T has no encoding", c))
}

// wireLevel omits the default level.
func wireLevel(l Level) Level {
	if l == Verified {
		return ""
	}
	return l
}

func wireCount(c *Count) *countJSON {
	if c == nil {
		return nil
	}
	return &countJSON{c.Operator, c.N}
}

func wireWindow(w *Window) *windowJSON {
	if w == nil {
		return nil
	}
	out := &windowJSON{}
	if w.InTheLast != nil {
		out.InTheLast = new(spanJSON(*w.InTheLast))
	}
	if w.From != nil {
		out.From = w.From.String()
	}
	if w.To != nil {
		out.To = w.To.String()
	}
	return out
}

// wireValue returns the part of a value that the operator uses.
func wireValue(f Field) any {
	v := f.Value
	switch f.Operator.shape() {
	case nothing:
		return nil
	case aSpan:
		return spanJSON(v.Span)
	case oneValue:
		switch {
		case len(v.Texts) > 0:
			return v.Texts[0]
		case len(v.Numbers) > 0:
			return v.Numbers[0]
		case len(v.Dates) > 0:
			return v.Dates[0].String()
		}
		return v.Bool
	}
	switch {
	case len(v.Texts) > 0:
		return v.Texts
	case len(v.Numbers) > 0:
		return v.Numbers
	}
	return wireDates(v.Dates)
}

func wireDates(list []Date) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.String()
	}
	return out
}

func wireEvent(m EventMatch) *eventJSON { return &eventJSON{m.Name, wireFilters(m.Filters)} }

func wireFilters(list []Property) []leafJSON {
	out := make([]leafJSON, len(list))
	for i, p := range list {
		out[i] = leafJSON{Property: p.Path, Operator: p.Operator, Value: wireProperty(p.Value)}
	}
	return out
}

func wireProperty(v any) any {
	switch v := v.(type) {
	case Date:
		return v.String()
	case []Date:
		return wireDates(v)
	case Span:
		return spanJSON(v)
	}
	return v
}
