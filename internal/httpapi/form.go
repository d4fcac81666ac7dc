package httpapi

import (
	"reflect"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
)

// form is a record as its reader sees it: the public form for API keys, the
// session form for people. Each has a document of its own.
type form[Public, Session any] struct {
	public  *Public
	session *Session
}

// formFor returns the form that p is shown.
func formFor[Public, Session any](p auth.Principal, public func() Public, session func() Session) form[Public, Session] {
	if p.IsKey() {
		return form[Public, Session]{public: new(public())}
	}
	return form[Public, Session]{session: new(session())}
}

// MarshalJSON writes the form that was chosen.
func (f form[Public, Session]) MarshalJSON() ([]byte, error) {
	if f.session != nil {
		return endpoint.AppendValue(nil, f.session)
	}
	return endpoint.AppendValue(nil, f.public)
}

// Schema is that of either form, by document.
func (f form[Public, Session]) Schema(r endpoint.Registry) *endpoint.Schema {
	return endpoint.FormSchema(r, reflect.TypeFor[Public](), reflect.TypeFor[Session]())
}

// SchemaName is that of the public form.
func (form[Public, Session]) SchemaName() string { return endpoint.SchemaName[Public]() }
