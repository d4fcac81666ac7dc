package links

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	tokens "golang.org/x/net/html"
)

// Guard takes links out of rendered HTML whose scheme came from a recipient's
// data and may harm: every scheme but http, https, mailto and tel, and those that
// the author wrote out for the same attribute. It is immutable.
type Guard struct {
	authored map[string]bool // by attribute and scheme, with a space between
}

// NewGuard returns the guard of what a template renders to, or nil when the
// template alone says where each link leads. Safe says of a variable that it
// prints only URLs of ours.
func NewGuard(src string, safe func(variable string) bool) *Guard {
	s := newScan(src, nil)
	g := &Guard{authored: map[string]bool{}}
	open := false // the scheme of some link is not known
	for _, p := range s.spans {
		piece := src[p.Start:p.End]
		open = open || rawFilter.MatchString(piece) || p.Output && p.Start > 0 && src[p.Start-1] == '<'
	}
	s.tags(0, len(src), 0, func(start, end int) {
		inValues := 0 // outputs that stand in values
		s.attributes(start, end, func(a attribute) {
			inValues += s.outputs(a.start, a.end)
			if isURLAttribute(a.name) && !g.settled(a.name, src[a.start:a.end], safe) {
				open = true
			}
		})
		open = open || s.outputs(start, end) > inValues
	})
	if !open {
		return nil
	}
	return g
}

// rawFilter finds an output that is not escaped, which may print whole elements.
var rawFilter = regexp.MustCompile(`\|\s*raw\b`)

// outputs counts the Liquid outputs in src[start:end].
func (s *scan) outputs(start, end int) (n int) {
	at, _ := slices.BinarySearchFunc(s.spans, start, func(p Span, i int) int { return p.Start - i })
	for ; at < len(s.spans) && s.spans[at].Start < end; at++ {
		if s.spans[at].Output {
			n++
		}
	}
	return n
}

// settled reports whether the template alone decides the scheme of an attribute's
// value, and notes the scheme.
func (g *Guard) settled(name, value string, safe func(string) bool) bool {
	spans := Spans(value)
	prefix := value
	if len(spans) > 0 {
		prefix = value[:spans[0].Start]
	}
	scheme, known := schemeIn(html.UnescapeString(prefix))
	if scheme != "" {
		g.authored[name+" "+scheme] = true
	}
	if known || len(spans) == 0 {
		return true
	}
	first := value[spans[0].Start:spans[0].End]
	return scheme == "" && strings.TrimSpace(prefix) == "" && spans[0].Output && strings.Count(first, "|") == 0 && safe(firstWord(first[2:len(first)-2]))
}

// Clean returns rendered HTML without the attributes that lead where no link may,
// and whether there were any. The HTML given stays as it is.
func (g *Guard) Clean(rendered []byte) ([]byte, bool) {
	text := string(rendered)
	s := &scan{src: text, masked: text, open: -1} // what looks like Liquid now is a recipient's text
	var out []byte
	last := 0
	s.tags(0, len(text), 0, func(start, end int) {
		s.attributes(start, end, func(a attribute) {
			if !isURLAttribute(a.name) || g.allows(a.name, html.UnescapeString(text[a.start:a.end])) || a.before < last {
				return
			}
			out = append(out, text[last:a.before]...)
			out = append(out, ' ')
			last = a.after
		})
	})
	if last == 0 {
		return rendered, false
	}
	return append(out, text[last:]...), true
}

func (g *Guard) allows(attribute, url string) bool {
	switch scheme, _ := schemeIn(url); scheme {
	case "", "http", "https", "mailto", "tel":
		return true
	case "javascript", "vbscript":
		return false
	default:
		return g.authored[attribute+" "+scheme]
	}
}

// schemeIn returns what stands before the first colon of a URL, unless a slash,
// question mark or number sign comes first: then the URL has no scheme. Known says
// that nothing that follows can change this. It is wider than what browsers take
// for a scheme: they drop some white space and control characters, and mail
// programs have dropped others, so all of them are left out.
func schemeIn(url string) (scheme string, known bool) {
	i := strings.IndexAny(url, ":/?#")
	if i < 0 {
		return "", false
	}
	if url[i] != ':' {
		return "", true
	}
	scheme = strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, url[:i]))
	if scheme == "" { // a colon comes first
		scheme = ":"
	}
	return scheme, true
}

// isURLAttribute reports whether an attribute of some element names a place that
// mail programs and browsers go to.
func isURLAttribute(name string) bool {
	switch name {
	case "href", "xlink:href", "src", "action", "formaction", "background", "data", "poster", "cite", "longdesc", "ping", "lowsrc", "dynsrc", "codebase", "manifest":
		return true
	}
	return false
}

// tags calls f for each start tag of src[from:to], also for those in conditional
// comments.
func (s *scan) tags(from, to, depth int, f func(start, end int)) {
	z := tokens.NewTokenizer(strings.NewReader(s.masked[from:to]))
	pos := from
	for {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return
		}
		start, end := pos, pos+len(z.Raw())
		pos = end
		switch kind {
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			f(start, end)
		case tokens.CommentToken:
			if depth < maxNesting && isConditional(s.masked[start:end]) {
				s.tags(start+strings.Index(s.masked[start:end], "]>")+2, end, depth+1, f)
			}
		}
	}
}
