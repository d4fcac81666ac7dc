package liquid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mode is the kind of text that a template produces, which decides how values are printed.
type Mode int

// The modes.
const (
	Text  Mode = iota // values are printed unchanged; the caller handles line breaks
	HTML              // values are escaped for HTML text and quoted attributes, and in scripts and styles for these
	JSON              // values are written as texts of JSON where they stand in quotes, else as values of JSON
	Words             // Text in which each output must print words, else the error is ErrNotWords
)

// ErrNotWords means that an output of a template of mode Words printed nothing, or white space that HTML
// does not show as it is.
var ErrNotWords = errors.New("liquid: an output did not print words")

// Options are the options of parsing.
type Options struct {
	Mode Mode
}

// Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	mode  Mode
	nodes []node
	vars  []string
	texts []string
	any   bool // some names are computed

	repeats int // outputs that occur more than once and print the same each time
}

// ParseError is the reason why a source is not a template, and where.
type ParseError struct {
	Line    int // counted from 1
	Column  int // of the tag or output, in characters, counted from 1
	Message string
}

// Error returns the line and the message.
func (e *ParseError) Error() string {
	return fmt.Sprintf("liquid: line %d: %s", e.Line, e.Message)
}

// RenderError is the reason why a template cannot be rendered with its data, and the line.
type RenderError struct {
	Line    int // counted from 1
	Message string
}

// Error returns the line and the message.
func (e *RenderError) Error() string {
	return fmt.Sprintf("liquid: line %d: %s", e.Line, e.Message)
}

// Env is the data of a rendering.
type Env interface {
	// Lookup returns the value of a root name, such as contact or first_name.
	Lookup(name string) (any, bool)
	// Now returns the time of rendering. Dates are printed in its location.
	Now() time.Time
}

// Noter is an Env that is told what a rendering leaves as it is, although the template asks for more.
type Noter interface {
	Note(line int, message string)
}

// Values is an Env with given values.
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

// Drop is a value whose fields are computed when a template reads them. If it has a method String, it is
// that text wherever no field is read.
type Drop interface {
	// Field returns the value of a field, nil when there is none.
	Field(name string) any
}

// Valued is a Drop that is another value wherever no field is read.
type Valued interface {
	Drop
	// Value returns the value, nil when there is none.
	Value() any
}

// Appender is a text that is made when it is printed, without a copy.
type Appender interface {
	// AppendTo appends the text to dst.
	AppendTo(dst []byte) []byte
}

// Object is a Drop whose fields can also be iterated, counted and printed.
type Object interface {
	Drop
	// Names returns the fields in the order in which a loop sees them.
	Names() []string
}

// Raw is HTML that is printed as it is.
type Raw string

// Parse parses a template. The error is a *ParseError.
func Parse(source string, opts Options) (*Template, error) {
	p := newParser(source, opts.Mode)
	nodes, err := p.template()
	if err != nil {
		return nil, err
	}
	return &Template{mode: opts.Mode, nodes: nodes, vars: p.variables(), texts: p.texts, any: p.names.any, repeats: p.repeats()}, nil
}

// Variables returns the paths that the template reads from its Env, sorted and without duplicates, as
// far as they are known before rendering: contact.tags[i].name counts as contact.tags. Names that the
// template itself has set before in all cases are not included.
func (t *Template) Variables() []string { return slices.Clone(t.vars) }

// ReadsAnything reports whether the template computes names ({{ [name] }}), so that it may read more than
// its Variables.
func (t *Template) ReadsAnything() bool { return t.any }

// Constant returns the text of a template without tags and outputs, which is the same for all
// recipients.
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

// MarkedBytes is the minimum length of texts that are marked.
const MarkedBytes = 16

// Mark is the position of a constant text that was printed completely, so that further processing of it
// can be done once for all recipients.
type Mark struct {
	At   int // offset in the rendered text
	Text int // index in Texts
}

// Texts returns the constant texts of at least MarkedBytes bytes, without duplicates. Mark.Text is an
// index in them.
func (t *Template) Texts() []string { return slices.Clone(t.texts) }

// Append renders the template and appends the result to dst. It uses up b, which all parts of a message
// share; if b is nil, it uses a new budget. After an error it returns dst unchanged.
func (t *Template) Append(ctx context.Context, dst []byte, env Env, b *Budget) ([]byte, error) {
	dst, _, err := t.render(ctx, dst, nil, false, env, b)
	return dst, err
}

// AppendMarked is Append that also appends to marks the positions of the constant texts, in order.
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
	s.ctx, s.env, s.html, s.words, s.budget, s.line = ctx, env, t.mode == HTML, t.mode == Words, b, 1
	s.out, s.began, s.marks, s.marking = dst, len(dst), marks, marking
	s.printed = slices.Grow(s.printed[:0], t.repeats)[:t.repeats]
	clear(s.printed)
	s.start()
	s.renderAll(t.nodes)
	s.stop()
	out, marked, err := s.out, s.marks, s.err
	b.storeState(s)
	if err != nil {
		return dst, marks, err
	}
	return out, marked, nil
}
