package rule

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// ErrInvalidDefinition reports an invalid rule. Its details contain the first problem and a list of
// all.
var ErrInvalidDefinition = fault.New(fault.Invalid, "INVALID_DEFINITION", "the definition is not valid")

// Further limits of a rule.
const (
	maxGroups   = 5
	maxLeaves   = 100
	maxProblems = fault.MaxFields + 1 // one more than is reported
)

// The fields of request bodies that contain rules.
const (
	rootFilters    = "filters"
	rootDefinition = "definition"
)

// ParseFilters parses the filters of a list of contacts: a JSON array of {field, operator, value},
// all of which must hold. All problems are reported together, as contact.ErrInvalidFilters.
func ParseFilters(raw []byte, s Schema) (Tree, error) {
	p := parser{schema: s}
	t := p.filters(raw)
	return t, p.fault(contact.ErrInvalidFilters)
}

// ParseDefinition parses the definition in a request. Leaves must have a subject and no unknown
// fields. All problems are reported together, as ErrInvalidDefinition.
func ParseDefinition(raw []byte, s Schema) (Tree, error) {
	p := parser{schema: s, strict: true}
	t := p.definition(raw)
	return t, p.fault(ErrInvalidDefinition)
}

// Reparse is ParseDefinition for a definition that an earlier request contained and that is stored
// unchanged, perhaps by a version that accepted unknown fields and leaves without a subject.
func Reparse(raw []byte, s Schema) (Tree, error) {
	p := parser{schema: s}
	t := p.definition(raw)
	return t, p.fault(ErrInvalidDefinition)
}

// Decode parses the stored canonical encoding of a tree, or of filters. A leaf may have no subject.
// If a leaf refers to a deleted record, it is kept, and Warnings reports it.
func Decode(raw []byte, s Schema) (Tree, error) {
	return decode(raw, parser{schema: s, lenient: true})
}

func decode(raw []byte, p parser) (Tree, error) {
	var t Tree
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		t = p.filters(raw)
	} else {
		t = p.definition(raw)
	}
	if len(p.problems) > 0 {
		return Tree{}, fmt.Errorf("decode a rule: %s: %s", p.problems[0].Path, p.problems[0].Message)
	}
	return t, nil
}

// details contain the first problem and a list of all.
type details struct {
	Path string `json:"path"`
	fault.Fields
}

// parser parses one rule and collects its problems.
type parser struct {
	schema    Schema
	lenient   bool // stored rule: missing references are no problem
	strict    bool // leaves must have a subject and no unknown fields
	triggered bool // rule of a sequence: it may have TriggerEvent leaves
	leaves    int
	problems  []fault.Field
}

func (p *parser) fault(f *fault.Error) error {
	if len(p.problems) == 0 {
		return nil
	}
	listed := fault.Listed(p.problems)
	return listed.As(f.With(details{p.problems[0].Path, listed}))
}

