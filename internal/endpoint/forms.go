package endpoint

import (
	"reflect"
)

// sessionForm marks, beside the reference to the schema of a record as API keys
// see it, the one as people see it. Documents hold one of both.
const sessionForm = "x-session-form"

// FormSchema returns the schema of a record that API keys see as public and
// people as session: each document shows the one of its readers.
func FormSchema(r Registry, public, session reflect.Type) *Schema {
	s := *r.Schema(public, true, "")
	s.Extensions = map[string]any{sessionForm: r.Schema(session, true, "").Ref}
	return &s
}

// choose puts the form that the document's readers see in the place of the mark.
func (d *drafter) choose(v object) {
	session, ok := v[sessionForm]
	if !ok {
		return
	}
	delete(v, sessionForm)
	if d.session {
		v["$ref"] = session
	}
}
