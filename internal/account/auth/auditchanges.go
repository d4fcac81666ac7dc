package auth

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
)

// AuditChange is a field that an update changed. Both values are nil of one whose values are secret.
type AuditChange struct {
	Field  string       `json:"field"` // with dots, such as settings.host
	Before any          `json:"before"`
	After  any          `json:"after"`
	Length *AuditLength `json:"length,omitempty"` // if the values are parts of longer ones
}

// AuditLength is how many characters a value had before and after a change.
type AuditLength struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// Bounds of the changes of one entry.
const (
	maxChanges     = 60
	maxChangeRunes = 500 // of a text, or of another value in JSON; of longer ones a part is stored, as text
	aroundChange   = 60  // bytes before and after what differs in such a part
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
		list = append(list, changeOf(name, b[name], a[name]))
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

// changeOf returns the change of a field with values of bounded size: of long ones the part that differs.
func changeOf(name string, before, after json.RawMessage) AuditChange {
	b, a := textOf(before), textOf(after)
	length := AuditLength{utf8.RuneCountInString(b), utf8.RuneCountInString(a)}
	if max(length.Before, length.After) <= maxChangeRunes {
		return AuditChange{Field: name, Before: orNil(before, before), After: orNil(after, after)}
	}
	b, a = differing(b, a)
	return AuditChange{name, orNil(before, b), orNil(after, a), &length}
}

// textOf returns a text, or another value in JSON.
func textOf(value json.RawMessage) string {
	var text string
	if string(value) == "null" {
		return ""
	}
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// orNil returns shown, or nil if there is no value.
func orNil(value json.RawMessage, shown any) any {
	if value == nil || string(value) == "null" {
		return nil
	}
	return shown
}

// differing returns the parts of two texts that differ, with a little of what is before and after them. An ellipsis
// stands for what is left out.
func differing(b, a string) (string, string) {
	same := 0
	for same < min(len(b), len(a)) && b[same] == a[same] {
		same++
	}
	end := 0
	for end < min(len(b), len(a))-same && b[len(b)-1-end] == a[len(a)-1-end] {
		end++
	}
	part := func(s string) string {
		from, to := same, len(s)-end
		for n := 0; from > 0 && (n < aroundChange || !utf8.RuneStart(s[from])); n++ {
			from--
		}
		for n := 0; to < len(s) && (n < aroundChange || !utf8.RuneStart(s[to])); n++ {
			to++
		}
		text := clip.Ellipsis(s[from:to], maxChangeRunes)
		if from > 0 {
			text = "…" + text
		}
		if to < len(s) && !strings.HasSuffix(text, "…") {
			text += "…"
		}
		return text
	}
	return part(b), part(a)
}
