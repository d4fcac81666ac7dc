package wire

import (
	"encoding/json"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// RecordPath is the path of one record.
type RecordPath struct {
	ID string `path:"id" as:"text" format:"uuid" doc:"The record's id."`
}

// RecordID parses the id in a path. It returns notFound for a text that is no id.
func RecordID[T ~[16]byte](text string, notFound *fault.Error) (T, error) {
	v, ok := id.Parse[T](text)
	if !ok {
		return v, notFound
	}
	return v, nil
}

// NullableID returns the id in a field, the zero id for null, and nil if the field is absent. For a
// text that is no id it returns a new id, which no record has.
func NullableID[T ~[16]byte](o endpoint.Opt[string]) *T {
	text := NullAsZero(o)
	if text == nil {
		return nil
	}
	return new(IDOrUnknown[T](*text))
}

// IDOrUnknown returns the id in a text, the zero id for the empty text, and a new id, which no record
// has, for a text that is no id.
func IDOrUnknown[T ~[16]byte](text string) T {
	parsed, ok := id.Parse[T](text)
	if !ok && text != "" {
		return id.New[T]()
	}
	return parsed
}

// CheckID adds a problem if the text of a field is no id.
func CheckID(bad *fault.Problems, path string, o endpoint.Opt[string], message string) {
	if text := o.Or(""); text != "" && !id.Valid(text) {
		bad.Add(path, message)
	}
}

// ReadID reads an id from the raw value of a field: nil if the field is absent, the zero id for null.
func ReadID[T ~[16]byte](bad *fault.Problems, path string, raw json.RawMessage) *T {
	if len(raw) == 0 {
		return nil
	}
	if string(raw) == "null" {
		return new(T)
	}
	var text string
	v, ok := T{}, false
	if json.Unmarshal(raw, &text) == nil {
		v, ok = id.Parse[T](text)
	}
	if !ok {
		bad.Add(path, "must be a uuid")
	}
	return &v
}

// ReadIDs reads a list of ids, each once: nil if the field is absent, an empty list for null.
func ReadIDs[T ~[16]byte](bad *fault.Problems, path string, raw json.RawMessage) *[]T {
	if len(raw) == 0 {
		return nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) != nil {
		bad.Add(path, "must be a list of uuids")
		return nil
	}
	seen := map[T]bool{}
	list := []T{}
	for _, t := range texts {
		v, ok := id.Parse[T](t)
		if !ok {
			bad.Add(path, "must be a list of uuids")
			return nil
		}
		if !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return &list
}
