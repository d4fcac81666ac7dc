package httpapi

import (
	"reflect"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// form is a record in the public form, for API keys, or in the session form, for signed-in users. The
// OpenAPI document for each kind of caller describes its form.
type form[Public, Session any] struct {
	public  *Public
	session *Session
}

// formFor returns the form for p.
func formFor[Public, Session any](p auth.Principal, public func() Public, session func() Session) form[Public, Session] {
	if p.IsKey() {
		return form[Public, Session]{public: new(public())}
	}
	return form[Public, Session]{session: new(session())}
}

// MarshalJSON encodes the form that is set.
func (f form[Public, Session]) MarshalJSON() ([]byte, error) {
	if f.session != nil {
		return endpoint.AppendValue(nil, f.session)
	}
	return endpoint.AppendValue(nil, f.public)
}

// Schema is that of the form that belongs to the document.
func (f form[Public, Session]) Schema(r endpoint.Registry) *endpoint.Schema {
	return endpoint.FormSchema(r, reflect.TypeFor[Public](), reflect.TypeFor[Session]())
}

// SchemaName is that of the public form.
func (form[Public, Session]) SchemaName() string { return endpoint.SchemaName[Public]() }

// either is a row of a list, lean or full.
type either[Lean, Full any] struct {
	lean *Lean
	full *Full
}

// MarshalJSON encodes the row that is set.
func (r either[Lean, Full]) MarshalJSON() ([]byte, error) {
	if r.full != nil {
		return endpoint.AppendValue(nil, r.full)
	}
	return endpoint.AppendValue(nil, r.lean)
}

// Schema is that of either row.
func (r either[Lean, Full]) Schema(all endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{AnyOf: []*endpoint.Schema{
		all.Schema(reflect.TypeFor[Lean](), true, ""), all.Schema(reflect.TypeFor[Full](), true, ""),
	}}
}

// SchemaName is that of the full row.
func (either[Lean, Full]) SchemaName() string { return endpoint.SchemaName[Full]() }

// alwaysNull is a field without a value.
type alwaysNull struct{}

// MarshalJSON writes null.
func (alwaysNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema is that of null.
func (alwaysNull) Schema(endpoint.Registry) *endpoint.Schema { return &endpoint.Schema{Type: "null"} }
