package liquid

import (
	"fmt"
	"strconv"
	"strings"
)

// expr is an expression, which has a value in each rendering.
type expr interface {
	eval(s *state) any
}

// literal is a value written in the template.
type literal struct{ v any }

func (l literal) eval(*state) any { return l.v }

// rangeExpr is (low..high).
type rangeExpr struct{ low, high expr }

func (r rangeExpr) eval(s *state) any {
	return span{toInt(r.low.eval(s)), toInt(r.high.eval(s))}
}

// variable is a path such as contact.custom_fields["plan"].
type variable struct {
	name string // the root, or "" if dynamic is the root
	root expr
	path []segment
}

// segment is one step of a path: a fixed name, or the value of an expression.
type segment struct {
	name   string
	dotted bool // written .name, which can also be size, first and last
	index  expr // nil for a fixed name
}

func (v *variable) eval(s *state) any { return s.resolvePeeked(v.peek(s)) }

// peek is eval, but returns a text that the Env holds by reference as a *string or an Appender: printing
// it or checking whether it is set needs no copy.
func (v *variable) peek(s *state) any {
	name := v.name
	if v.root != nil {
		if name = s.text(v.root.eval(s)); !s.tick(len(name)) {
			return nil
		}
	}
	value := s.lookup(name)
	for i := range v.path {
		if value == nil || !s.tick(nodeCost) {
			return nil
		}
		seg := &v.path[i]
		if seg.index != nil {
			value = s.index(value, seg.index.eval(s))
			continue
		}
		value = s.fieldByReference(value, seg.name, seg.dotted)
	}
	switch d := value.(type) {
	case string, nil, *string, Appender:
	case Valued:
		return s.normalizeByReference(d.Value())
	case Drop:
		if text, ok := d.(fmt.Stringer); ok {
			return text.String()
		}
	}
	return value
}

// peek evaluates an expression whose value is only printed or tested.
func peek(s *state, e expr) any {
	switch e := e.(type) {
	case *variable:
		return e.peek(s)
	case *filtered:
		return e.peek(s)
	}
	return e.eval(s)
}

// resolvePeeked converts the result of peek to a value.
func (s *state) resolvePeeked(v any) any {
	switch v := v.(type) {
	case *string:
		return *v
	case Appender:
		if text, ok := v.(fmt.Stringer); ok {
			return text.String()
		}
		return string(v.AppendTo(nil))
	}
	return v
}

// filtered is an expression followed by filters.
type filtered struct {
	input   expr
	filters []filterCall
}

type filterCall struct {
	*filter
	args []expr
}

func (f *filtered) eval(s *state) any { return s.resolvePeeked(f.peek(s)) }

func (f *filtered) peek(s *state) any {
	v := peek(s, f.input)
	for i := range f.filters {
		call := &f.filters[i]
		if !call.looks {
			v = s.resolvePeeked(v)
		}
		v = s.apply(call, v)
		if s.err != nil {
			return nil
		}
	}
	return v
}

// maxDepth limits the nesting of blocks, and of brackets in an expression.
const maxDepth = 100

// exprParser parses the markup of one tag.
type exprParser struct {
	lexer
	tok    token // the next token
	before int   // where the token before it ended
	depth  int
	names  *names
}

func newExprParser(markup string, n *names) *exprParser {
	p := &exprParser{lexer: lexer{src: markup}, names: n}
	p.advance()
	return p
}

func (p *exprParser) advance() {
	p.before = p.pos
	p.tok = p.lexer.next()
}

// peek returns the token after the current one.
func (p *exprParser) peek() token {
	ahead := p.lexer
	return ahead.next()
}

// accept moves past the mark if it is next.
func (p *exprParser) accept(mark string) bool {
	if !p.tok.is(mark) {
		return false
	}
	p.advance()
	return true
}

func (p *exprParser) expect(mark string) error {
	if !p.accept(mark) {
		return fmt.Errorf(`expected "%s", found %s`, mark, p.tok)
	}
	return nil
}

// end returns an error if there are tokens left.
func (p *exprParser) end() error {
	if p.tok.kind != tokenEnd {
		return fmt.Errorf("unexpected %s", p.tok)
	}
	return nil
}

// name parses the name of a variable that a tag sets.
func (p *exprParser) name() (string, error) {
	if p.tok.kind != tokenWord && p.tok.kind != tokenNumber {
		return "", fmt.Errorf("expected a name, found %s", p.tok)
	}
	text := p.tok.text
	p.advance()
	return text, nil
}

