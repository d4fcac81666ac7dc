package binding

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/fault"
)

// RawSchema is a schema as a request sends it. A part that is nil was not sent;
// one that is null is empty.
type RawSchema struct {
	Parameters json.RawMessage
	Sections   json.RawMessage
	Slots      json.RawMessage
	Groups     json.RawMessage
	Expects    json.RawMessage
}

// How much a schema may declare.
const (
	maxParameters = 100 // also fields of a section
	maxSections   = 30
	maxSlots      = 30
	maxTags       = 50
	maxGroups     = 100
	maxExpects    = 100
	maxOptions    = 500
	maxSchemes    = 20
)

// Bounds of what entries say.
const (
	maxTag      = 64
	maxLabel    = 200
	maxHelp     = 2000
	maxOption   = 500
	maxProblems = 500 // that are reported at once
)

const nameRule = "must be 1 to 64 lower case letters, digits or _, the first a letter"

// With returns s with the parts that were sent instead of its own. All that is
// wrong with them is reported at once, by ErrSchema; ErrLimit comes first, and
// ErrReference, which is about groups that name what is not declared, last.
//
// Members of an entry that mean nothing are ignored, as everywhere in the API,
// but a known rule of validation on a type that does not have it is refused: who
// writes it expects it to be kept.
func (s Schema) With(raw RawSchema) (Schema, error) {
	r := &schemaReader{}
	if raw.Parameters != nil {
		s.Parameters = r.parameters("parameters_schema", r.decode("parameters_schema", raw.Parameters))
	}
	if raw.Sections != nil {
		s.Sections = entries(r, "sections_schema", r.decode("sections_schema", raw.Sections), maxSections, r.section)
	}
	if raw.Slots != nil {
		s.Slots = entries(r, "slots_schema", r.decode("slots_schema", raw.Slots), maxSlots, r.slot)
	}
	if raw.Groups != nil {
		s.Groups = entries(r, "groups_schema", r.decode("groups_schema", raw.Groups), maxGroups, r.group)
	}
	if raw.Expects != nil {
		s.Expects = r.expectations("expects_schema", r.decode("expects_schema", raw.Expects))
	}
	r.groupsOnce(s.Groups)
	if err := r.err(); err != nil {
		return Schema{}, err
	}
	if missing := s.undeclared(); len(missing) > 0 {
		return Schema{}, ErrReference.With(References{missing}).
			Sayf("%s names %q, which is not declared", missing[0].Field, missing[0].Token)
	}
	return s.whole(), nil
}

// whole returns s without a list that is nil: in JSON none is null.
func (s Schema) whole() Schema {
	s.Parameters = orEmpty(s.Parameters)
	s.Sections = orEmpty(s.Sections)
	s.Slots = orEmpty(s.Slots)
	s.Groups = orEmpty(s.Groups)
	s.Expects = orEmpty(s.Expects)
	return s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// schemaReader gathers what is wrong with a schema while it is read.
type schemaReader struct {
	problems []fault.Field
	limit    string // the first cap on a count that was passed
	patterns int    // characters of all patterns so far
}

func (r *schemaReader) bad(path, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, fault.Field{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// over reports whether n is more than a list may hold, and notes it.
func (r *schemaReader) over(path string, n, most int) bool {
	if n <= most {
		return false
	}
	if r.limit == "" {
		r.limit = fmt.Sprintf("%s has %d entries; at most %d are allowed", path, n, most)
	}
	return true
}

func (r *schemaReader) err() error {
	if r.limit != "" {
		return ErrLimit.Sayf("%s", r.limit)
	}
	if len(r.problems) == 0 {
		return nil
	}
	return fault.Listed(r.problems).As(ErrSchema)
}

// decode reads JSON whose numbers stay as they are written.
func (r *schemaReader) decode(path string, raw json.RawMessage) any {
	v, err := decode(raw)
	if err != nil {
		r.bad(path, "must be JSON: %v", err)
	}
	return v
}

// entries reads a list of objects that have names, each but once.
func entries[T interface{ name() string }](r *schemaReader, path string, v any, most int, read func(path string, m map[string]any) T) []T {
	list := r.list(path, v)
	if r.over(path, len(list), most) {
		return nil
	}
	out := make([]T, 0, len(list))
	seen := map[string]bool{}
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		m, ok := e.(map[string]any)
		if !ok {
			r.bad(at, "must be an object, not %s", kind(e))
			continue
		}
		t := read(at, m)
		if n := t.name(); n != "" && seen[n] {
			r.bad(at+".name", "%q is declared twice", n)
		} else {
			seen[n] = true
		}
		out = append(out, t)
	}
	return out
}

// list reads an array; null is an empty one.
func (r *schemaReader) list(path string, v any) []any {
	list, ok := v.([]any)
	if !ok && v != nil {
		r.bad(path, "must be an array, not %s", kind(v))
	}
	return list
}

// named reads the name of an entry; "" when it is not one.
func (r *schemaReader) named(path string, m map[string]any) string {
	v, there := m["name"]
	s, ok := v.(string)
	switch {
	case !there:
		r.bad(path+".name", "is required")
	case !ok || !isName(s):
		r.bad(path+".name", nameRule)
	default:
		return s
	}
	return ""
}

// isName reports whether s can be the name of something declared.
func isName(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// words reads a text that may be left out.
func (r *schemaReader) words(path string, v any, most int) *string {
	if v == nil {
		return nil
	}
	s, ok := v.(string)
	if !ok {
		r.bad(path, "must be a string, not %s", kind(v))
		return nil
	}
	if utf8.RuneCountInString(s) > most || strings.ContainsFunc(s, isControl) {
		r.bad(path, "must be at most %d characters, none of them a control character", most)
		return nil
	}
	return &s
}

// flag reads a boolean that is false when it is left out.
func (r *schemaReader) flag(path string, m map[string]any, key string) bool {
	v, there := m[key]
	b, ok := v.(bool)
	if there && !ok {
		r.bad(path+"."+key, "must be true or false, not %s", kind(v))
	}
	return b
}

// whole reads a whole number within bounds; nil when there is none.
func (r *schemaReader) whole(path string, v any, least, most int) *int {
	if v == nil {
		return nil
	}
	n, ok := v.(json.Number)
	i, err := n.Int64()
	if !ok || err != nil || i < int64(least) || i > int64(most) {
		r.bad(path, "must be a whole number from %d to %d", least, most)
		return nil
	}
	return new(int(i))
}

// texts reads a list of strings that are each there but once.
func (r *schemaReader) texts(path string, v any, most int, fits func(string) bool, rule string) []string {
	list := r.list(path, v)
	if r.over(path, len(list), most) {
		return nil
	}
	out := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		s, ok := e.(string)
		switch {
		case !ok || !fits(s):
			r.bad(at, "%s", rule)
		case seen[s]:
			r.bad(at, "%q is there twice", s)
		default:
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// isTag reports whether s can be the tag of a block.
func isTag(s string) bool {
	n := utf8.RuneCountInString(s)
	return n > 0 && n <= maxTag && strings.TrimSpace(s) == s && !hasControls(s)
}

// isScheme holds a URL scheme to RFC 3986 section 3.1, and to those that run
// nothing and read no file.
func isScheme(s string) bool { return schemePattern.MatchString(s) && !harmfulScheme(s) }

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,31}$`)
