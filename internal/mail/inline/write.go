package inline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"packetboat/internal/mail/links"
)

// writeAttributes notes what becomes of the style attributes.
func (p *page) writeAttributes() error {
	room := maxBytes
	for i := range p.elements {
		e := &p.elements[i]
		if len(e.matched) == 0 {
			continue
		}
		slices.SortFunc(e.matched, func(a, b *selector) int {
			return cmp.Or(slices.Compare(a.weight[:], b.weight[:]), cmp.Compare(a.order, b.order))
		})
		if room -= p.writeAttribute(e); room < 0 {
			return fmt.Errorf("%w: it would make the document 5 MB larger; use fewer rules or shorter ones, or turn inline_css off", ErrLimit)
		}
	}
	return nil
}

// writeAttribute notes the change of one start tag and returns how many bytes it
// adds at most.
func (p *page) writeAttribute(e *element) int {
	var old *attribute
	for i := range e.attributes {
		if e.attributes[i].name == "style" {
			old = &e.attributes[i]
			break
		}
	}
	authored := ""
	var own []declaration
	if old != nil {
		authored = strings.TrimRight(p.src[old.start:old.end], "; \t\r\n\f")
		own = p.declarations(old.start, old.end)
		if old.quote == 0 && strings.IndexByte(authored, '"') >= 0 {
			var b strings.Builder
			outside(authored, links.Spans(authored), func(piece string) { b.WriteString(strings.ReplaceAll(piece, `"`, "&quot;")) },
				func(liquid string) { b.WriteString(liquid) })
			authored = b.String()
		}
	}
	normal, important := cascade(e.matched)
	normal = without(normal, named(own, func(d declaration) bool { return !d.hasTags }))
	important = without(important, named(own, func(d declaration) bool { return d.important && !d.hasTags }))
	quote := byte('"')
	if old != nil && old.quote != 0 {
		quote = old.quote
	}
	parts := make([]string, 0, len(normal)+len(important)+1)
	for _, d := range normal {
		parts = append(parts, d.property+":"+attributeText(d.text, quote))
	}
	if strings.TrimSpace(authored) != "" {
		parts = append(parts, authored)
	}
	for _, d := range important {
		parts = append(parts, d.property+":"+attributeText(d.text, quote))
	}
	style := strings.Join(parts, ";")
	switch {
	case len(normal)+len(important) == 0:
		return 0
	case old == nil:
		at := e.start + 1 + len(e.name)
		p.changes = append(p.changes, change{at, at, ` style="` + style + `"`})
	case old.quote != 0:
		p.changes = append(p.changes, change{old.start, old.end, style})
	case old.hasValue:
		p.changes = append(p.changes, change{old.start, old.end, `"` + style + `"`})
	default:
		p.changes = append(p.changes, change{old.start, old.end, `="` + style + `"`})
	}
	return len(style) - len(authored) + len(` style=""`)
}

// cascade returns the declarations of selectors that are in the order of their
// weight. A later rule replaces what an earlier one says of a property; within
// one rule all stand, for authors write down fallbacks.
func cascade(matched []*selector) (normal, important []declaration) {
	add := func(list []declaration, s *selector, important bool) []declaration {
		if len(list) > 0 {
			list = without(list, s.rule.sets(important))
		}
		for _, d := range s.rule.declarations {
			if d.important == important {
				list = append(list, d)
			}
		}
		return list
	}
	var last *rule
	for _, s := range matched {
		if s.rule == last {
			continue // two selectors of one rule
		}
		last = s.rule
		normal, important = add(normal, s, false), add(important, s, true)
	}
	return normal, important
}

// sets returns the properties that a rule sets, importantly or not.
func (r *rule) sets(important bool) map[string]bool {
	at := 0
	if important {
		at = 1
	}
	if r.named[at] == nil {
		r.named[at] = named(r.declarations, func(d declaration) bool { return d.important == important })
	}
	return r.named[at]
}

// named returns the properties of the declarations that are such.
func named(list []declaration, such func(declaration) bool) map[string]bool {
	names := make(map[string]bool, len(list))
	for _, d := range list {
		if such(d) {
			names[d.property] = true
		}
	}
	return names
}

// without removes the declarations of these properties.
func without(list []declaration, names map[string]bool) []declaration {
	return slices.DeleteFunc(list, func(d declaration) bool { return names[d.property] })
}

// declarations reads what a style attribute holds.
func (p *page) declarations(start, end int) []declaration {
	var list []declaration
	r := &reader{p: p, m: p.masked, pos: start, end: end}
	for r.pos < r.end {
		from := r.pos
		stop := r.until(";{}")
		if d, ok := p.declaration(from, r.pos); ok {
			list = append(list, d)
		}
		if stop != 0 {
			r.pos++
		}
	}
	return list
}

