package inline

import (
	"slices"
	"strings"

	"packetboat/internal/mail/links"
)

// rule is one rule of a style element.
type rule struct {
	start, end   int // all of it
	prelude      int // where its selectors end
	selectors    []*selector
	declarations []declaration
	conditional  bool // it holds in some media, or for some recipients, only
	hasTags      bool // Liquid tags stand in it
	opaque       bool // it is not understood, and left alone
	named        [2]map[string]bool
}

// declaration is a property and its value.
type declaration struct {
	property   string
	text       string // with its Liquid, without !important
	start, end int
	important  bool
	hasTags    bool
	loose      bool // half of a Liquid mark stands in it, which must not meet the other half
}

// reader reads a style element's text, in which Liquid is painted over.
type reader struct {
	p        *page
	m        string
	pos, end int
}

// rules returns the rules of a style element, those within @media included.
func (p *page) rules(s sheet) []*rule {
	r := &reader{p: p, m: p.masked, pos: s.start, end: s.end}
	var rules []*rule
	groups := 0
	tags := newBranches(p.spansIn(s.start, s.end), p.src)
	for {
		r.skipBlanks()
		if r.pos >= r.end {
			return rules
		}
		if r.m[r.pos] == '}' {
			groups = max(groups-1, 0)
			r.pos++
			continue
		}
		start := r.pos
		stop := r.until("{;}")
		if stop != '{' {
			if stop == ';' {
				r.pos++ // @import and its like, or rubbish
			}
			continue
		}
		if r.m[start] == '@' {
			if isGroup(r.m[start:r.pos]) {
				groups++
				r.pos++
			} else {
				r.skipBlock()
			}
			continue
		}
		rule := &rule{start: start, prelude: r.pos}
		rule.conditional = groups > 0 || s.narrow || tags.inside(start)
		r.body(rule)
		rule.hasTags = tags.any(rule.start, rule.end)
		for _, d := range rule.declarations {
			rule.opaque = rule.opaque || d.loose
		}
		if len(p.spansIn(rule.start, rule.prelude)) > 0 || rule.opaque {
			continue // only the recipient's data can tell what it selects
		}
		rule.selectors = readSelectors(r.m, rule.start, rule.prelude)
		rules = append(rules, rule)
	}
}

// isGroup reports whether an at-rule holds rules that style elements.
func isGroup(prelude string) bool {
	name := prelude[1:]
	for i := range len(name) {
		if !isNameByte(name[i]) {
			name = name[:i]
			break
		}
	}
	switch strings.ToLower(name) {
	case "media", "supports", "layer", "container", "scope", "document", "-moz-document":
		return true
	}
	return false
}

// skipBlanks moves past white space, comments, and the marks that once hid
// styles from old browsers.
func (r *reader) skipBlanks() {
	for r.pos < r.end {
		rest := r.m[r.pos:r.end]
		switch {
		case isSpace(rest[0]) || rest[0] == ';':
			r.pos++
		case strings.HasPrefix(rest, "/*"):
			r.comment()
		case strings.HasPrefix(rest, "<!--"):
			r.pos += len("<!--")
		case strings.HasPrefix(rest, "-->"):
			r.pos += len("-->")
		default:
			return
		}
	}
}

func (r *reader) comment() {
	n := strings.Index(r.m[r.pos+2:r.end], "*/")
	if n < 0 {
		r.pos = r.end
		return
	}
	r.pos += 2 + n + 2
}

// until moves to the first of the stops that is not inside a string, a comment
// or brackets, and returns it; 0 at the end.
func (r *reader) until(stops string) byte {
	depth := 0
	for r.pos < r.end {
		c := r.m[r.pos]
		switch {
		case depth == 0 && strings.IndexByte(stops, c) >= 0:
			return c
		case c == '"' || c == '\'':
			r.text(c)
			continue
		case c == '\\':
			r.pos++
		case c == '/' && strings.HasPrefix(r.m[r.pos:r.end], "/*"):
			r.comment()
			continue
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
		case c == '{' || c == '}':
			return c // brackets do not reach beyond a block
		}
		r.pos++
	}
	r.pos = r.end
	return 0
}

// text moves past a string. A line end ends one that was not closed.
func (r *reader) text(quote byte) {
	for r.pos++; r.pos < r.end; r.pos++ {
		switch r.m[r.pos] {
		case quote:
			r.pos++
			return
		case '\n':
			return
		case '\\':
			r.pos++
		}
	}
	r.pos = min(r.pos, r.end)
}

// skipBlock moves past a block, whatever it holds.
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

// body reads the declarations of a rule, which stand between braces. One that
// holds blocks of its own, or is not closed, is opaque.
func (r *reader) body(out *rule) {
	open := r.pos
	r.pos++
	for {
		r.skipBlanks()
		start := r.pos
		stop := r.until(";{}")
		if stop == '{' || stop == 0 {
			out.opaque = true
			r.pos = open
			r.skipBlock()
			out.end = r.pos
			return
		}
		if d, ok := r.p.declaration(start, r.pos); ok {
			out.declarations = append(out.declarations, d)
		}
		r.pos++
		if stop == '}' {
			out.end = r.pos
			return
		}
	}
}

// declaration reads src[start:end].
func (p *page) declaration(start, end int) (declaration, bool) {
	for end > start && isSpace(p.masked[end-1]) && !p.inTag(end-1) {
		end--
	}
	d := declaration{start: start, end: end}
	colon := strings.IndexByte(p.masked[start:end], ':')
	if colon < 0 {
		return d, false
	}
	d.property = strings.ToLower(strings.TrimSpace(p.masked[start : start+colon]))
	from := start + colon + 1
	for from < end && isSpace(p.masked[from]) && !p.inTag(from) {
		from++
	}
	to := end
	if bang := strings.LastIndexByte(p.masked[from:end], '!'); bang >= 0 &&
		strings.EqualFold(strings.TrimSpace(p.masked[from+bang+1:end]), "important") {
		d.important = true
		to = from + bang
		for to > from && isSpace(p.masked[to-1]) && !p.inTag(to-1) {
			to--
		}
	}
	for _, s := range p.spansIn(start, end) {
		d.hasTags = d.hasTags || !s.Output
	}
	d.text = p.src[from:to]
	if strings.ContainsAny(d.text, "{}%") {
		outside(d.text, links.Spans(d.text), func(piece string) {
			d.loose = d.loose || strings.ContainsAny(piece, "{}") && slices.ContainsFunc([]string{"{{", "{%", "}}", "%}"}, func(mark string) bool { return strings.Contains(piece, mark) })
		}, func(string) {})
	}
	return d, isProperty(d.property) && to > from
}

func isProperty(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return false
		}
	}
	return name != "" && (name[0] < '0' || name[0] > '9')
}

func isNameByte(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
