package binding

import (
	"cmp"
	"fmt"
)

// Document is the parsed bodies of a template or of a block. It is immutable and safe for
// concurrent use.
type Document struct {
	bodies [4][]part // by form
}

// part is a piece of a body.
type part struct {
	kind   partKind
	text   string // a literal, with its Liquid
	name   string // of a placeholder
	place  place
	code   bool   // inside Liquid, as a value of that language
	parent string // the MJML element around a slot
	line   int    // of the beginning of a section
	body   []part // of a section
}

type partKind uint8

const (
	literalPart partKind = iota
	paramPart
	fieldPart // of the row
	sectionPart
	slotPart
)

// The fields that all rows have.
const (
	rowIndex = "_index" // counted from 1
	rowFirst = "_first"
	rowLast  = "_last"
)

// maxReferences is the maximum number of references in a fault; the message counts the rest.
const maxReferences = 1000

// ParseDocument parses the placeholders of the bodies:
//
//	{{param:x}}                        the parameter x
//	{{x}}                              the same, outside sections, if x is declared
//	{{#section x}} … {{/section}}      once for each row
//	{{item:f}}                         the field f of the row; _index, _first, _last
//	{{slot:x}}                         the block in the slot x
//
// White space in the braces is ignored, and a line with nothing but the beginning or end of a
// section is removed. The first and the fourth may be followed by Liquid's filters, and are allowed
// in Liquid's tags, where they are values: {% if {{item:_last}} %}. Everything else is literal:
// Liquid as package liquid parses it, the contents of its strings, comments and raw blocks, and
// triple braces.
//
// The error is ErrReference, with the placeholders that are not declared or not allowed at their
// position: a section in a section, a slot in a section, an item outside of sections, a section or
// slot in the subject, a section without its end, or one with a part of a Liquid block. The
// warnings are declarations that are not used.
func ParseDocument(b Bodies, s Schema) (*Document, []Warning, error) {
	d := &Document{}
	in := newNames(s)
	var wrong []Reference
	reason := ""
	for f := range form(len(d.bodies)) {
		r := reader{src: b.of(f), form: f, names: in}
		d.bodies[f] = r.read()
		wrong = append(wrong, r.wrong...)
		reason = cmp.Or(reason, r.reason)
	}
	if len(wrong) == 0 {
		return d, in.unused(s), nil
	}
	e := ErrReference.With(References{wrong[:min(len(wrong), maxReferences)]})
	first := wrong[0]
	message := fmt.Sprintf("%s, line %d: %s %s", first.Field, first.Line, first.Token, reason)
	if more := len(wrong) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return nil, nil, e.Sayf("%s", message)
}

func (b Bodies) of(f form) string {
	switch f {
	case subjectForm:
		return b.Subject
	case htmlForm:
		return b.HTML
	case mjmlForm:
		return b.MJML
	}
	return b.Text
}

func (f form) field() string {
	switch f {
	case subjectForm:
		return "subject"
	case htmlForm:
		return "content_html"
	case mjmlForm:
		return "content_mjml"
	}
	return "content_text"
}

// names are the declared names of a schema, and which of them the bodies use.
type names struct {
	params   map[string]bool // the declared ones; the value is whether it was used
	slots    map[string]bool
	sections map[string]map[string]bool // and their fields
	used     map[string]bool            // sections
	all      bool                       // Liquid may read any parameter
}

func newNames(s Schema) *names {
	n := &names{
		params: map[string]bool{}, slots: map[string]bool{},
		sections: map[string]map[string]bool{}, used: map[string]bool{},
	}
	for _, p := range s.Parameters {
		n.params[p.Name] = false
	}
	for _, slot := range s.Slots {
		n.slots[slot.Name] = false
	}
	for _, section := range s.Sections {
		fields := map[string]bool{}
		for _, p := range section.Item {
			fields[p.Name] = false
		}
		n.sections[section.Name] = fields
	}
	return n
}

// use marks name as used and reports whether it is declared.
func use(declared map[string]bool, name string) bool {
	if _, ok := declared[name]; !ok {
		return false
	}
	declared[name] = true
	return true
}

func (n *names) unused(s Schema) []Warning {
	var list []Warning
	add := func(what, name, path string) {
		list = append(list, Warning{Code: "unused", Path: path, Message: fmt.Sprintf("the %s %q is declared, but no body uses it", what, name)})
	}
	for i, p := range s.Parameters {
		if !n.params[p.Name] && !n.all {
			add("parameter", p.Name, fmt.Sprintf("parameters_schema[%d]", i))
		}
	}
	for i, section := range s.Sections {
		path := fmt.Sprintf("sections_schema[%d]", i)
		if !n.used[section.Name] {
			add("section", section.Name, path)
			continue
		}
		for j, p := range section.Item {
			if !n.sections[section.Name][p.Name] {
				add("field", p.Name, fmt.Sprintf("%s.item_schema[%d]", path, j))
			}
		}
	}
	for i, slot := range s.Slots {
		if !n.slots[slot.Name] {
			add("slot", slot.Name, fmt.Sprintf("slots_schema[%d]", i))
		}
	}
	return list
}
