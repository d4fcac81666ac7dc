package binding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

// The types, each with the rules that apply to it.
var typeRules = []struct {
	t    Type
	keys []string
}{
	{Text, []string{"min_length", "max_length", "pattern"}},
	{Textarea, []string{"min_length", "max_length"}},
	{RichText, []string{"max_length"}},
	{RawHTML, []string{"max_length"}},
	{URL, []string{"schemes", "max_length"}},
	{Image, []string{"max_length"}},
	{Email, nil},
	{Color, nil},
	{Number, []string{"min", "max", "integer"}},
	{Boolean, nil},
	{Date, []string{"min", "max"}},
	{DateTime, []string{"min", "max"}},
	{Select, []string{"options"}},
	{List, []string{"min_items", "max_items"}},
}

func (p Parameter) name() string { return p.Name }

func (r *schemaReader) parameters(path string, v any) []Parameter {
	return entries(r, path, v, maxParameters, r.parameter)
}

func (r *schemaReader) parameter(path string, m map[string]any) Parameter {
	p := Parameter{
		Name:     r.named(path, m),
		Required: r.flag(path, m, "required"),
		Label:    r.words(path+".label", m["label"], maxLabel),
		HelpText: r.words(path+".help_text", m["help_text"], maxHelp),
	}
	before := len(r.problems)
	keys, ok := r.typeOf(path, m, &p)
	if !ok {
		return p
	}
	p.Validation = r.validation(path+".validation", m["validation"], p.Type, keys)
	if len(r.problems) > before {
		return p // a value cannot be checked against invalid rules
	}
	p.Sample = r.value(path+".sample", &p, m["sample"])
	p.Default = r.value(path+".default", &p, m["default"])
	return p
}

// typeOf reads the type and returns the rules that apply to it.
func (r *schemaReader) typeOf(path string, m map[string]any, p *Parameter) ([]string, bool) {
	v, found := m["type"]
	if !found {
		r.problem(path+".type", "is required")
		return nil, false
	}
	s, _ := v.(string)
	names := make([]string, 0, len(typeRules))
	for _, t := range typeRules {
		if string(t.t) == s {
			p.Type = t.t
			return t.keys, true
		}
		names = append(names, string(t.t))
	}
	r.problem(path+".type", "must be one of %s", strings.Join(names, ", "))
	return nil, false
}

// validation reads the rules of a type. Unknown rules are ignored; rules of other
// types are errors.
func (r *schemaReader) validation(path string, v any, t Type, keys []string) Validation {
	var out Validation
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		r.problem(path, "must be an object, not %s", kind(v))
	}
	for _, other := range typeRules {
		for _, k := range other.keys {
			if m[k] != nil && !slices.Contains(keys, k) {
				r.misplaced(path+"."+k, k, t)
				delete(m, k) // reported once
			}
		}
	}
	out.MinLength = r.readInt(path+".min_length", m["min_length"], 0, maxText)
	out.MaxLength = r.readInt(path+".max_length", m["max_length"], 1, maxText)
	r.ordered(path+".min_length", out.MinLength, out.MaxLength)
	out.MinItems = r.readInt(path+".min_items", m["min_items"], 0, maxItems)
	out.MaxItems = r.readInt(path+".max_items", m["max_items"], 1, maxItems)
	r.ordered(path+".min_items", out.MinItems, out.MaxItems)
	out.Pattern = r.pattern(path+".pattern", m["pattern"])
	if m["schemes"] != nil {
		out.Schemes = r.texts(path+".schemes", m["schemes"], maxSchemes, isScheme, "must be a URL scheme in lower case that a link in a mail may have, such as https")
		if len(out.Schemes) == 0 {
			r.problem(path+".schemes", "must name a scheme")
		}
	}
	if v := m["integer"]; v != nil {
		b := r.flag(path, m, "integer")
		out.Integer = &b
	}
	r.bounds(path, m, t, &out)
	if t == Select {
		out.Options = r.options(path+".options", m["options"])
	}
	return out
}

