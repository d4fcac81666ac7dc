package auth

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
)

// AuditChange is a field that an update changed. Both values are nil of one whose values are secret.
type AuditChange struct {
	Field  string `json:"field"` // with dots, such as settings.host
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// Bounds of the changes of one entry.
const (
	maxChanges     = 60
	maxChangeRunes = 500 // of a text; other values are at most as long in JSON, or stored as the beginning of it
)

// followed are fields that change with any other.
var followed = []string{"created_at", "updated_at", "revision"}

// Changes returns the fields in which two forms of a record differ, in the order of their names. The forms encode
// to JSON objects; fields of objects in them are compared one by one, lists as a whole.
func Changes(before, after any) ([]AuditChange, error) {
	b, err := fieldsOf(before)
	if err != nil {
		return nil, err
	}
	a, err := fieldsOf(after)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(b)
	maps.Copy(all, a)
	var list []AuditChange
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(b[name]) == string(a[name]) || slices.Contains(followed, name) || len(list) == maxChanges {
			continue
		}
		list = append(list, AuditChange{name, bounded(b[name]), bounded(a[name])})
	}
	return list, nil
}

// fieldsOf returns the values of a record in JSON by their names.
func fieldsOf(v any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("compare a record: %w", err)
	}
	fields := map[string]json.RawMessage{}
	flatten(fields, "", text)
	return fields, nil
}

func flatten(into map[string]json.RawMessage, name string, value json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil || len(object) == 0 {
		if name != "" {
			into[name] = value
		}
		return
	}
	for key, field := range object {
		if name != "" {
			key = name + "." + key
		}
		flatten(into, key, field)
	}
}

// bounded returns a value of bounded size; nil if there is none.
func bounded(value json.RawMessage) any {
	if value == nil {
		return nil
	}
	var text string
	if json.Unmarshal(value, &text) == nil && value[0] == '"' {
		return clip.Ellipsis(text, maxChangeRunes)
	}
	if utf8.RuneCount(value) > maxChangeRunes {
		return clip.Ellipsis(string(value), maxChangeRunes)
	}
	return value
}
