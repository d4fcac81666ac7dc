package links

import (
	"html"
	"iter"
	"regexp"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/mail/markup"
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
	in := markup.New(src, markup.Syntax{})
	g := &Guard{authored: map[string]bool{}}
	open := false // the scheme of some link is not known
	for _, p := range in.Spans {
		piece := src[p.Start:p.End]
		open = open || rawFilter.MatchString(piece) || p.Output && p.Start > 0 && src[p.Start-1] == '<'
	}
	for t := range tags(in, 0) {
		inValues := 0 // outputs that stand in values
		for a := range in.Attributes(t) {
			inValues += outputs(in, a.Start, a.End)
			if isURLAttribute(a.Name) && !g.settled(a.Name, src[a.Start:a.End], safe) {
				open = true
			}
		}
		open = open || outputs(in, t.Start, t.End) > inValues
	}
	if !open {
		return nil
	}
	return g
}

// rawFilter finds an output that is not escaped, which may print whole elements.
var rawFilter = regexp.MustCompile(`\|\s*raw\b`)

// outputs counts the Liquid outputs from start to end.
func outputs(in *markup.Scanner, start, end int) (n int) {
	for _, p := range in.Within(start, end) {
		if p.Output {
			n++
		}
	}
	return n
}

// settled reports whether the template alone decides the scheme of an attribute's
// value, and notes the scheme.
func (g *Guard) settled(name, value string, safe func(string) bool) bool {
	spans := markup.Spans(value)
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
	return scheme == "" && strings.TrimSpace(prefix) == "" && spans[0].Output && strings.Count(first, "|") == 0 && safe(markup.FirstWord(markup.Code(first)))
}

// Clean returns rendered HTML without the attributes that lead where no link may,
// and whether there were any. The HTML given stays as it is.
func (g *Guard) Clean(rendered []byte) ([]byte, bool) {
	text := string(rendered)
	in := markup.Rendered(text) // what looks like Liquid now is a recipient's text
	var out []byte
	last := 0
	for t := range tags(in, 0) {
		for a := range in.Attributes(t) {
			if !isURLAttribute(a.Name) || g.allows(a.Name, html.UnescapeString(text[a.Start:a.End])) || a.Before < last {
				continue
			}
			out = append(out, text[last:a.Before]...)
			out = append(out, ' ')
			last = a.After
		}
	}
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

// tags returns the start tags, also those in conditional comments.
func tags(in *markup.Scanner, depth int) iter.Seq[markup.Token] {
	return func(yield func(markup.Token) bool) {
		for t := range in.All() {
			switch t.Kind {
			case markup.StartTag:
				if !yield(t) {
					return
				}
			case markup.Comment:
				inner, ok := in.Conditional(t)
				if !ok || depth == maxNesting {
					continue
				}
				for t := range tags(inner, depth+1) {
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}