// expr parses a literal, a range or a variable.
func (p *exprParser) expr() (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("brackets are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.tok
	switch {
	case t.kind == tokenString:
		p.advance()
		return literal{t.text}, nil
	case t.kind == tokenNumber:
		p.advance()
		return literal{number(t.text)}, nil
	case t.kind == tokenWord:
		p.advance()
		if v, ok := keyword(t.text); ok && !p.tok.is(".") && !p.tok.is("[") {
			return literal{v}, nil
		}
		return p.path(&variable{name: t.text})
	case t.is("["):
		p.advance()
		root, err := p.expr()
		if err != nil {
			return nil, err
		}
		v := &variable{root: root}
		if l, ok := root.(literal); ok {
			if name, ok := l.v.(string); ok {
				v = &variable{name: name}
			}
		}
		if err := p.expect("]"); err != nil {
			return nil, err
		}
		return p.path(v)
	case t.is("("):
		p.advance()
		return p.span()
	}
	return nil, fmt.Errorf("expected a value, found %s", t)
}

// span parses a range after its opening parenthesis.
func (p *exprParser) span() (expr, error) {
	low, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenRange {
		return nil, fmt.Errorf(`expected "..", found %s`, p.tok)
	}
	p.advance()
	high, err := p.expr()
	if err != nil {
		return nil, err
	}
	return rangeExpr{low, high}, p.expect(")")
}

// path parses what follows the root of a variable.
func (p *exprParser) path(v *variable) (expr, error) {
	for {
		switch {
		case p.accept("."):
			if p.tok.kind != tokenWord {
				return nil, fmt.Errorf(`expected a name after ".", found %s`, p.tok)
			}
			v.path = append(v.path, segment{name: p.tok.text, dotted: true})
			p.advance()
		case p.accept("["):
			index, err := p.expr()
			if err != nil {
				return nil, err
			}
			seg := segment{index: index}
			if l, ok := index.(literal); ok {
				if name, ok := l.v.(string); ok {
					seg = segment{name: name}
				}
			}
			v.path = append(v.path, seg)
			if err := p.expect("]"); err != nil {
				return nil, err
			}
		default:
			p.names.use(v)
			return v, nil
		}
	}
}

// filtered parses an expression and the filters after it.
func (p *exprParser) filtered() (expr, error) {
	input, err := p.expr()
	if err != nil {
		return nil, err
	}
	f := &filtered{input: input}
	for p.accept("|") {
		call, err := p.filter()
		if err != nil {
			return nil, err
		}
		f.filters = append(f.filters, call)
	}
	if len(f.filters) == 0 {
		return input, nil
	}
	return f, nil
}

// filter parses one filter after its bar.
func (p *exprParser) filter() (filterCall, error) {
	if p.tok.kind != tokenWord {
		return filterCall{}, fmt.Errorf("expected a filter, found %s", p.tok)
	}
	name := p.tok.text
	f, ok := filters[name]
	if !ok {
		return filterCall{}, fmt.Errorf(`unknown filter "%s"`, name)
	}
	p.advance()
	call := filterCall{filter: f}
	var option expr
	for more := p.accept(":"); more; more = p.accept(",") {
		if key := p.tok; key.kind == tokenWord && p.peek().is(":") {
			if key.text != f.option {
				return call, fmt.Errorf(`the filter "%s" has no option "%s"`, name, key.text)
			}
			p.advance()
			p.advance()
			var err error
			if option, err = p.expr(); err != nil {
				return call, err
			}
			continue
		}
		arg, err := p.expr()
		if err != nil {
			return call, err
		}
		call.args = append(call.args, arg)
	}
	if n := len(call.args); n < f.min || n > f.max {
		return call, fmt.Errorf(`the filter "%s" takes %s, not %d`, name, f.arity(), n)
	}
	if option != nil {
		for len(call.args) < f.max {
			call.args = append(call.args, literal{nil})
		}
		call.args = append(call.args, option)
	}
	if f.prepare != nil {
		if err := f.prepare(call.args, p.names.zones); err != nil {
			return call, err
		}
	}
	return call, nil
}

func (f *filter) arity() string {
	switch {
	case f.max == 0:
		return "no arguments"
	case f.min == f.max && f.min == 1:
		return "1 argument"
	case f.min == f.max:
		return fmt.Sprintf("%d arguments", f.min)
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

func number(text string) any {
	if !strings.Contains(text, ".") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return int64(0)
	}
	return f
}

func keyword(word string) (any, bool) {
	switch word {
	case "true":
		return true, true
	case "false":
		return false, true
	case "nil", "null":
		return nil, true
	case "empty":
		return emptyValue, true
	case "blank":
		return blankValue, true
	}
	return nil, false
}
