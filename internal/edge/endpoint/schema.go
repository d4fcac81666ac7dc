package endpoint

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Schema is a JSON schema, for documents and for checking requests. A type can define its own by a method
// Schema(Registry) *Schema.
type Schema = huma.Schema

// Registry makes the schemas of types, and stores those of structs by name.
type Registry = huma.Registry

// The types of JSON values in schemas.
const (
	TypeArray   = huma.TypeArray
	TypeBoolean = huma.TypeBoolean
	TypeNumber  = huma.TypeNumber
	TypeObject  = huma.TypeObject
	TypeString  = huma.TypeString
)

// newRegistry returns a registry whose objects allow additional properties.
func newRegistry() Registry {
	config := huma.Config{OpenAPI: &huma.OpenAPI{Components: &huma.Components{Schemas: huma.NewMapRegistry(schemaPrefix, schemaName)}}}
	config.AllowAdditionalPropertiesByDefault = true
	return huma.NewAPI(config, nil).OpenAPI().Components.Schemas // huma offers no other way to set this
}

// Named is a type that names its schema. Generic types implement it, since their own names contain those of
// all their arguments.
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

// describe sets the parts of a route that follow from its types.
func (r *Router) describe(rt *route, in, out reflect.Type) {
	rt.params = r.paramsOf(in)
	if out != reflect.TypeFor[None]() && out != reflect.TypeFor[Download]() && out != reflect.TypeFor[EventStream]() {
		rt.responseSchema = r.schemas.Schema(out, true, rt.Name+"Response")
	}
	if rt.Event != nil {
		rt.eventSchema = r.schemas.Schema(reflect.TypeOf(rt.Event), true, rt.Name+"Event")
	}
	var body reflect.Type
	if f, t, ok := uploadOf(in); ok {
		rt.upload, body = f.Index, t
		rt.mayNameFile = t.Implements(reflect.TypeFor[FileNamer]())
		rt.bodySchema = r.schemas.Schema(t, true, "")
	} else if f, ok := in.FieldByName("Body"); ok {
		hint := rt.Name + "Request"
		if in.Name() != "" {
			hint = in.Name() + "Body"
		}
		rt.bodyIndex, rt.bodyOptional, body = f.Index, f.Type.Kind() == reflect.Pointer, f.Type
		rt.bodySchema = huma.SchemaFromField(r.schemas, f, hint)
	} else {
		return
	}
	rt.body = bodyTypeOf(body)
	schemaCorrector{r.schemas, rt.Strict, map[reflect.Type]bool{}}.correct(rt.bodySchema, body)
	rt.bodySchema.PrecomputeMessages()
	rt.body.setMaxItems(r.schemas, rt.bodySchema)
}

// schemaCorrector corrects the schema of a body.
type schemaCorrector struct {
	all    Registry
	strict bool
	seen   map[reflect.Type]bool
}

// correct makes fields optional that are not required: huma considers only omitempty. In a strict operation
// it forbids additional properties.
func (r schemaCorrector) correct(s *Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(optionalType) {
		r.correct(s, reflect.Zero(t).Interface().(optional).elemType())
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
		r.correct(s.Items, t.Elem())
	case reflect.Map:
		elem, _ := s.AdditionalProperties.(*Schema)
		r.correct(elem, t.Elem())
	case reflect.Struct:
		if r.seen[t] || s.Type != TypeObject {
			return
		}
		r.seen[t] = true
		s.Required = nil
		if r.strict {
			s.AdditionalProperties = false
		}
		for f, name := range bodyFields(t) {
			if isRequired(f) {
				s.Required = append(s.Required, name)
			}
			r.correct(s.Properties[name], f.Type)
		}
		s.PrecomputeMessages()
	}
}

// sessionForm is an extension of a reference to the public schema of a record: a reference to the session
// schema. A document contains one of them.
const sessionForm = "x-session-form"

// FormSchema returns the schema of a record whose form is public for API keys and session for sessions.
// Each document contains the one for its readers.
func FormSchema(r Registry, public, session reflect.Type) *Schema {
	s := *r.Schema(public, true, "")
	s.Extensions = map[string]any{sessionForm: r.Schema(session, true, "").Ref}
	return &s
}

// chooseForm replaces the reference by that for the document's readers.
func (d *documentWriter) chooseForm(v object) {
	session, ok := v[sessionForm]
	if !ok {
		return
	}
	delete(v, sessionForm)
	if d.session {
		v["$ref"] = session
	}
}