// add records a problem.
func (p *parser) add(path, format string, args ...any) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, fault.Field{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// missing records that a referenced record does not exist. In a stored rule that is a warning
// rather than a problem.
func (p *parser) missing(path, format string, args ...any) {
	if !p.lenient {
		p.add(path, format, args...)
	}
}

func (p *parser) read(raw []byte, path string) *node {
	n, f := read(raw, path)
	if f != nil {
		p.add(f.path, "%s", f.message)
		return nil
	}
	return n
}

func (p *parser) filters(raw []byte) Tree {
	t := Tree{Root: Group{Logic: And, Conditions: []Condition{}}}
	n := p.read(raw, rootFilters)
	if n == nil {
		return t
	}
	if !n.isArray {
		p.add(rootFilters, "must be an array of {field, operator, value}")
		return t
	}
	if len(n.array) > maxLeaves {
		p.add(rootFilters, "at most %d conditions", maxLeaves)
		return t
	}
	for i, e := range n.array {
		path := fmt.Sprintf("%s[%d]", rootFilters, i)
		switch {
		case e.object == nil:
			p.add(path, "must be an object {field, operator, value}")
		case e.isGroup():
			p.add(path, "must be a single condition; groups belong into a definition")
		case e.member("type") != nil && e.member("type").value != typeField:
			p.add(path+".type", "only conditions on fields are filters; others belong into a definition")
		default:
			t.Root.Conditions = append(t.Root.Conditions, p.leaf(e, path))
		}
	}
	return t
}

func (p *parser) definition(raw []byte) Tree {
	n := p.read(raw, rootDefinition)
	if n == nil {
		return Tree{}
	}
	if !n.isGroup() {
		p.add(rootDefinition, "must be a group: {logic, conditions}")
		return Tree{}
	}
	t := Tree{Root: p.group(n, rootDefinition, 1)}
	if p.leaves > maxLeaves && !p.lenient {
		p.add(rootDefinition, "at most %d conditions that are no groups", maxLeaves)
	}
	return t
}

// logics maps the names of logics in requests, in lower case.
var logics = map[string]Logic{"and": And, "all": And, "or": Or, "any": Or}

func (p *parser) group(n *node, path string, level int) Group {
	g := Group{Logic: And, Conditions: []Condition{}}
	if level > maxGroups {
		p.add(path, "groups may be nested %d levels deep", maxGroups)
		return g
	}
	for _, name := range []string{"type", "field"} {
		if n.member(name) != nil {
			p.add(path+"."+name, "a condition is either a group, with logic, or a leaf, with type or field")
		}
	}
	if l := n.member("logic"); l == nil {
		p.add(path+".logic", `required: "and" or "or"`)
	} else {
		s, _ := l.value.(string)
		logic, ok := logics[strings.ToLower(s)]
		if !ok {
			p.add(path+".logic", `must be "and" or "or"`)
		} else {
			g.Logic = logic
		}
	}
	if neg := n.member("negate"); neg != nil {
		b, ok := neg.value.(bool)
		if !ok {
			p.add(path+".negate", "must be true or false")
		}
		g.Negate = b
	}
	list := n.member("conditions")
	path += ".conditions"
	switch {
	case list == nil:
		p.add(path, "required")
		return g
	case !list.isArray:
		p.add(path, "must be an array")
		return g
	case len(list.array) == 0 && !p.lenient:
		p.add(path, "must hold at least one condition")
	}
	for i, e := range list.array {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case p.leaves > maxLeaves && !p.lenient: // it will be refused in any case
			return g
		case e.object == nil:
			p.add(at, "must be an object: a group or a leaf")
		case e.isGroup():
			g.Conditions = append(g.Conditions, p.group(e, at, level+1))
		default:
			g.Conditions = append(g.Conditions, p.leaf(e, at))
		}
	}
	return g
}

// leaf parses a condition that is no group. A stored leaf that is no longer valid becomes Broken.
func (p *parser) leaf(n *node, path string) Condition {
	p.leaves++
	before := len(p.problems)
	c := p.typed(n, path)
	if p.lenient && len(p.problems) > before {
		raw, err := json.Marshal(n)
		if err != nil { // a parsed value always encodes
			panic("rule: " + err.Error())
		}
		op, _ := n.text("operator")
		_, negative := canonical(op).positive()
		c = Broken{Raw: raw, Negative: negative, Code: p.code(n)}
		p.problems = p.problems[:before]
	}
	return c
}

// code returns the code of the warning for a leaf that is no longer valid.
func (p *parser) code(n *node) string {
	name, _ := n.text("field")
	if _, _, code := p.schema.field(name); code != "" && name != "" {
		return code
	}
	return ErrInvalidDefinition.Code
}

func (n *node) isGroup() bool { return n.member("logic") != nil || n.member("conditions") != nil }

// text returns a string member.
func (n *node) text(name string) (string, bool) {
	if m := n.member(name); m != nil {
		s, ok := m.value.(string)
		return s, ok
	}
	return "", false
}
