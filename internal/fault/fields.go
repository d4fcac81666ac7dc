package fault

import "strings"

// ErrInput is the general fault of a request that breaks a rule. Its details
// are Fields, which name every broken rule at once (contract 2.2).
var ErrInput = New(Invalid, "INVALID_INPUT", "the request is not valid")

// Field is one broken rule: where, and what to send instead.
type Field struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Fields are the details of ErrInput.
type Fields struct {
	Fields []Field `json:"fields"`
}

// Problems gathers the broken rules of one request.
// The zero value is ready to use.
type Problems struct{ list []Field }

// Add notes that the value at path breaks a rule.
func (p *Problems) Add(path, message string) {
	p.list = append(p.list, Field{path, message})
}

// Any reports whether a rule was broken.
func (p *Problems) Any() bool { return len(p.list) > 0 }

// Err returns nil, or ErrInput with everything that was added.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return Input(p.list...)
}

// Input returns ErrInput for the given fields; its message names them.
func Input(fields ...Field) *Error {
	parts := make([]string, 0, len(fields))
	for i, f := range fields {
		if i == 3 && len(fields) > 4 {
			parts = append(parts, "and more")
			break
		}
		if f.Path == "" {
			parts = append(parts, f.Message)
			continue
		}
		parts = append(parts, f.Path+": "+f.Message)
	}
	e := ErrInput.With(Fields{fields})
	e.Message = strings.Join(parts, "; ")
	return e
}
