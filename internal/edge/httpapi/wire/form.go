package wire

import (
	"reflect"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// Form is a record in the public form, for API keys, or in the session form, for signed-in users. The
// OpenAPI document for each kind of caller describes its form.
type Form[Public, Session any] struct {
	Public  *Public
	Session *Session
}

// FormFor returns the form for p.
func FormFor[Public, Session any](p auth.Principal, public func() Public, session func() Session) Form[Public, Session] {
	if p.IsKey() {
		return Form[Public, Session]{Public: new(public())}
	}
	return Form[Public, Session]{Session: new(session())}
}

// MarshalJSON encodes the form that is set.
func (f Form[Public, Session]) MarshalJSON() ([]byte, error) {
	if f.Session != nil {
		return endpoint.AppendValue(nil, f.Session)
	}
	return endpoint.AppendValue(nil, f.Public)
}

// Schema is that of the form that belongs to the document.
func (f Form[Public, Session]) Schema(r endpoint.Registry) *endpoint.Schema {
	return endpoint.FormSchema(r, reflect.TypeFor[Public](), reflect.TypeFor[Session]())
}

// SchemaName is that of the public form.
func (Form[Public, Session]) SchemaName() string { return endpoint.SchemaName[Public]() }

// Either is a row of a list, lean or full.
type Either[Lean, Full any] struct {
	Lean *Lean
	Full *Full
}

// MarshalJSON encodes the row that is set.
func (r Either[Lean, Full]) MarshalJSON() ([]byte, error) {
	if r.Full != nil {
		return endpoint.AppendValue(nil, r.Full)
	}
	return endpoint.AppendValue(nil, r.Lean)
}

// Schema is that of either row.
func (r Either[Lean, Full]) Schema(all endpoint.Registry) *endpoint.Schema {
	return endpoint.EitherSchema(r.SchemaName(), all.Schema(reflect.TypeFor[Lean](), true, ""), all.Schema(reflect.TypeFor[Full](), true, ""))
}

// SchemaName returns "Any" and the name of the full row's schema.
func (Either[Lean, Full]) SchemaName() string { return "Any" + endpoint.SchemaName[Full]() }

// AlwaysNull is a field without a value.
type AlwaysNull struct{}

// MarshalJSON writes null.
func (AlwaysNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema is that of null.
func (AlwaysNull) Schema(endpoint.Registry) *endpoint.Schema { return &endpoint.Schema{Type: "null"} }
