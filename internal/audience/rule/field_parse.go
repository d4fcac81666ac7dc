package rule

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// field parses a leaf about a field of the contact.
func (l leafReader) field() Condition {
	f := Field{}
	name, named := l.name("field")
	operator, asked := l.name("operator")
	if !named {
		return f
	}
	t, problem, _ := l.schema.field(name)
	switch {
	case problem == "":
	case t.kind == consentKind:
		l.missing(l.path+".field", "%s", problem)
	default:
		l.add(l.path+".field", "%s", problem)
		return f
	}
	f.Name = l.spelled(name)
	if !asked {
		return f
	}
	op, ok := t.kind.operator(operator)
	if !ok {
		l.add(l.path+".operator", "must be one of %s", join(operators[t.kind]))
		return f
	}
	f.Operator = op
	if op.shape() == nothing {
		return f
	}
	n, path := l.n.member("value"), l.path+".value"
	if n == nil {
		l.add(path, "required")
		return f
	}
	f.Value = l.value(n, path, t, op)
	return f
}

// spelled returns the canonical name of a field.
func (p *parser) spelled(name string) string {
	if key, ok := strings.CutPrefix(name, typePrefix); ok {
		if t, ok := p.schema.emailType(key); ok {
			return typePrefix + t.Key
		}
	}
	if key, ok := strings.CutPrefix(name, categoryPrefix); ok {
		if c, ok := id.Parse[id.Category](key); ok {
			return categoryPrefix + c.String()
		}
	}
	return name
}

// value parses the value that a field is compared with.
func (p *parser) value(n *node, path string, t target, op Operator) Value {
	switch op.shape() {
	case aSpan:
		return Value{Span: p.span(n, path)}
	case twoValues:
		if !n.isArray || len(n.array) != 2 {
			p.add(path, "must be an array of two values")
			return Value{}
		}
		switch t.kind {
		case numberKind:
			return Value{Numbers: p.numbers(n, path)}
		case clockKind: // the second may be earlier, for a range that includes midnight
			return Value{Texts: []string{p.clock(n.array[0], path+"[0]"), p.clock(n.array[1], path+"[1]")}}
		case dateKind:
			return Value{Dates: p.dates(n, path, p.day)}
		}
		return Value{Dates: p.dates(n, path, p.date)}
	case manyValues:
		if (t.kind == listKind || t.kind == tagsKind) && !n.isArray { // a single value without an array
			return Value{Texts: []string{p.word(n, path, t, op)}}
		}
		return p.several(n, path, t, op)
	}
	switch t.kind {
	case numberKind:
		return Value{Numbers: []float64{p.number(n, path)}}
	case booleanKind:
		b, ok := n.value.(bool)
		if !ok {
			p.add(path, "must be true or false")
		}
		return Value{Bool: b}
	case dateKind:
		return Value{Dates: []Date{p.day(n, path)}}
	case momentKind:
		return Value{Dates: []Date{p.date(n, path)}}
	case clockKind:
		return Value{Texts: []string{p.clock(n, path)}}
	}
	return Value{Texts: []string{p.word(n, path, t, op)}}
}

func (p *parser) several(n *node, path string, t target, op Operator) Value {
	if !p.many(n, path) {
		return Value{}
	}
	var v Value
	for i, e := range n.array {
		at := fmt.Sprintf("%s[%d]", path, i)
		if t.kind == numberKind {
			v.Numbers = append(v.Numbers, p.number(e, at))
		} else {
			v.Texts = append(v.Texts, p.word(e, at, t, op))
		}
	}
	v.Numbers, v.Texts = unique(v.Numbers), unique(v.Texts)
	return v
}

// needle parses a string that is not empty.
func (p *parser) needle(n *node, path string) string {
	s, ok := n.value.(string)
	switch {
	case !ok:
		p.add(path, "must be a string")
	case s == "":
		p.add(path, "must not be empty; is_set and is_not_set ask for a value at all")
	case utf8.RuneCountInString(s) > maxText:
		p.add(path, "at most %d characters", maxText)
	}
	return s
}

// word parses a string and returns it in the form that the field is stored in.
func (p *parser) word(n *node, path string, t target, op Operator) string {
	s := p.needle(n, path)
	if s == "" {
		return ""
	}
	equal := op == Equals || op == NotEquals || op == In || op == NotIn
	switch {
	case t.kind == textKind && t.lower && equal:
		return spelledAddress(s)
	case t.kind == listKind:
		return p.segment(s, true, path)
	case t.kind == referenceKind:
		uuid, ok := id.Canonical(s)
		if !ok {
			p.add(path, "must be a UUID")
		}
		return uuid
	case t.place == elsewhere && t.kind == choiceKind:
		return p.stage(s, path, t)
	case t.vocabulary != nil:
		w, ok := t.vocabulary(s)
		if !ok {
			p.missing(path, "must be %s", t.expected)
		}
		return w
	}
	return s
}

// spelledAddress returns an address or a domain in the form that contacts store; any other text
// unchanged.
func spelledAddress(s string) string {
	if a, err := address.Normalize(s); err == nil {
		return a
	}
	if !strings.Contains(s, "@") {
		if host, err := address.Hostname(strings.TrimSpace(s)); err == nil {
			return host
		}
	}
	return s
}

// stage returns the slug, or for stage_id the id, of a stage.
func (p *parser) stage(s, path string, t target) string {
	st, ok := p.schema.stage(s)
	switch {
	case !ok:
		p.missing(path, "there is no stage %s", clip.Ellipsis(s, maxQuoted))
		return s
	case t.name == "stage_id":
		return st.ID.String()
	}
	return st.Slug
}

// clock parses HH:MM or HH:MM:SS.
func (p *parser) clock(n *node, path string) string {
	s, _ := n.value.(string)
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if _, err := time.Parse(layout, s); err == nil && len(s) == len(layout) {
			return s
		}
	}
	p.add(path, "must be a time as HH:MM or HH:MM:SS")
	return ""
}
