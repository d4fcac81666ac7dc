package public

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// docsSchema is the part of a JSON schema that the reference page uses.
type docsSchema struct {
	Ref         string                `json:"$ref"`
	Type        docsTypes             `json:"type"`
	Format      string                `json:"format"`
	Description string                `json:"description"`
	Properties  map[string]docsSchema `json:"properties"`
	Required    []string              `json:"required"`
	Items       *docsSchema           `json:"items"`
	AnyOf       []docsSchema          `json:"anyOf"`
	Enum        []any                 `json:"enum"`
	Default     any                   `json:"default"`
	Pattern     string                `json:"pattern"`
	Minimum     *float64              `json:"minimum"`
	Maximum     *float64              `json:"maximum"`
	MinLength   *int                  `json:"minLength"`
	MaxLength   *int                  `json:"maxLength"`
	MinItems    *int                  `json:"minItems"`
	MaxItems    *int                  `json:"maxItems"`
}

// docsTypes is one type or several.
type docsTypes []string

// UnmarshalJSON reads a string or a list of them.
func (t *docsTypes) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(b, &one)
	*t = docsTypes{one}
	return err
}

// docsField is one row of a table of fields.
type docsField struct {
	Name, Place, Type, Text, Rules string
	Required                       bool
}

// docsDepth is the maximum depth of a table of fields.
const docsDepth = 5

// fields lists the fields of a schema, nested ones by their path.
func (d *openAPI) fields(s docsSchema) []docsField {
	return d.walk(s, "", nil)
}

func (d *openAPI) walk(s docsSchema, path string, above []string) []docsField {
	s, name := d.resolve(s)
	if name != "" {
		if slices.Contains(above, name) {
			return nil // it contains itself
		}
		above = append(slices.Clone(above), name)
	}
	if len(above) > docsDepth {
		return nil
	}
	if s.Items != nil {
		return d.walk(*s.Items, path+"[]", above)
	}
	var list []docsField
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		full := strings.TrimPrefix(path+"."+key, ".")
		target, _ := d.resolve(p)
		f := target.field(full)
		if p.Description != "" {
			f.Text = p.Description
		}
		if p.orNull() {
			f.Type += " or null"
		}
		f.Required = slices.Contains(s.Required, key)
		list = append(list, f)
		list = append(list, d.walk(p, full, above)...)
	}
	return list
}

// orNull reports whether null is one of the choices.
func (s docsSchema) orNull() bool {
	return slices.ContainsFunc(s.AnyOf, func(o docsSchema) bool { return slices.Contains(o.Type, "null") })
}

// resolve follows references, and returns the schema with the name of the last one.
func (d *openAPI) resolve(s docsSchema) (docsSchema, string) {
	for _, option := range s.AnyOf {
		if option.Ref != "" {
			s.Ref = option.Ref
		}
	}
	if s.Ref == "" {
		return s, ""
	}
	name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	return d.Components.Schemas[name], name
}

// field describes a schema in words.
func (s docsSchema) field(name string) docsField {
	types := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	f := docsField{Name: name, Text: s.Description, Type: strings.Join(types, " or ")}
	switch {
	case f.Type == "":
		f.Type = "any"
	case s.Format == "date-time", s.Format == "uuid", s.Format == "email", s.Format == "uri", s.Format == "date":
		f.Type = s.Format
	case s.Items != nil:
		f.Type = "list"
		if inner := s.Items.field("").Type; inner != "any" {
			f.Type += " of " + inner
		}
	}
	if len(types) < len(s.Type) {
		f.Type += " or null"
	}
	f.Rules = s.rules()
	return f
}

func (s docsSchema) rules() string {
	var rules []string
	add := func(format string, args ...any) { rules = append(rules, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		var names []string
		for _, e := range s.Enum {
			names = append(names, fmt.Sprint(e))
		}
		add("one of %s", strings.Join(names, ", "))
	}
	if s.Items != nil && len(s.Items.Enum) > 0 {
		add("each %s", s.Items.rules())
	}
	if s.Minimum != nil {
		add("from %v", *s.Minimum)
	}
	if s.Maximum != nil {
		add("to %v", *s.Maximum)
	}
	if s.MinLength != nil {
		add("at least %d characters", *s.MinLength)
	}
	if s.MaxLength != nil {
		add("at most %d characters", *s.MaxLength)
	}
	if s.MinItems != nil {
		add("at least %d", *s.MinItems)
	}
	if s.MaxItems != nil {
		add("at most %d", *s.MaxItems)
	}
	if s.Pattern != "" {
		add("matches %s", s.Pattern)
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	return strings.Join(rules, "; ")
}
