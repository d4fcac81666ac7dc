package binding

import (
	"cmp"
	"fmt"
	"strings"

	"packetboat/internal/mail/links"
	"packetboat/internal/mail/liquid"
)

// Document is the bodies of a template or of a block, read once. It never
// changes and may be used by many goroutines at once.
type Document struct {
	bodies [4][]part // by form
}

// part is a piece of a body.
type part struct {
	kind   partKind
	text   string // a literal, with its Liquid
	name   string // of what a placeholder stands for
	place  place
	parent string // the MJML element around a slot
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

// The fields that every row has.
const (
	rowIndex = "_index" // counted from 1
	rowFirst = "_first"
	rowLast  = "_last"
)

// maxReferences is how many references a fault lists; the message counts the rest.
const maxReferences = 1000

// ParseDocument reads the placeholders of the bodies:
//
//	{{param:x}}                        the parameter x
//	{{x}}                              the same, outside sections, when x is declared
//	{{#section x}} … {{/section}}      once for each row
//	{{item:f}}                         the field f of the row; _index, _first, _last
//	{{slot:x}}                         the block in the slot x
//
// White space in the braces does not count, and a line on which nothing but the
// beginning or end of a section stands disappears. Everything else is literal:
// Liquid, as package liquid reads it, with what stands in its texts, comments and
// raw blocks, and triple braces.
//
// The error is ErrReference, and lists what names nothing declared or stands
// where it cannot: a section in a section, a slot in a section, an item outside
// one, either in the subject, a section without its end, or one with half of a
// Liquid block in it. The warnings are about what is declared and never used.
func ParseDocument(b Bodies, s Schema) (*Document, []Warning, error) {
	d := &Document{}
	in := newNames(s)
	var wrong []Reference
	reason := ""
	for f := range form(len(d.bodies)) {
		r := reader{src: b.of(f), form: f, names: in, track: tracker{form: f}}
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

// names are what a schema declares, and what of it the bodies use.
type names struct {
	params   map[string]bool // declared, by name: whether it was used
	slots    map[string]bool
	sections map[string]map[string]bool // and their fields
	used     map[string]bool            // sections
	all      bool                       // Liquid asks for any parameter
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

// use notes that name is used and reports whether it is declared.
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

// reader cuts one body into parts.
type reader struct {
	src    string
	form   form
	names  *names
	slot   string // the slot that the body is a block for; param means its parameters
	track  tracker
	wrong  []Reference
	reason string // of the first of them

	from    int // where the literal begins that is not yet a part
	line    int // lines before counted
	counted int

	parts   []part
	section *openSection
	nested  int // sections in the section, each of them wrong
}

// openSection is the section being read.
type openSection struct {
	name   string
	fields map[string]bool // nil: the section is not declared
	token  string
	line   int
	before []part
}

func (r *reader) read() []part {
	spans := links.Spans(r.src)
	params(r.src, spans, func(_ int, name string) {
		if name == "" {
			r.names.all = true
		}
		use(r.names.params, name)
	})
	tracked := 0
	for _, span := range spans {
		r.track.read(r.src[tracked:span.Start])
		tracked = span.End
		if !span.Output {
			continue // a tag is nothing to HTML, or stands between attributes
		}
		r.output(span)
		r.track.value()
	}
	r.literal(len(r.src))
	if s := r.section; s != nil {
		r.report(s.token, s.line, "has no {{/section}}")
		r.endSection()
	}
	r.checkSections()
	return r.parts
}

// output reads what may be a placeholder.
func (r *reader) output(span links.Span) {
	code := strings.TrimFunc(r.src[span.Start+2:span.End-2], isLiquidSpace)
	switch kind, name := placeholder(code); kind {
	case "":
		if _, ok := r.names.params[code]; ok && r.section == nil {
			r.param(span, code)
		}
	case "param":
		r.param(span, name)
	case "item":
		r.item(span, name)
	case "slot":
		r.slotAt(span, name)
	case "#section":
		r.begin(span, name)
	case "/section":
		r.end(span, name)
	}
}

// placeholder returns the kind of a placeholder and the name in it.
func placeholder(code string) (kind, name string) {
	trim := func(s string) string { return strings.TrimFunc(s, isLiquidSpace) }
	for _, mark := range []string{"#", "/"} {
		if rest, ok := strings.CutPrefix(code, mark); ok {
			rest, ok = strings.CutPrefix(trim(rest), "section")
			if name := trim(rest); ok && (name == "" || len(name) < len(rest)) {
				return mark + "section", name
			}
			return "", ""
		}
	}
	kind, name, ok := strings.Cut(code, ":")
	switch kind = trim(kind); {
	case ok && (kind == "param" || kind == "item" || kind == "slot"):
		return kind, trim(name)
	}
	return "", ""
}

// literal makes a part of what stands before to.
func (r *reader) literal(to int) {
	if r.from < to {
		r.parts = append(r.parts, part{text: scoped(r.src[r.from:to], r.slot)})
	}
}

// put puts a part in the place of the placeholder at span.
func (r *reader) put(span links.Span, p part) {
	r.literal(span.Start)
	r.from = span.End
	p.place = r.track.place()
	r.parts = append(r.parts, p)
}

// refuse notes that the placeholder at span is wrong.
func (r *reader) refuse(span links.Span, reason string) {
	r.report(r.src[span.Start:span.End], r.lineOf(span.Start), reason)
	r.literal(span.Start)
	r.from = span.End
}

func (r *reader) report(token string, line int, reason string) {
	const long = 120
	if len(token) > long {
		token = strings.ToValidUTF8(token[:long], "") + "…"
	}
	r.wrong = append(r.wrong, Reference{Token: token, Field: r.form.field(), Line: line})
	r.reason = cmp.Or(r.reason, reason)
}

// lineOf returns the line of a position, which must not lie before an earlier one.
func (r *reader) lineOf(at int) int {
	r.line += strings.Count(r.src[r.counted:at], "\n")
	r.counted = at
	return r.line + 1
}

func (r *reader) param(span links.Span, name string) {
	if !use(r.names.params, name) {
		r.refuse(span, "names no declared parameter")
		return
	}
	r.put(span, part{kind: paramPart, name: name})
}

func (r *reader) item(span links.Span, name string) {
	switch {
	case r.form == subjectForm:
		r.refuse(span, "cannot stand in a subject")
		return
	case r.section == nil:
		r.refuse(span, "stands outside of a section")
		return
	case name == rowIndex, name == rowFirst, name == rowLast:
	case r.section.fields != nil && !use(r.section.fields, name):
		r.refuse(span, fmt.Sprintf("names no field of the section %q", r.section.name))
		return
	}
	r.put(span, part{kind: fieldPart, name: name})
}

func (r *reader) slotAt(span links.Span, name string) {
	switch {
	case r.form == subjectForm:
		r.refuse(span, "cannot stand in a subject")
	case r.section != nil:
		r.refuse(span, "cannot stand in a section")
	case !use(r.names.slots, name):
		r.refuse(span, "names no declared slot")
	default:
		r.put(span, part{kind: slotPart, name: name, parent: r.track.parent()})
	}
}

func (r *reader) begin(span links.Span, name string) {
	fields, declared := r.names.sections[name]
	switch {
	case r.form == subjectForm:
		r.refuse(span, "cannot stand in a subject")
		r.nested++
		return
	case r.section != nil:
		r.refuse(span, "cannot stand in another section")
		r.nested++
		return
	case !declared:
		r.refuse(span, "names no declared section")
	}
	r.names.used[name] = true
	start, end := r.alone(span)
	r.literal(start)
	r.from = max(r.from, end)
	r.section = &openSection{name: name, fields: fields, token: r.src[span.Start:span.End], line: r.lineOf(span.Start), before: r.parts}
	r.parts = nil
}

func (r *reader) end(span links.Span, name string) {
	switch {
	case r.nested > 0:
		r.nested--
		r.literal(span.Start)
		r.from = span.End
	case r.form == subjectForm:
		r.refuse(span, "cannot stand in a subject")
	case r.section == nil:
		r.refuse(span, "ends a section that was not begun")
	case name != "" && name != r.section.name:
		r.refuse(span, fmt.Sprintf("does not end the section %q", r.section.name))
		r.endSection()
	default:
		start, end := r.alone(span)
		r.literal(start)
		r.from = end
		r.endSection()
	}
}

func (r *reader) endSection() {
	s := r.section
	r.parts = append(s.before, part{kind: sectionPart, name: s.name, body: r.parts})
	r.section = nil
}

// alone returns what the beginning or end of a section takes with it: its whole
// line, when nothing else stands on that.
func (r *reader) alone(span links.Span) (start, end int) {
	start, end = span.Start, span.End
	for start > r.from && (r.src[start-1] == ' ' || r.src[start-1] == '\t') {
		start--
	}
	for end < len(r.src) && (r.src[end] == ' ' || r.src[end] == '\t' || r.src[end] == '\r') {
		end++
	}
	if start > 0 && r.src[start-1] != '\n' || end < len(r.src) && r.src[end] != '\n' {
		return span.Start, span.End
	}
	return start, min(end+1, len(r.src))
}

// checkSections refuses sections with half of a Liquid block in them: repeated,
// or left out, they would take the template apart.
func (r *reader) checkSections() {
	if len(r.wrong) > 0 || !strings.Contains(r.src, "{%") {
		return
	}
	whole := false
	for i := range r.parts {
		p := &r.parts[i]
		if p.kind != sectionPart || liquidParses(p.body) {
			continue
		}
		if !whole && !liquidParses(r.parts) {
			return // wrong all the same: whoever checks the Liquid says where
		}
		whole = true
		r.report("{{#section "+p.name+"}}", r.sectionLine(i), "holds one end of a Liquid block, and not the other")
	}
}

// sectionLine returns the line on which the section r.parts[i] begins.
func (r *reader) sectionLine(i int) int {
	nth := 0
	for _, p := range r.parts[:i] {
		if p.kind == sectionPart {
			nth++
		}
	}
	for _, span := range links.Spans(r.src) {
		if !span.Output {
			continue
		}
		if kind, _ := placeholder(strings.TrimFunc(r.src[span.Start+2:span.End-2], isLiquidSpace)); kind == "#section" {
			if nth--; nth < 0 {
				return 1 + strings.Count(r.src[:span.Start], "\n")
			}
		}
	}
	return 1
}

// liquidParses reports whether the literals of parts are Liquid by themselves.
func liquidParses(parts []part) bool {
	var b joiner
	for _, p := range parts {
		b.write(p.text)
		for _, q := range p.body {
			b.write(q.text)
		}
	}
	_, err := liquid.Parse(b.String(), liquid.Options{})
	return err == nil
}
