package endpoint

import (
	"encoding/json"
	"reflect"
	"strings"
)

// bodyType is what follows from the Go type of a body: which fields are known, and where null is
// allowed. Everything else is in the schema.
type bodyType struct {
	kind     kind
	fields   map[string]member // of a record
	elem     *bodyType         // of a list or a mapping
	maxItems int               // maximum number of elements of a list; zero: any number

	maxItemsSet bool // setMaxItems was called
}

type kind int

const (
	open    kind = iota // anything
	scalar              // string or boolean
	integer             // a whole number
	number
	record // an object with known fields
	mapping
	list
)

// setMaxItems sets the maximum lengths of lists from a schema.
func (s *bodyType) setMaxItems(all Registry, schema *Schema) {
	for schema != nil && schema.Ref != "" {
		schema = all.SchemaFromRef(schema.Ref)
	}
	if schema == nil || s.maxItemsSet {
		return
	}
	s.maxItemsSet = true
	switch s.kind {
	case list:
		if schema.MaxItems != nil {
			s.maxItems = *schema.MaxItems
		}
		s.elem.setMaxItems(all, schema.Items)
	case mapping:
		elem, _ := schema.AdditionalProperties.(*Schema)
		s.elem.setMaxItems(all, elem)
	case record:
		for name, m := range s.fields {
			m.setMaxItems(all, schema.Properties[name])
		}
	}
}

// member is one field of a record.
type member struct {
	*bodyType
	nullable bool
}

// bodyTypeOf returns the bodyType of t.
func bodyTypeOf(t reflect.Type) *bodyType { return bodyTypes{}.typeOf(t) }

// bodyTypes are the types that are being read, so that types may contain themselves.
type bodyTypes map[reflect.Type]*bodyType

var optionalType = reflect.TypeFor[optional]()

func (all bodyTypes) typeOf(t reflect.Type) *bodyType {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(optionalType) {
		return all.typeOf(reflect.Zero(t).Interface().(optional).elemType())
	}
	if s, ok := all[t]; ok {
		return s
	}
	s := &bodyType{}
	all[t] = s
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return s // it has a method UnmarshalJSON, which checks its input
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool:
		s.kind = scalar
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.kind = integer
	case reflect.Float32, reflect.Float64:
		s.kind = number
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			s.kind = scalar // bytes, in base64
			break
		}
		s.kind, s.elem = list, all.typeOf(t.Elem())
	case reflect.Map:
		s.kind, s.elem = mapping, all.typeOf(t.Elem())
	case reflect.Struct:
		s.kind, s.fields = record, map[string]member{}
		for f, name := range bodyFields(t) {
			s.fields[name] = member{all.typeOf(f.Type), isNullable(f)}
		}
	}
	return s
}

// bodyFields yields the fields of a struct, including those of embedded structs, by their JSON names.
func bodyFields(t reflect.Type) func(yield func(reflect.StructField, string) bool) {
	return func(yield func(reflect.StructField, string) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" || (f.Anonymous && name == "") {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(f, name) {
				return
			}
		}
	}
}

// isNullable reports whether a field may be null: pointers, optional fields, lists (null is the empty list)
// and types with UnmarshalJSON, unless the tag nullable says otherwise. A pointer with omitempty may be
// absent, but not null.
func isNullable(f reflect.StructField) bool {
	switch f.Tag.Get("nullable") {
	case "true":
		return true
	case "false":
		return false
	}
	switch t := f.Type; {
	case t.Implements(optionalType), t.Kind() == reflect.Slice, t.Kind() == reflect.Interface:
		return true
	case t.Kind() == reflect.Pointer:
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		return !strings.Contains(options, "omitempty")
	}
	return false
}

// isRequired reports whether a field of a body is required. The tag required decides; without it, all
// fields except pointers and optional ones are.
func isRequired(f reflect.StructField) bool {
	switch f.Tag.Get("required") {
	case "true":
		return true
	case "false":
		return false
	}
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		return false
	}
	return f.Type.Kind() != reflect.Pointer && !f.Type.Implements(optionalType)
}
