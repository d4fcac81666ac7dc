package fault

import (
	"fmt"
	"slices"
	"strings"
)

// ErrInput is the general fault of an invalid request. Its details are Fields, with all problems.
var ErrInput = New(Invalid, "INVALID_INPUT", "the request is not valid")

// Field is one problem: the path of the value, and what is required.
type Field struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// MaxFields is the maximum number of problems reported for a request.
const MaxFields = 100

// Fields is the details of ErrInput. Truncated means that there are more than MaxFields problems.
type Fields struct {
	Fields    []Field `json:"fields"`
	Truncated bool    `json:"truncated,omitempty"`
}

// Listed returns the details for a list of problems.
func Listed(list []Field) Fields {
	return Fields{list[:min(len(list), MaxFields)], len(list) > MaxFields}
}

// Problems collects the problems of one request, up to MaxFields. The zero value is ready for use.
type Problems struct {
	list      []problem
	last      int // index in list of the element problem added last
	truncated bool
}

type problem struct {
	Field
	elements int // number of invalid elements of the array at the path; zero: the value at the path itself
}

// Add adds a problem with the value at path.
func (p *Problems) Add(path, message string) { p.add(problem{Field{path, message}, 0}) }

// AddFrom adds the problems of err, if it is a fault of kind Invalid.
func (p *Problems) AddFrom(err error) {
	f, ok := As(err)
	if !ok || f.Kind != Invalid {
		return
	}
	details, _ := f.Details.(Fields)
	for _, one := range details.Fields {
		p.Add(one.Path, one.Message)
	}
	p.truncated = p.truncated || details.Truncated
}

// AddElement adds a problem with an element of the array at path. Elements with the same problem
// are reported as one, with their number.
func (p *Problems) AddElement(path, message string) { p.AddElements(path, 1, message) }

// AddElements is AddElement for n elements.
func (p *Problems) AddElements(path string, n int, message string) {
	same := func(f problem) bool { return f.elements > 0 && f.Path == path && f.Message == message }
	i := p.last
	if i >= len(p.list) || !same(p.list[i]) {
		i = slices.IndexFunc(p.list, same)
	}
	if i < 0 {
		i = len(p.list)
		p.add(problem{Field{path, message}, n})
	} else {
		p.list[i].elements += n
	}
	p.last = i
}

func (p *Problems) add(f problem) {
	if len(p.list) == MaxFields {
		p.truncated = true
		return
	}
	p.list = append(p.list, f)
}

// Any reports whether there are problems.
func (p *Problems) Any() bool { return len(p.list) > 0 }

// At reports whether there is a problem at path.
func (p *Problems) At(path string) bool {
	return slices.ContainsFunc(p.list, func(f problem) bool { return f.Path == path })
}

// Truncated reports whether there are more problems than are reported, so that looking for others
// is useless.
func (p *Problems) Truncated() bool { return p.truncated }

// Fields returns the details for the problems.
func (p *Problems) Fields() Fields {
	list := make([]Field, len(p.list))
	for i, f := range p.list {
		list[i] = f.Field
		switch {
		case f.elements == 1:
			list[i].Message = "1 element: " + f.Message
		case f.elements > 1:
			list[i].Message = fmt.Sprintf("%d elements: %s", f.elements, f.Message)
		}
	}
	return Fields{list, p.truncated}
}

// Err returns nil, or ErrInput with all problems.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return p.Fields().input()
}

// Input returns ErrInput for the given fields; its message contains the first ones.
func Input(fields ...Field) *Error { return Listed(fields).input() }

func (d Fields) input() *Error {
	parts := make([]string, 0, 4)
	for i, f := range d.Fields {
		if i == 3 && len(d.Fields) > 4 {
			parts = append(parts, "and more")
			break
		}
		if f.Path == "" {
			parts = append(parts, f.Message)
			continue
		}
		parts = append(parts, f.Path+": "+f.Message)
	}
	e := ErrInput.With(d)
	e.Message = strings.Join(parts, "; ")
	return e
}

// As returns e with the message for the problems in d, and with d as details unless e has others.
func (d Fields) As(e *Error) *Error {
	out := e.Sayf("%s", d.input().Message)
	if out.Details == nil {
		out = out.With(d)
	}
	return out
}