func (r *schemaReader) misplaced(path, key string, t Type) {
	var having []string
	for _, other := range typeRules {
		if slices.Contains(other.keys, key) {
			having = append(having, string(other.t))
		}
	}
	r.problem(path, "is not a rule of type %s, but of %s", t, strings.Join(having, ", "))
}

func (r *schemaReader) ordered(path string, least, most *int) {
	if least != nil && most != nil && *least > *most {
		r.problem(path, "must not be more than the maximum, %d", *most)
	}
}

// bounds reads min and max of numbers, days and times.
func (r *schemaReader) bounds(path string, m map[string]any, t Type, out *Validation) {
	if t != Number && t != Date && t != DateTime {
		return
	}
	bare := &Parameter{Type: t}
	before := len(r.problems)
	out.Min = r.value(path+".min", bare, m["min"])
	out.Max = r.value(path+".max", bare, m["max"])
	if len(r.problems) > before || out.Min == nil || out.Max == nil {
		return
	}
	if compareBounds(t, out.Min, out.Max) > 0 {
		r.problem(path+".min", "must not be more than max")
	}
}

// compareBounds compares two values of a type with an order.
func compareBounds(t Type, a, b json.RawMessage) int {
	switch t {
	case Number:
		return compareNumbers(string(a), string(b))
	case DateTime:
		x, _ := asTime(unquote(a))
		y, _ := asTime(unquote(b))
		return x.Compare(y)
	}
	return cmp.Compare(unquote(a), unquote(b)) // YYYY-MM-DD
}

// unquote returns the text of a JSON string, "" of anything else.
func unquote(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// rfc3339 matches the form of RFC 3339; calendar.ParseMoment reads others too.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$`)

// asTime parses a time as RFC 3339 writes it, with an offset.
func asTime(s string) (time.Time, bool) {
	if !rfc3339.MatchString(s) {
		return time.Time{}, false
	}
	return calendar.ParseMoment(s)
}

func (r *schemaReader) options(path string, v any) []Option {
	list := r.list(path, v)
	if len(list) == 0 {
		r.problem(path, "must name what can be chosen")
	}
	if r.exceeds(path, len(list), maxOptions) {
		return nil
	}
	out := make([]Option, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		o, ok := r.option(at, e)
		if !ok {
			continue
		}
		if seen[o.Value] {
			r.problem(at, "%q is there twice", o.Value)
		}
		seen[o.Value] = true
		out = append(out, o)
	}
	return out
}

// option reads a string, or an object with value and label.
func (r *schemaReader) option(path string, v any) (Option, bool) {
	at, label := path, ""
	if m, ok := v.(map[string]any); ok {
		at, v = path+".value", m["value"]
		if l := r.words(path+".label", m["label"], maxLabel); l != nil {
			label = *l
		}
	}
	s, ok := v.(string)
	if !ok {
		r.problem(at, "must be a string, or an object of value and label")
		return Option{}, false
	}
	if r.words(at, v, maxOption) == nil {
		return Option{}, false
	}
	if hasControls(s) {
		r.problem(at, "must not hold line breaks")
		return Option{}, false
	}
	if wrong := checkLiquid(Select, s); wrong != "" {
		r.problem(at, "%s", wrong)
		return Option{}, false
	}
	return Option{Value: s, Label: label}, true
}

// value reads a value of the schema itself, by the rules by which
// bindings are checked. It returns nil if there is none.
func (r *schemaReader) value(path string, p *Parameter, v any) json.RawMessage {
	if v == nil {
		return nil
	}
	c := checker{}
	held, ok := c.value(location{base: path}, p, v)
	for _, i := range c.issues {
		r.problem(i.Path, "%s", i.Message)
	}
	if !ok {
		return nil
	}
	raw, err := encode(held)
	if err != nil {
		r.problem(path, "cannot be kept: %v", err)
		return nil
	}
	return raw
}
