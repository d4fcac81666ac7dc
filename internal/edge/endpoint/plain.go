package endpoint

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Not every generator of clients knows all of OpenAPI. What is here gives documents a form that most can read.

// Extensions of schemas that never appear in a document.
const (
	eitherName = "x-either" // of a choice of objects: the name of the schema with the fields of all
	shownForm  = "x-shown"  // the schema that documents show in its place
)

// EitherSchema is the schema of an object that is one of several, as a list has lean or full rows. Documents show one
// schema with the fields of all, of which those are required that all have: generators cannot tell objects apart that
// have fields in common.
func EitherSchema(name string, choices ...*Schema) *Schema {
	return &Schema{AnyOf: choices, Extensions: map[string]any{eitherName: name}}
}

// ShownSchema is the schema checked, for which documents show another one.
func ShownSchema(checked, shown *Schema) *Schema {
	s := *checked
	s.Extensions = map[string]any{shownForm: shown}
	return &s
}

// showForm replaces a schema by the one that documents show.
func (d *documentWriter) showForm(o object) {
	shown, ok := o[shownForm].(object)
	if !ok {
		return
	}
	if d.checked {
		delete(o, shownForm)
		return
	}
	text, described := o["description"]
	clear(o)
	maps.Copy(o, shown)
	if described {
		o["description"] = text
	}
}

// mergeChoices replaces a choice of objects by a reference to one schema.
func (d *documentWriter) mergeChoices(o object) error {
	name, _ := o[eitherName].(string)
	if name == "" {
		return nil
	}
	var whole object
	for _, choice := range o["anyOf"].([]any) {
		next := d.resolve(choice.(object))
		if whole == nil {
			whole = next
			continue
		}
		var err error
		if whole, err = d.mergeObjects(name, whole, next); err != nil {
			return err
		}
	}
	d.schemas[name] = whole
	clear(o)
	o["$ref"] = schemaPrefix + name
	return nil
}

// resolve returns the schema that o refers to, or o.
func (d *documentWriter) resolve(o object) object {
	if ref, ok := o["$ref"].(string); ok {
		o, _ = d.schemas[strings.TrimPrefix(ref, schemaPrefix)].(object)
	}
	return o
}

// mergeObjects returns the schema, with a name, of an object that matches a or b. A field of both has the same schema
// in both, or is itself an object to merge.
func (d *documentWriter) mergeObjects(name string, a, b object) (object, error) {
	in, also := a["properties"].(object), b["properties"].(object)
	properties := maps.Clone(also)
	for field, was := range in {
		other, both := also[field]
		if !both || reflect.DeepEqual(was, other) {
			properties[field] = was
			continue
		}
		one, two := d.resolve(was.(object)), d.resolve(other.(object))
		if one["type"] != TypeObject || two["type"] != TypeObject {
			return nil, fmt.Errorf("%s: the choices have different fields %s: %v and %v", name, field, was, other)
		}
		inner := name + strings.ToUpper(field[:1]) + field[1:]
		merged, err := d.mergeObjects(inner, one, two)
		if err != nil {
			return nil, err
		}
		d.schemas[inner] = merged
		properties[field] = object{"$ref": schemaPrefix + inner}
	}
	required, _ := a["required"].([]any)
	ofB, _ := b["required"].([]any)
	required = slices.DeleteFunc(slices.Clone(required), func(field any) bool { return !slices.Contains(ofB, field) })
	return object{"type": TypeObject, "properties": properties, "required": required}, nil
}

// prune removes the schemas that nothing in parts refers to.
func (d *documentWriter) prune(parts ...any) {
	used := object{}
	for _, part := range parts {
		d.collect(part, used)
	}
	d.schemas = used
}

// collect adds to used the schemas that v refers to.
func (d *documentWriter) collect(v any, used object) {
	switch v := v.(type) {
	case []object:
		for _, e := range v {
			d.collect(e, used)
		}
	case []any:
		for _, e := range v {
			d.collect(e, used)
		}
	case object:
		if ref, ok := v["$ref"].(string); ok && strings.HasPrefix(ref, schemaPrefix) {
			name := strings.TrimPrefix(ref, schemaPrefix)
			if _, known := used[name]; !known {
				used[name] = d.schemas[name]
				d.collect(d.schemas[name], used)
			}
		}
		for _, e := range v {
			d.collect(e, used)
		}
	}
}

// inline returns v with schemas in place of references to those that are not among keep. above are the schemas
// around v.
func (d *documentWriter) inline(v any, keep object, above ...string) (any, error) {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			var err error
			if list[i], err = d.inline(e, keep, above...); err != nil {
				return nil, err
			}
		}
		return list, nil
	case []object:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = e
		}
		return d.inline(list, keep, above...)
	case object:
		ref, _ := v["$ref"].(string)
		name := strings.TrimPrefix(ref, schemaPrefix)
		if _, kept := keep[name]; ref != "" && !kept {
			if slices.Contains(above, name) {
				return nil, fmt.Errorf("%s contains itself, and no operation refers to it", name)
			}
			return d.inline(d.schemas[name], keep, append(above, name)...)
		}
		o := make(object, len(v))
		for key, e := range v {
			var err error
			if o[key], err = d.inline(e, keep, above...); err != nil {
				return nil, err
			}
		}
		return o, nil
	}
	return v, nil
}
