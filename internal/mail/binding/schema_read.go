package binding

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/optional"
)

// RawSchema is a schema in a request. A part that is nil was not sent;
// one that is null is empty.
type RawSchema struct {
	Parameters json.RawMessage
	Sections   json.RawMessage
	Slots      json.RawMessage
	Groups     json.RawMessage
	Expects    json.RawMessage
}

// The maximum numbers of declarations.
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

// The limits of entries.
const (
	maxTag      = 64
	maxLabel    = 200
	maxHelp     = 2000
	maxOption   = 500
	maxProblems = 500 // reported at once
)

const nameRule = "must be 1 to 64 lower case letters, digits or _, the first a letter"

// With returns s with its parts replaced by those that were sent. All problems
// are reported at once, by ErrSchema; ErrLimit is returned before that, and
// ErrReference, for groups with names that are not declared, after it.
//
// Unknown members of an entry are ignored, as everywhere in the API,
// but a rule of validation that its type does not have is an error, since its
// author expects it to be applied.
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
	return s.withoutNil(), nil
}

// withoutNil returns s with empty lists in place of nil, which would be null in JSON.
func (s Schema) withoutNil() Schema {
	s.Parameters = optional.List(s.Parameters)
	s.Sections = optional.List(s.Sections)
	s.Slots = optional.List(s.Slots)
	s.Groups = optional.List(s.Groups)
	s.Expects = optional.List(s.Expects)
	return s
}

// schemaReader reads a schema and collects problems.
type schemaReader struct {
	problems []fault.Field
	limit    string // the first limit that was exceeded
	patterns int    // characters of all patterns so far
}

func (r *schemaReader) problem(path, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, fault.Field{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// exceeds reports whether n is more than a list may contain, and stores that.
func (r *schemaReader) exceeds(path string, n, most int) bool {
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

// decode decodes JSON and keeps the text of numbers.
func (r *schemaReader) decode(path string, raw json.RawMessage) any {
	v, err := decode(raw)
	if err != nil {
		r.problem(path, "must be JSON: %v", err)
	}
	return v
}

// entries reads a list of objects with unique names.
func entries[T interface{ name() string }](r *schemaReader, path string, v any, most int, read func(path string, m map[string]any) T) []T {
	list := r.list(path, v)
	if r.exceeds(path, len(list), most) {
		return nil
	}
	out := make([]T, 0, len(list))
	seen := map[string]bool{}
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		m, ok := e.(map[string]any)
		if !ok {
			r.problem(at, "must be an object, not %s", kind(e))
			continue
		}
		t := read(at, m)
		if n := t.name(); n != "" && seen[n] {
			r.problem(at+".name", "%q is declared twice", n)
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
		r.problem(path, "must be an array, not %s", kind(v))
	}
	return list
}

// named reads the name of an entry; "" if it is not valid.
func (r *schemaReader) named(path string, m map[string]any) string {
	v, found := m["name"]
	s, ok := v.(string)
	switch {
	case !found:
		r.problem(path+".name", "is required")
	case !ok || !isName(s):
		r.problem(path+".name", nameRule)
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

// words reads an optional text.
func (r *schemaReader) words(path string, v any, most int) *string {
	if v == nil {
		return nil
	}
	s, ok := v.(string)
	if !ok {
		r.problem(path, "must be a string, not %s", kind(v))
		return nil
	}
	if utf8.RuneCountInString(s) > most || strings.ContainsFunc(s, isControl) {
		r.problem(path, "must be at most %d characters, none of them a control character", most)
		return nil
	}
	return &s
}

// flag reads an optional boolean; the default is false.
func (r *schemaReader) flag(path string, m map[string]any, key string) bool {
	v, found := m[key]
	b, ok := v.(bool)
	if found && !ok {
		r.problem(path+"."+key, "must be true or false, not %s", kind(v))
	}
	return b
}

// readInt reads a whole number within limits; nil if there is none.
func (r *schemaReader) readInt(path string, v any, least, most int) *int {
	if v == nil {
		return nil
	}
	n, ok := v.(json.Number)
	i, err := n.Int64()
	if !ok || err != nil || i < int64(least) || i > int64(most) {
		r.problem(path, "must be a whole number from %d to %d", least, most)
		return nil
	}
	return new(int(i))
}

// texts reads a list of unique strings.
func (r *schemaReader) texts(path string, v any, most int, fits func(string) bool, rule string) []string {
	list := r.list(path, v)
	if r.exceeds(path, len(list), most) {
		return nil
	}
	out := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		s, ok := e.(string)
		switch {
		case !ok || !fits(s):
			r.problem(at, "%s", rule)
		case seen[s]:
			r.problem(at, "%q is there twice", s)
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

// isScheme reports whether s is a URL scheme (RFC 3986 section 3.1) that runs
// nothing and reads no files.
func isScheme(s string) bool { return schemePattern.MatchString(s) && !harmfulScheme(s) }

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,31}$`)
