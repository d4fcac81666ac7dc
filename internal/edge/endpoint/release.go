package endpoint

import (
	"errors"
	"reflect"
)

// requestSchemas is the registry that is left when the documents are written: the schemas that requests are
// checked by.
type requestSchemas struct {
	Registry // nil: no schema is made any more
	schemas  map[string]*Schema
}

// SchemaFromRef returns the schema of a reference.
func (r requestSchemas) SchemaFromRef(ref string) *Schema { return r.schemas[ref] }

// TypeFromRef implements Registry.
func (r requestSchemas) TypeFromRef(string) reflect.Type { return nil }

// errReleased means that a document was asked for after ReleaseDocuments.
var errReleased = errors.New("endpoint: the documents are released")

// ReleaseDocuments writes what is published, and frees what only documents need: their texts, the schemas of
// responses, which are most of all schemas, and the examples. Document, AppDocument and Blueprint fail
// afterwards. It is called before the router serves.
func (r *Router) ReleaseDocuments() error {
	for _, written := range r.published {
		if _, err := written(); err != nil {
			return err
		}
	}
	left := requestSchemas{schemas: map[string]*Schema{}}
	for _, rt := range r.routes {
		left.add(r.schemas, rt.bodySchema)
		for _, p := range rt.params {
			left.add(r.schemas, p.schema)
		}
		rt.responseSchema = nil
	}
	r.shallow.Registry, r.schemas, r.responseExamples, r.webhooks = left, nil, nil, nil
	r.documents = func() (documents, error) { return documents{}, errReleased }
	return nil
}

// add adds the schemas that s refers to.
func (r requestSchemas) add(all Registry, s *Schema) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		if r.schemas[s.Ref] == nil {
			r.schemas[s.Ref] = all.SchemaFromRef(s.Ref)
			r.add(all, r.schemas[s.Ref])
		}
		return
	}
	r.add(all, s.Items)
	if others, ok := s.AdditionalProperties.(*Schema); ok {
		r.add(all, others)
	}
	for _, p := range s.Properties {
		r.add(all, p)
	}
	for _, list := range [][]*Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, part := range list {
			r.add(all, part)
		}
	}
	r.add(all, s.Not)
}