// attributeText returns a value for an attribute in such quotes, with its Liquid
// as it was. Quotes are exchanged where they can be, for some mail programs do
// not decode entities in styles.
func attributeText(text string, quote byte) string {
	if !strings.ContainsAny(text, "&<>\"'\r\n") {
		return text
	}
	other := byte('"' + '\'' - quote)
	var b strings.Builder
	spans := links.Spans(text)
	swap := true
	outside(text, spans, func(piece string) { swap = swap && strings.IndexByte(piece, other) < 0 }, func(string) {})
	outside(text, spans, func(piece string) {
		for i := range len(piece) {
			switch c := piece[i]; {
			case c == '&':
				b.WriteString("&amp;")
			case c == '<':
				b.WriteString("&lt;")
			case c == '>':
				b.WriteString("&gt;")
			case c == '\r' || c == '\n':
				b.WriteByte(' ')
			case c == quote && swap:
				b.WriteByte(other)
			case c == '"' && c == quote:
				b.WriteString("&quot;")
			case c == quote:
				b.WriteString("&#39;")
			default:
				b.WriteByte(c)
			}
		}
	}, func(liquid string) { b.WriteString(liquid) })
	return b.String()
}

// outside gives the pieces of a text and its Liquid to f and g in turn.
func outside(text string, spans []links.Span, f, g func(string)) {
	last := 0
	for _, s := range spans {
		f(text[last:s.Start])
		g(text[s.Start:s.End])
		last = s.End
	}
	f(text[last:])
}

// writeSheet notes what becomes of a style element: rules that were inlined
// everywhere go, those that must beat the attributes become important, and the
// element goes when nothing is left in it.
func (p *page) writeSheet(s sheet, rules []*rule) {
	left := s.start
	empty := true
	for _, r := range rules {
		if r.start < s.start || r.end > s.end {
			continue
		}
		empty = empty && p.isBlank(left, r.start)
		left = r.end
		calm, pressing := p.kept(r)
		switch {
		case len(calm)+len(pressing) == 0:
			p.changes = append(p.changes, change{p.lineStart(s.start, r.start), r.end, ""})
			continue
		case len(calm) == 0:
			p.press(r)
		case len(pressing) > 0:
			p.changes = append(p.changes, change{r.end, r.end, p.pressed(r, pressing)})
			pressing = nil
		}
		empty = false
		if kept := append(calm, pressing...); len(kept) < len(r.selectors) {
			p.changes = append(p.changes, change{r.start, r.prelude, strings.Join(kept, ", ") + " "})
		}
	}
	if empty && p.isBlank(left, s.end) {
		p.changes = append(p.changes, change{s.open, s.close, ""})
	}
}

// kept returns the selectors of a rule that stay, those apart that must beat the
// attributes.
func (p *page) kept(r *rule) (calm, pressing []string) {
	for _, s := range r.selectors {
		text := p.src[s.start:s.end]
		switch {
		case p.done(s):
		case r.conditional || r.hasTags || s.state == pressed:
			pressing = append(pressing, text)
		default:
			calm = append(calm, text)
		}
	}
	return calm, pressing
}

// press makes the declarations of a rule important.
func (p *page) press(r *rule) {
	for _, d := range r.declarations {
		if !d.important && !d.hasTags {
			p.changes = append(p.changes, change{d.end, d.end, " !important"})
		}
	}
}

// pressed returns a rule that says importantly what r says.
func (p *page) pressed(r *rule, selectors []string) string {
	var b strings.Builder
	b.WriteString("\n" + strings.Join(selectors, ", ") + " {")
	for _, d := range r.declarations {
		b.WriteString(" " + d.property + ": " + d.text + " !important;")
	}
	return b.String() + " }"
}

// done reports whether a selector's declarations are in every attribute where
// they are needed.
func (p *page) done(s *selector) bool {
	if s.rule == nil || !s.matched {
		return false
	}
	last := &s.parts[len(s.parts)-1]
	if p.anyClass && (len(last.classes) > 0 || last.id != "" || len(last.tests) > 0) {
		return false
	}
	switch {
	case len(last.classes) > 0:
		return slices.ContainsFunc(last.classes, func(c string) bool { return !p.elsewhere["."+c] })
	case last.id != "":
		return !p.elsewhere["#"+last.id]
	case last.name != "":
		return !p.elsewhere[last.name]
	}
	return len(p.elsewhere) == 0
}

// isBlank reports whether src[start:end] holds nothing but white space and
// comments.
func (p *page) isBlank(start, end int) bool {
	r := &reader{p: p, m: p.src, pos: start, end: end}
	r.skipBlanks()
	return r.pos >= end
}

// lineStart returns where the white space before a place begins, but not before
// from, and one line end of it stays.
func (p *page) lineStart(from, at int) int {
	for at > from && (p.masked[at-1] == ' ' || p.masked[at-1] == '\t') && !p.inTag(at-1) {
		at--
	}
	if at > from && p.masked[at-1] == '\n' {
		at--
	}
	return at
}
