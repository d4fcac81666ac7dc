package binding

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/optional"
)

// The limits of sections and expectations.
const (
	maxRows        = 200
	maxPath        = 200
	maxExpectDepth = 16
	maxExpectBytes = 64 << 10
)

func (s Section) name() string { return s.Name }

func (r *schemaReader) section(path string, m map[string]any) Section {
	s := Section{
		Name:     r.named(path, m),
		Label:    r.words(path+".label", m["label"], maxLabel),
		HelpText: r.words(path+".help_text", m["help_text"], maxHelp),
		Required: r.flag(path, m, "required"),
		Max:      maxRows,
	}
	if s.Required {
		s.Min = 1
	}
	least := r.readInt(path+".min", m["min"], 0, maxRows)
	if least != nil {
		s.Min = *least
	}
	if most := r.readInt(path+".max", m["max"], 1, maxRows); most != nil {
		s.Max = *most
		r.ordered(path+".min", least, most)
	}
	s.Item = r.parameters(path+".item_schema", m["item_schema"])
	return s
}

// minRows returns the minimum number of rows of a bound section.
func (s *Section) minRows() int {
	if s.Required {
		return max(s.Min, 1)
	}
	return s.Min
}

func (s Slot) name() string { return s.Name }

// strategies returns all strategies, which is the default of allowed ones.
func strategies() []Strategy { return []Strategy{Fixed, Random, Empty} }

// slot reads a slot. If its default strategy is missing and the usual one is
// not allowed, it is the first allowed one.
func (r *schemaReader) slot(path string, m map[string]any) Slot {
	s := Slot{
		Name:     r.named(path, m),
		Label:    r.words(path+".label", m["label"], maxLabel),
		HelpText: r.words(path+".help_text", m["help_text"], maxHelp),
		Required: r.flag(path, m, "required"),
		Allowed:  strategies(),
	}
	s.TagFilter = optional.List(r.texts(path+".tag_filter", m["tag_filter"], maxTags, isTag, "must be a tag of 1 to 64 characters"))
	const rule = "must be fixed, random or empty"
	if v := m["allowed_strategies"]; v != nil {
		at := path + ".allowed_strategies"
		list := r.texts(at, v, maxTags, func(s string) bool { return slices.Contains(strategies(), Strategy(s)) }, rule)
		s.Allowed = make([]Strategy, 0, len(list))
		for _, name := range list {
			s.Allowed = append(s.Allowed, Strategy(name))
		}
		if given, ok := v.([]any); ok && len(given) == 0 {
			r.problem(at, "must name a strategy")
		}
	}
	s.Default = Empty
	if s.Required {
		s.Default = Fixed
	}
	v, at := m["default_strategy"], path+".default_strategy"
	name, isText := v.(string)
	switch {
	case v == nil:
		if len(s.Allowed) > 0 && !slices.Contains(s.Allowed, s.Default) {
			s.Default = s.Allowed[0]
		}
	case !isText || !slices.Contains(strategies(), Strategy(name)):
		r.problem(at, rule)
	default:
		s.Default = Strategy(name)
		if len(s.Allowed) > 0 && !slices.Contains(s.Allowed, s.Default) {
			r.problem(at, "must be one of allowed_strategies: %s", join(s.Allowed))
		}
	}
	return s
}

func join[T ~string](list []T) string {
	parts := make([]string, 0, len(list))
	for _, s := range list {
		parts = append(parts, string(s))
	}
	return strings.Join(parts, ", ")
}

func (g Group) name() string { return g.Name }

func (r *schemaReader) group(path string, m map[string]any) Group {
	names := func(key string) []string {
		return optional.List(r.texts(path+"."+key, m[key], maxParameters, isName, nameRule))
	}
	return Group{
		Name:       r.named(path, m),
		Label:      r.words(path+".label", m["label"], maxLabel),
		HelpText:   r.words(path+".help_text", m["help_text"], maxHelp),
		Parameters: names("parameters"),
		Sections:   names("sections"),
		Slots:      names("slots"),
		Collapsed:  r.flag(path, m, "collapsed"),
	}
}

// groupsOnce reports declarations that are in two groups.
func (r *schemaReader) groupsOnce(groups []Group) {
	first := map[string]int{}
	for i, g := range groups {
		for list, names := range g.lists() {
			for j, n := range names {
				if k, found := first[list+n]; found {
					r.problem(fmt.Sprintf("groups_schema[%d].%s[%d]", i, list, j), "%q stands in groups_schema[%d] already", n, k)
					continue
				}
				first[list+n] = i
			}
		}
	}
}

// lists yields the lists of a group with their names.
func (g *Group) lists() func(yield func(string, []string) bool) {
	return func(yield func(string, []string) bool) {
		_ = yield("parameters", g.Parameters) && yield("sections", g.Sections) && yield("slots", g.Slots)
	}
}

