package endpoint

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Named is a type that names its schema in the document itself. Generic types
// do, for their own names hold those of all their arguments.
type Named interface{ SchemaName() string }

// SchemaName returns the name of T's schema in the document.
func SchemaName[T any]() string { return schemaName(reflect.TypeFor[T](), "") }

func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n, ok := reflect.Zero(t).Interface().(Named); ok {
		return n.SchemaName()
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// describe completes a route with what huma found out about its types.
func (r *Router) describe(rt *route, in reflect.Type) {
	for _, p := range rt.huma.Parameters {
		if p.In == "query" {
			rt.query = append(rt.query, p.Name)
		}
	}
	if f, options, ok := uploadOf(in); ok {
		rt.upload, rt.optionsShape = f.Index, bodyTypeOf(options)
		rt.bodySchema = r.schemas().Schema(options, true, "")
		relaxer{r.schemas(), rt.Strict, map[reflect.Type]bool{}}.relax(rt.bodySchema, options)
		rt.optionsShape.bound(r.schemas(), rt.bodySchema)
		return
	}
	f, ok := in.FieldByName("Body")
	if !ok {
		return
	}
	rt.bodyOptional = f.Type.Kind() == reflect.Pointer
	rt.bodySchema = rt.huma.RequestBody.Content[jsonType].Schema
	relaxer{r.schemas(), rt.Strict, map[reflect.Type]bool{}}.relax(rt.bodySchema, f.Type)
	rt.body.bound(r.schemas(), rt.bodySchema)
}

func (r *Router) schemas() huma.Registry { return r.api.OpenAPI().Components.Schemas }

// relaxer puts the schema of a body right.
type relaxer struct {
	all    huma.Registry
	strict bool
	seen   map[reflect.Type]bool
}

// relax makes optional the fields that need not be there, for huma believes
// that of omitempty alone; in a strict operation it closes the schema.
func (r relaxer) relax(s *huma.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(optionalType) {
		r.relax(s, reflect.Zero(t).Interface().(optional).inner())
		return
	}
	if s != nil && s.Ref != "" {
		s = r.all.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		r.relax(s.Items, t.Elem())
	case reflect.Map:
		elem, _ := s.AdditionalProperties.(*huma.Schema)
		r.relax(elem, t.Elem())
	case reflect.Struct:
		if r.seen[t] || s.Type != huma.TypeObject {
			return
		}
		r.seen[t] = true
		s.Required = nil
		if r.strict {
			s.AdditionalProperties = false
		}
		for f, name := range bodyFields(t) {
			if required(f) {
				s.Required = append(s.Required, name)
			}
			r.relax(s.Properties[name], f.Type)
		}
		s.PrecomputeMessages()
	}
}
