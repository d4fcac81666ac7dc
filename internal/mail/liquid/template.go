package liquid

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mode says what a template makes, and so how it prints values.
type Mode int

// The modes.
const (
	Text Mode = iota // values are printed as they are; line breaks are left to the caller
	HTML             // values are escaped for HTML text and quoted attributes
)

// Options are the choices made when a template is parsed.
type Options struct {
	Mode Mode
}

// Template is a parsed template. It never changes and may be rendered by many
// goroutines at once.
type Template struct {
	mode  Mode
	nodes []node
	vars  []string
	texts []string
	any   bool // it computes names

	repeats int // outputs that are written more than once and print the same each time
}

// ParseError says why and where a source is no template.
type ParseError struct {
	Line    int // counted from 1
	Message string
}

// Error returns the line and the message.
func (e *ParseError) Error() string {
	return fmt.Sprintf("liquid: line %d: %s", e.Line, e.Message)
}

// RenderError says why and where a template could not be rendered with the
// data it was given.
type RenderError struct {
	Line    int // counted from 1
	Message string
}

// Error returns the line and the message.
func (e *RenderError) Error() string {
	return fmt.Sprintf("liquid: line %d: %s", e.Line, e.Message)
}

// Env is what a template may ask about the recipient it is rendered for.
type Env interface {
	// Lookup returns the value of a root name, such as contact or first_name.
	Lookup(name string) (any, bool)
	// Now returns the time of rendering; its location is the time zone that
	// dates are printed in.
	Now() time.Time
}

// Values is an Env of values that are there already.
type Values struct {
	Vars map[string]any
	At   time.Time
}

// Lookup returns the variable of that name.
func (v Values) Lookup(name string) (any, bool) {
	x, ok := v.Vars[name]
	return x, ok
}

// Now returns v.At.
func (v Values) Now() time.Time { return v.At }

// Drop is a value whose fields are computed when a template asks for them. One
// with a method String is that text wherever no field of it is asked for.
type Drop interface {
	// Field returns the value of a field, nil when there is none.
	Field(name string) any
}

// Appender is a text that is made when it is printed, without a copy.
type Appender interface {
	// AppendTo appends the text to dst.
	AppendTo(dst []byte) []byte
}

// Object is a Drop that can also be walked, counted and printed.
type Object interface {
	Drop
	// Names returns the fields in the order in which a loop sees them.
	Names() []string
}

// Raw is HTML that is printed as it is.
type Raw string

// Parse reads a template. The error is a *ParseError.
func Parse(source string, opts Options) (*Template, error) {
	p := newParser(source)
	nodes, err := p.template()
	if err != nil {
		return nil, err
	}
	return &Template{mode: opts.Mode, nodes: nodes, vars: p.variables(), texts: p.texts, any: p.names.any, repeats: p.repeats()}, nil
}

// Variables returns the paths that the template reads from its Env, sorted and
// each once, as far as they are known before rendering: contact.tags[i].name
// counts as contact.tags. Names that the template itself has certainly set
// before are not among them.
func (t *Template) Variables() []string { return slices.Clone(t.vars) }

// ReadsAnything reports whether the template computes names ({{ [name] }}), so that
// what it reads is not among its Variables.
func (t *Template) ReadsAnything() bool { return t.any }

// Constant returns the text of a template without tags and outputs, which is
// the same for everyone.
func (t *Template) Constant() (string, bool) {
	switch len(t.nodes) {
	case 0:
		return "", true
	case 1:
		if text, ok := t.nodes[0].(*textNode); ok {
			return text.text, true
		}
		return "", false
	}
	var b strings.Builder
	for _, n := range t.nodes {
		text, ok := n.(*textNode)
		if !ok {
			return "", false
		}
		b.WriteString(text.text)
	}
	return b.String(), true
}

// MarkedBytes is the length from which texts are marked.
const MarkedBytes = 16

// Mark says that a constant text of the template was printed whole, so that what
// does more with the result need not do it again for every recipient.
type Mark struct {
	At   int // offset in what the rendering appended
	Text int // which of Texts it is
}

// Texts returns the constant texts of at least MarkedBytes bytes, which marks
// number, each once.
func (t *Template) Texts() []string { return slices.Clone(t.texts) }

// Append renders the template and returns dst with the result appended. What it
// uses is taken from b, which the other parts of the same message share; nil
// stands for a budget of its own. After an error dst is returned as it was.
func (t *Template) Append(ctx context.Context, dst []byte, env Env, b *Budget) ([]byte, error) {
	dst, _, err := t.render(ctx, dst, nil, false, env, b)
	return dst, err
}

// AppendMarked is Append that also appends to marks where the constant texts are,
// in their order.
func (t *Template) AppendMarked(ctx context.Context, dst []byte, marks []Mark, env Env, b *Budget) ([]byte, []Mark, error) {
	return t.render(ctx, dst, marks, true, env, b)
}

func (t *Template) render(ctx context.Context, dst []byte, marks []Mark, marking bool, env Env, b *Budget) ([]byte, []Mark, error) {
	if b == nil {
		b = NewBudget(Limits{})
	}
	if len(t.nodes) == 0 {
		return dst, marks, nil
	}
	s := b.state()
	s.ctx, s.env, s.html, s.budget, s.line = ctx, env, t.mode == HTML, b, 1
	s.out, s.began, s.marks, s.marking = dst, len(dst), marks, marking
	s.printed = slices.Grow(s.printed[:0], t.repeats)[:t.repeats]
	clear(s.printed)
	s.start()
	s.renderAll(t.nodes)
	s.stop()
	out, marked, err := s.out, s.marks, s.err
	b.keep(s)
	if err != nil {
		return dst, marks, err
	}
	return out, marked, nil
}
