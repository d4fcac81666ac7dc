package binding

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// reader splits one body into parts.
type reader struct {
	src    string
	form   form
	names  *names
	slot   string // the slot that the body is a block for; param refers to its parameters
	places *places
	wrong  []Reference
	reason string // of the first of them

	from    int // the start of the current literal
	line    int // lines before counted
	counted int

	parts   []part
	section *openSection
	nested  int // sections inside the section, which are errors
}

// openSection is the current section.
type openSection struct {
	name   string
	fields map[string]bool // nil: the section is not declared
	token  string
	line   int
	before []part
}

func (r *reader) read() []part {
	r.src = scopeParams(r.src, r.slot)
	r.places = newPlaces(r.src, r.form)
	params(r.src, r.places.Spans, func(_ int, name string) {
		if name == "" {
			r.names.all = true
		}
		use(r.names.params, name)
	})
	for _, span := range r.places.Spans {
		if span.Output {
			r.output(span)
		} else {
			r.tag(span)
		}
	}
	r.literal(len(r.src))
	if s := r.section; s != nil {
		r.report(s.token, s.line, "has no {{/section}}")
		r.endSection()
	}
	r.checkSections()
	return r.parts
}

// output reads an output, which may be a placeholder.
func (r *reader) output(span markup.Span) {
	code := strings.TrimFunc(r.src[span.Start+2:span.End-2], markup.IsLiquidSpace)
	kind, name := placeholder(code)
	if kind == "param" || kind == "item" {
		if bare, filters, ok := strings.Cut(name, "|"); ok {
			r.value(span, kind, strings.TrimFunc(bare, markup.IsLiquidSpace), "{{ ", " |"+filters+" }}")
			return
		}
	}
	switch kind {
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

// tag reads the placeholders in a tag, outside of strings.
func (r *reader) tag(span markup.Span) {
	piece := r.src[span.Start:span.End]
	if isComment(r.src, span) {
		if strings.Contains(piece, "raw") { // a value might contain the end of the raw block
			r.literal(span.Start)
			r.from = span.End
		}
		return
	}
	if !strings.Contains(piece, "{{") {
		return
	}
	for i := 2; i < len(piece); i++ {
		switch c := piece[i]; {
		case c == '"' || c == '\'':
			n := strings.IndexByte(piece[i+1:], c)
			if n < 0 {
				return
			}
			i += n + 1
		case strings.HasPrefix(piece[i:], "{{"):
			n := strings.Index(piece[i:], "}}")
			if n < 0 {
				return
			}
			start := span.Start + i
			i += n + 1
			kind, name := placeholder(strings.TrimFunc(piece[start-span.Start+2:i-1], markup.IsLiquidSpace))
			if kind == "param" || kind == "item" {
				r.value(markup.Span{Start: start, End: span.Start + i + 1}, kind, name, "", "")
			}
		}
	}
}

// value replaces the placeholder at span by a parameter or a field as a value of Liquid.
func (r *reader) value(span markup.Span, kind, name, before, after string) {
	if kind == "param" && !use(r.names.params, name) {
		r.refuse(span, "names no declared parameter")
		return
	}
	if kind == "item" && !r.isField(span, name) {
		return
	}
	r.literal(span.Start)
	r.from = span.End
	if kind == "param" {
		r.parts = append(r.parts, part{text: before + constantName(r.slot) + "." + name + after})
		return
	}
	at, _ := r.places.placeOf(span)
	r.parts = append(r.parts, part{text: before}, part{kind: fieldPart, name: name, place: at, code: true}, part{text: after})
}

// placeholder returns the kind and the name of a placeholder.
func placeholder(code string) (kind, name string) {
	trim := func(s string) string { return strings.TrimFunc(s, markup.IsLiquidSpace) }
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

// literal makes a part of the text before to. Braces just before those of a placeholder are text,
// and stay text after it is replaced.
func (r *reader) literal(to int) {
	if r.from >= to {
		return
	}
	text := r.src[r.from:to]
	if bare := strings.TrimRight(text, "{"); len(bare) < len(text)-1 && to < len(r.src) {
		text = bare + escapeLiquid(text[len(bare):])
	}
	r.parts = append(r.parts, part{text: text})
}

// putPart replaces the placeholder at span by a part.
func (r *reader) putPart(span markup.Span, p part) {
	r.literal(span.Start)
	r.from = span.End
	p.place, p.parent = r.places.placeOf(span)
	r.parts = append(r.parts, p)
}

// refuse reports the placeholder at span.
func (r *reader) refuse(span markup.Span, reason string) {
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

// lineOf returns the line of a position. Positions must be ascending.
func (r *reader) lineOf(at int) int {
	r.line += strings.Count(r.src[r.counted:at], "\n")
	r.counted = at
	return r.line + 1
}

func (r *reader) param(span markup.Span, name string) {
	if !use(r.names.params, name) {
		r.refuse(span, "names no declared parameter")
		return
	}
	r.putPart(span, part{kind: paramPart, name: name})
}

func (r *reader) item(span markup.Span, name string) {
	if r.isField(span, name) {
		r.putPart(span, part{kind: fieldPart, name: name})
	}
}

// isField reports whether the row has that field; if not, it reports the placeholder at span.
func (r *reader) isField(span markup.Span, name string) bool {
	switch {
	case r.form == subjectForm:
		r.refuse(span, "cannot stand in a subject")
	case r.section == nil:
		r.refuse(span, "stands outside of a section")
	case name == rowIndex, name == rowFirst, name == rowLast:
		return true
	case r.section.fields != nil && !use(r.section.fields, name):
		r.refuse(span, fmt.Sprintf("names no field of the section %q", r.section.name))
	default:
		return true
	}
	return false
}

func (r *reader) slotAt(span markup.Span, name string) {
	switch {
	case r.form == subjectForm:
		r.refuse(span, "cannot stand in a subject")
	case r.section != nil:
		r.refuse(span, "cannot stand in a section")
	case !use(r.names.slots, name):
		r.refuse(span, "names no declared slot")
	default:
		r.putPart(span, part{kind: slotPart, name: name})
	}
}

func (r *reader) begin(span markup.Span, name string) {
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
	start, end := r.wholeLine(span)
	r.literal(start)
	r.from = max(r.from, end)
	r.section = &openSection{name: name, fields: fields, token: r.src[span.Start:span.End], line: r.lineOf(span.Start), before: r.parts}
	r.parts = nil
}

func (r *reader) end(span markup.Span, name string) {
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
		start, end := r.wholeLine(span)
		r.literal(start)
		r.from = end
		r.endSection()
	}
}

func (r *reader) endSection() {
	s := r.section
	r.parts = append(s.before, part{kind: sectionPart, name: s.name, line: s.line, body: r.parts})
	r.section = nil
}

// wholeLine returns what is removed with the beginning or end of a section: its whole line, if there is
// nothing else on it.
func (r *reader) wholeLine(span markup.Span) (start, end int) {
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

// checkSections reports sections that contain a part of a Liquid block: repeated or omitted, they
// would break the template.
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
			return // the template is invalid in any case, which the check of its Liquid reports
		}
		whole = true
		r.report("{{#section "+p.name+"}}", p.line, "holds one end of a Liquid block, and not the other")
	}
}

// liquidParses reports whether the literals of parts are valid Liquid by themselves.
func liquidParses(parts []part) bool {
	var b joiner
	for _, p := range parts {
		b.write(p.standIn())
		for _, q := range p.body {
			b.write(q.standIn())
		}
	}
	_, err := liquid.Parse(b.String(), liquid.Options{})
	return err == nil
}

// standIn returns the text of a literal, and a placeholder text for a value in Liquid.
func (p part) standIn() string {
	if p.code {
		return "nil"
	}
	return p.text
}