// undeclared returns the names in groups that the schema does not declare.
func (s *Schema) undeclared() []Reference {
	declared := map[string]bool{}
	for i := range s.Parameters {
		declared["parameters"+s.Parameters[i].Name] = true
	}
	for i := range s.Sections {
		declared["sections"+s.Sections[i].Name] = true
	}
	for i := range s.Slots {
		declared["slots"+s.Slots[i].Name] = true
	}
	var missing []Reference
	for i, g := range s.Groups {
		for list, names := range g.lists() {
			for _, n := range names {
				if !declared[list+n] {
					missing = append(missing, Reference{Token: n, Field: fmt.Sprintf("groups_schema[%d].%s", i, list)})
				}
			}
		}
	}
	return missing
}

// expectedTypes are the types of contact data.
func expectedTypes() []string {
	return []string{"string", "number", "boolean", "date", "datetime", "array", "object"}
}

// A path is the name of a variable and its properties, such as
// contact.custom_fields.orders or first_name.
var (
	pathPattern     = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)*$`)
	propertyPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
)

func (r *schemaReader) expectations(path string, v any) []Expectation {
	list := r.list(path, v)
	if r.exceeds(path, len(list), maxExpects) {
		return nil
	}
	out := make([]Expectation, 0, len(list))
	seen := map[string]bool{}
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		m, ok := e.(map[string]any)
		if !ok {
			r.problem(at, "must be an object, not %s", kind(e))
			continue
		}
		x := r.expectation(at, m)
		if x.Path != "" && seen[x.Path] {
			r.problem(at+".path", "%q is declared twice", x.Path)
		}
		seen[x.Path] = true
		out = append(out, x)
	}
	return out
}

func (r *schemaReader) expectation(path string, m map[string]any) Expectation {
	x := Expectation{
		Required: r.flag(path, m, "required"),
		Label:    r.words(path+".label", m["label"], maxLabel),
		Item:     []Property{},
	}
	switch s, ok := m["path"].(string); {
	case m["path"] == nil:
		r.problem(path+".path", "is required")
	case !ok || len(s) > maxPath || !pathPattern.MatchString(s):
		r.problem(path+".path", "must be the path of a merge field, such as contact.custom_fields.orders")
	default:
		x.Path = s
	}
	x.Type = r.expectedType(path, m)
	if x.Type == "array" {
		x.Item = optional.List(entries(r, path+".item_schema", m["item_schema"], maxParameters, r.property))
	} else if items := r.list(path+".item_schema", m["item_schema"]); len(items) > 0 && x.Type != "" {
		r.problem(path+".item_schema", "is only for type array")
	}
	x.Fallback = r.expected(path+".fallback", x.Type, m["fallback"])
	x.Sample = r.expected(path+".sample", x.Type, m["sample"])
	return x
}

func (r *schemaReader) expectedType(path string, m map[string]any) string {
	s, _ := m["type"].(string)
	switch {
	case m["type"] == nil:
		r.problem(path+".type", "is required")
	case !slices.Contains(expectedTypes(), s):
		r.problem(path+".type", "must be one of %s", strings.Join(expectedTypes(), ", "))
	default:
		return s
	}
	return ""
}

func (p Property) name() string { return p.Name }

func (r *schemaReader) property(path string, m map[string]any) Property {
	p := Property{
		Type:     r.expectedType(path, m),
		Required: r.flag(path, m, "required"),
		Label:    r.words(path+".label", m["label"], maxLabel),
	}
	if s, ok := m["name"].(string); ok && propertyPattern.MatchString(s) {
		p.Name = s
	} else {
		r.problem(path+".name", "must be 1 to 64 letters, digits, _ or -, the first a letter or _")
	}
	return p
}

// expected reads a fallback or a sample of contact data.
func (r *schemaReader) expected(path, t string, v any) json.RawMessage {
	if v == nil || t == "" {
		return nil
	}
	if !expectedFits(t, v) {
		r.problem(path, "must be of type %s, not %s", t, kind(v))
		return nil
	}
	if exceedsDepth(v, maxExpectDepth) {
		r.problem(path, "is nested too deeply")
		return nil
	}
	raw, err := encode(v)
	if err != nil || len(raw) > maxExpectBytes {
		r.problem(path, "must be at most %d bytes of JSON", maxExpectBytes)
		return nil
	}
	return raw
}

func expectedFits(t string, v any) bool {
	switch v := v.(type) {
	case string:
		switch t {
		case "date":
			_, err := time.Parse(time.DateOnly, v)
			return err == nil
		case "datetime":
			_, ok := asTime(v)
			return ok
		}
		return t == "string"
	case json.Number:
		_, ok := plainNumber(string(v))
		return t == "number" && ok
	case bool:
		return t == "boolean"
	case []any:
		return t == "array"
	}
	return t == "object"
}

// exceedsDepth reports whether arrays and objects are nested more than depth levels.
func exceedsDepth(v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		return depth == 0 || slices.ContainsFunc(v, func(e any) bool { return exceedsDepth(e, depth-1) })
	case map[string]any:
		if depth == 0 {
			return true
		}
		for _, e := range v {
			if exceedsDepth(e, depth-1) {
				return true
			}
		}
	}
	return false
}
