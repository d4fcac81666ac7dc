package liquid

import (
	"encoding/json"
	"math"
	"time"
)

// jsonText is a value in JSON, as the filter json returns it. Where a value of JSON stands, it is printed as it
// is; elsewhere it is a text.
type jsonText string

// jsonFilter returns a value in JSON. It has no character that could end a script element.
func jsonFilter(s *state, in any, _ []any) any {
	text, err := json.Marshal(s.jsonValue(in)) // < and > are written as \u003c and \u003e
	if err != nil {
		return s.fail("the value cannot be written in JSON")
	}
	if !s.charge(len(text)) {
		return nil
	}
	return jsonText(text)
}

// jsonValue returns a value of the types that package json writes. It charges for each part.
func (s *state) jsonValue(v any) any {
	if !s.enterNested() {
		return nil
	}
	defer s.leaveNested()
	switch v := v.(type) {
	case nil, bool, int64, string:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case jsonText:
		return json.RawMessage(v)
	case time.Time:
		return v.In(s.env.Now().Location()).Format(time.RFC3339)
	case zoned:
		return v.Format(time.RFC3339)
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			if !s.charge(2) {
				return nil
			}
			list = append(list, s.jsonValue(s.normalize(item)))
		}
		return list
	case map[string]any, Object:
		object := map[string]any{}
		for _, name := range s.sequence(v).names {
			if !s.charge(len(name) + 4) {
				return nil
			}
			object[name] = s.jsonValue(s.field(v, name, false))
		}
		return object
	}
	return s.text(v)
}
