package endpoint

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// schemaName names the schema of a type in the document.
func schemaName(t reflect.Type, hint string) string { return huma.DefaultSchemaNamer(t, hint) }

// describe completes a route with what huma found out about its types.
func (r *Router) describe(rt *route, in reflect.Type) {
	for _, p := range rt.huma.Parameters {
		if p.In == "query" {
			rt.query = append(rt.query, p.Name)
		}
	}
	f, ok := in.FieldByName("Body")
	if !ok {
		return
	}
	rt.bodyOptional = f.Type.Kind() == reflect.Pointer
	rt.bodySchema = rt.huma.RequestBody.Content[jsonType].Schema
	relax(r.schemas(), rt.bodySchema, f.Type, map[reflect.Type]bool{})
}

func (r *Router) schemas() huma.Registry { return r.api.OpenAPI().Components.Schemas }

// relax makes optional, in the schema of a body, the fields that need not be
// there: huma believes that of omitempty alone.
func relax(all huma.Registry, s *huma.Schema, t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(optionalType) {
		relax(all, s, reflect.Zero(t).Interface().(optional).inner(), seen)
		return
	}
	if s != nil && s.Ref != "" {
		s = all.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		relax(all, s.Items, t.Elem(), seen)
	case reflect.Map:
		elem, _ := s.AdditionalProperties.(*huma.Schema)
		relax(all, elem, t.Elem(), seen)
	case reflect.Struct:
		if seen[t] || s.Type != huma.TypeObject {
			return
		}
		seen[t] = true
		s.Required = nil
		for f, name := range bodyFields(t) {
			if required(f) {
				s.Required = append(s.Required, name)
			}
			relax(all, s.Properties[name], f.Type, seen)
		}
		s.PrecomputeMessages()
	}
}
