package inline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// rule is one rule of a style element.
type rule struct {
	start, end   int // all of it
	prelude      int // the end of its selectors
	selectors    []*selector
	declarations []declaration
	values       []value
	conditional  bool   // it applies only to some media or some recipients
	order        int    // its number in the document
	promoted     []bool // which declarations become important, if it stays
}

// declaration is a property and its value.
type declaration struct {
	property  string
	text      string // with its Liquid, without !important
	end       int
	important bool
}

// value is the declarations of one property in a rule: one or several, since authors write fallbacks.
type value struct {
	property  string
	texts     []string
	important bool
	size      int       // of all declarations, in bytes
	by        *selector // that won, of a cascaded value
}

// reader reads CSS whose Liquid is masked.
type reader struct {
	p        *page
	m        string
	pos, end int
}

// readRules reads the rules of a style element, those within @media included.
func (p *page) readRules(s *sheet) error {
	r := &reader{p: p, m: p.Masked, pos: s.start, end: s.end}
	tags := slices.DeleteFunc(slices.Clone(p.Within(s.start, s.end)), func(s markup.Span) bool { return s.Output })
	between := func(at int) bool { return len(tags) > 0 && tags[0].Start < at && at < tags[len(tags)-1].Start }
	groups := 0
	for {
		r.skipBlanks()
		if r.pos >= r.end {
			return nil
		}
		if r.m[r.pos] == '}' {
			groups = max(groups-1, 0)
			r.pos++
			continue
		}
		start := r.pos
		stop := r.until("{;}")
		switch {
		case stop == ';':
			r.pos++ // @import and the like, or invalid text
		case stop == '}' || stop == 0:
		case r.m[start] != '@':
			rule := &rule{start: start, prelude: r.pos, conditional: groups > 0 || s.mediaSpecific || between(start)}
			// The meaning of a selector with Liquid depends on the recipient's data, and halves must not
			// be moved, since the other half might follow them there.
			if r.body(rule) && len(p.Within(rule.start, rule.prelude)) == 0 && !p.hasTags(rule.prelude, rule.end) &&
				!halves.MatchString(r.m[rule.start:rule.end-1]) {
				if p.selectors += 1 + strings.Count(r.m[rule.start:rule.prelude], ","); p.selectors > maxSelectors {
					return fmt.Errorf("%w: there are more than %d selectors; remove unused rules, or turn inline_css off", ErrLimit, maxSelectors)
				}
				rule.readSelectors(r.m)
				rule.readValues()
				s.rules = append(s.rules, rule)
			}
		case group.MatchString(r.m[start:r.pos]):
			groups++
			r.pos++
		default:
			r.skipBlock()
		}
	}
}

// group matches an at-rule that contains style rules.
var group = regexp.MustCompile(`(?i)^@(media|supports|layer|container|scope|(-moz-)?document)\b`)

// halves matches marks of Liquid without their counterparts, and what may become the end of the style
// element.
var halves = regexp.MustCompile(`\{[{%]|[%}]\}|</`)

var (
	// blanks are white space, comments, and the marks that hid styles from old browsers.
	blanks = regexp.MustCompile(`^(?:[\s;]|<!--|-->|/\*(?s:.*?)(?:\*/|$))+`)
	// opaque are comments and strings. A line end ends a string that is not closed.
	opaque = regexp.MustCompile(`^(?s:/\*.*?(?:\*/|$)|"(?:[^"\\\n]|\\.)*(?:["\n]|\\?$)|'(?:[^'\\\n]|\\.)*(?:['\n]|\\?$))`)
)

func (r *reader) skipBlanks() { r.pos += len(blanks.FindString(r.m[r.pos:r.end])) }

// until moves to the first of the stops outside strings, comments and brackets, and returns it; 0 at the
// end.
func (r *reader) until(stops string) byte {
	depth := 0
	for r.pos < r.end {
		c := r.m[r.pos]
		switch {
		case depth == 0 && strings.IndexByte(stops, c) >= 0:
			return c
		case c == '"' || c == '\'' || c == '/':
			if n := len(opaque.FindString(r.m[r.pos:r.end])); n > 0 {
				r.pos += n
				continue
			}
		case c == '\\':
			r.pos++
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
		case c == '{' || c == '}':
			return c // brackets end with their block
		}
		r.pos++
	}
	r.pos = r.end
	return 0
}

// skipBlock moves past a block without reading it.
func (r *reader) skipBlock() {
	for depth := 0; r.pos < r.end; {
		switch r.until("{}") {
		case '{':
			depth++
		case '}':
			depth--
		default:
			return
		}
		r.pos++
		if depth <= 0 {
			return
		}
	}
}

// body reads the declarations of a rule, in braces. It returns false if they contain blocks or are not
// closed.
func (r *reader) body(out *rule) bool {
	open := r.pos
	r.pos++
	for {
		r.skipBlanks()
		start := r.pos
		stop := r.until(";{}")
		if stop == '{' || stop == 0 {
			r.pos = open
			r.skipBlock()
			return false
		}
		if d, ok := r.p.declaration(start, r.pos); ok {
			out.declarations = append(out.declarations, d)
		}
		r.pos++
		if stop == '}' {
			out.end = r.pos
			return true
		}
	}
}

// readValues collects the declarations of each property, in the order of the last ones.
func (r *rule) readValues() {
	type key struct {
		property  string
		important bool
	}
	at := map[key]int{}
	for _, d := range slices.Backward(r.declarations) {
		k := key{d.property, d.important}
		i, found := at[k]
		if !found {
			i = len(r.values)
			at[k] = i
			r.values = append(r.values, value{property: d.property, important: d.important})
		}
		r.values[i].texts = append(r.values[i].texts, d.text)
		r.values[i].size += len(d.property) + len(d.text) + 2
	}
	slices.Reverse(r.values)
	for _, v := range r.values {
		slices.Reverse(v.texts)
	}
}

// declarations parses a style attribute.
func (p *page) declarations(start, end int) []declaration {
	var list []declaration
	r := &reader{p: p, m: p.Masked, pos: start, end: end}
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

// property matches a name of CSS. Names for old browsers (*zoom) do not match.
var property = regexp.MustCompile(`^[-a-z_][-a-z0-9_]*$`)

// declaration parses src[start:end].
func (p *page) declaration(start, end int) (declaration, bool) {
	end = start + len(trimRight(p.Masked[start:end]))
	d := declaration{end: end}
	name, value, found := strings.Cut(p.Masked[start:end], ":")
	if !found {
		return d, false
	}
	d.property = strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndexByte(value, '!'); i >= 0 && strings.EqualFold(strings.TrimSpace(value[i+1:]), "important") {
		d.important = true
		value = trimRight(value[:i])
	}
	from := start + len(name) + 1
	d.text = strings.TrimSpace(p.Source[from : from+len(value)])
	return d, property.MatchString(d.property) && d.text != ""
}

func trimRight(s string) string { return strings.TrimRight(s, " \t\r\n\f") }
