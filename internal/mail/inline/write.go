package inline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// change replaces src[start:end].
type change struct {
	start, end int
	text       string
}

// edited returns the document with the changes made.
func (p *page) edited() string {
	slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	last := 0
	for _, c := range p.changes {
		if c.start < last {
			continue // inside something that was removed
		}
		b.WriteString(p.Source[last:c.start])
		b.WriteString(c.text)
		last = c.end
	}
	b.WriteString(p.Source[last:])
	return b.String()
}

// writeAttributes stores the changes of the style attributes. styles are those of the tags, by number.
func (p *page) writeAttributes(styles map[int][]value) error {
	room := maxBytes
	for i := range p.tags {
		if t := &p.tags[i]; len(styles[i])+len(p.raised[i]) > 0 && !t.liquidAttributes {
			room -= len(` style=""`)
			for _, v := range styles[i] {
				room -= v.size
			}
			if room < 0 {
				return fmt.Errorf("%w: it would make the document 5 MB larger; use fewer rules or shorter ones, or turn inline_css off", ErrLimit)
			}
			p.writeAttribute(t, styles[i], p.raised[i])
		}
	}
	return nil
}

// writeAttribute stores the change of one start tag. The author's declarations replace inlined ones.
// Important declarations come last, without !important unless raised says so: with it, rules for some media
// could not override them any more.
func (p *page) writeAttribute(t *tag, style []value, raised map[string]bool) {
	quote, authored := byte('"'), ""
	own := p.own(t) // whether it is important
	if a := t.style; a != nil {
		authored = strings.TrimRight(p.authored(*a, raised), "; \t\r\n\f")
		if a.Quote != 0 {
			quote = a.Quote
		} else {
			authored = markup.Outside(authored, func(s string) string { return strings.ReplaceAll(s, `"`, "&quot;") })
		}
	}
	var before, after []string
	for _, v := range style {
		if important, found := own[v.property]; found && (important || !v.important) || p.isLeft(v.by.rule, v.property) {
			continue
		}
		for _, text := range v.texts {
			if raised[v.property] {
				text += " !important"
			}
			if d := v.property + ":" + attributeText(text, quote); v.important {
				after = append(after, d)
			} else {
				before = append(before, d)
			}
		}
	}
	if len(before)+len(after)+len(raised) == 0 {
		return
	}
	if strings.TrimSpace(authored) != "" {
		before = append(before, authored)
	}
	text := strings.Join(append(before, after...), ";")
	switch a := t.style; {
	case a == nil:
		p.changes = append(p.changes, change{t.nameEnd, t.nameEnd, ` style="` + text + `"`})
	case a.Quote != 0:
		p.changes = append(p.changes, change{a.Start, a.End, text})
	case a.Valued:
		p.changes = append(p.changes, change{a.Start, a.End, `"` + text + `"`})
	default:
		p.changes = append(p.changes, change{a.Start, a.End, `="` + text + `"`})
	}
}

// authored returns the text of a style attribute, with the declarations important that are raised.
func (p *page) authored(a markup.Attribute, raised map[string]bool) string {
	if len(raised) == 0 || p.hasTags(a.Start, a.End) {
		return p.Source[a.Start:a.End]
	}
	var b strings.Builder
	last := a.Start
	for _, d := range p.declarations(a.Start, a.End) {
		if raised[d.property] && !d.important {
			b.WriteString(p.Source[last:d.end] + " !important")
			last = d.end
		}
	}
	return b.String() + p.Source[last:a.End]
}

// attributeText returns a value for an attribute in the given quotes, with its Liquid. It exchanges quotes
// where possible, since some mail programs do not decode entities in styles.
func attributeText(text string, quote byte) string {
	if !strings.ContainsAny(text, "&<>\"'\r\n") {
		return text
	}
	other, entity := "'", "&quot;"
	if quote == '\'' {
		other, entity = `"`, "&#39;"
	}
	if !strings.Contains(text, other) {
		entity = other
	}
	r := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", " ", "\n", " ", string(quote), entity)
	return markup.Outside(text, r.Replace)
}

// interactive matches selectors that depend on interaction.
var interactive = regexp.MustCompile(`(?i):(hover|active|focus|checked|target)`)

// writeSheet stores the changes of a style element: rules that were inlined everywhere are removed, those
// that must override the attributes become important, and an empty element is removed.
func (p *page) writeSheet(s *sheet) {
	left, empty := s.start, true
	for _, r := range s.rules {
		var normal, important, rest []string
		for _, s := range r.selectors {
			switch text := p.Source[s.start:s.end]; {
			case s.matched && !s.neededByOthers:
				rest = append(rest, text)
			case r.conditional || interactive.MatchString(text):
				important = append(important, text)
			default:
				normal = append(normal, text)
			}
		}
		stays := p.leftBlock(r)
		empty = empty && p.isBlank(left, r.start) && len(normal)+len(important) == 0 && (len(rest) == 0 || stays == "")
		left = r.end
		if len(normal) == len(r.selectors) {
			continue
		}
		var kept []string
		for _, list := range [][]string{normal, important} {
			block := p.Source[r.prelude:r.end]
			if len(normal) == 0 || len(kept) > 0 {
				block = p.important(r)
			}
			switch len(list) {
			case 0:
			case len(r.selectors):
				kept = append(kept, p.Source[r.start:r.prelude]+block)
			default:
				kept = append(kept, strings.Join(list, ", ")+" "+block)
			}
		}
		if len(rest) > 0 && stays != "" {
			kept = append([]string{strings.Join(rest, ", ") + stays}, kept...)
		}
		start := r.start
		if len(kept) == 0 {
			start = s.start + len(strings.TrimRight(p.Source[s.start:start], " \t")) // including its line
			if start > s.start && p.Source[start-1] == '\n' {
				start--
			}
		}
		p.changes = append(p.changes, change{start, r.end, strings.Join(kept, "\n")})
	}
	if empty && p.isBlank(left, s.end) {
		p.changes = append(p.changes, change{s.open, s.close, ""})
	}
}

// leftBlock returns the block of an inlined rule with the declarations that are not inlined, or nothing.
func (p *page) leftBlock(r *rule) string {
	var kept []string
	for _, d := range r.declarations {
		if !p.isLeft(r, d.property) {
			continue
		}
		text := d.property + ":" + d.text
		if d.important {
			text += " !important"
		}
		kept = append(kept, text)
	}
	if len(kept) == 0 {
		return ""
	}
	return "{" + strings.Join(kept, ";") + "}"
}

// important returns the block of a rule with the declarations important that become so.
func (p *page) important(r *rule) string {
	var b strings.Builder
	last := r.prelude
	for i, d := range r.declarations {
		if !d.important && r.promoted[i] {
			b.WriteString(p.Source[last:d.end] + " !important")
			last = d.end
		}
	}
	return b.String() + p.Source[last:r.end]
}

// isBlank reports whether src[start:end] contains only white space and comments.
func (p *page) isBlank(start, end int) bool {
	r := &reader{p: p, m: p.Source, pos: start, end: end}
	r.skipBlanks()
	return r.pos >= end
}
