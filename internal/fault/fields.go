package fault

import (
	"fmt"
	"slices"
	"strings"
)

// ErrInput is the general fault of a request that breaks a rule. Its details
// are Fields, which name every broken rule at once.
var ErrInput = New(Invalid, "INVALID_INPUT", "the request is not valid")

// Field is one broken rule: where, and what to send instead.
type Field struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// MaxFields is how many broken rules of a request are reported.
const MaxFields = 100

// Fields are the details of ErrInput. Truncated says that more than MaxFields
// rules are broken.
type Fields struct {
	Fields    []Field `json:"fields"`
	Truncated bool    `json:"truncated,omitempty"`
}

// Listed returns the details for a list of broken rules.
func Listed(list []Field) Fields {
	return Fields{list[:min(len(list), MaxFields)], len(list) > MaxFields}
}

// Problems gathers the broken rules of one request, as many as are reported.
// The zero value is ready to use.
type Problems struct {
	list      []problem
	last      int // of list: where elements were counted last
	truncated bool
}

type problem struct {
	Field
	elements int // of the array at the path that break the rule; zero: it is about the path itself
}

// Add notes that the value at path breaks a rule.
func (p *Problems) Add(path, message string) { p.add(problem{Field{path, message}, 0}) }

// AddFrom adds the broken rules that err, a fault of an invalid request, names.
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

// AddElement notes that an element of the array at path breaks a rule. Elements
// that break the same one are one problem, which says how many they are.
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

// Any reports whether a rule was broken.
func (p *Problems) Any() bool { return len(p.list) > 0 }

// At reports whether a problem at path is known.
func (p *Problems) At(path string) bool {
	return slices.ContainsFunc(p.list, func(f problem) bool { return f.Path == path })
}

// Truncated reports whether more rules are broken than are reported: there is
// no use in looking further.
func (p *Problems) Truncated() bool { return p.truncated }

// Fields returns the details that report the problems.
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

// Err returns nil, or ErrInput with everything that was added.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return p.Fields().input()
}

// Input returns ErrInput for the given fields; its message names the first.
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

// As returns e for the broken rules in d: with them as its details, unless it
// has others, and with their message.
func (d Fields) As(e *Error) *Error {
	told := e.Sayf("%s", d.input().Message)
	if told.Details == nil {
		told = told.With(d)
	}
	return told
}
