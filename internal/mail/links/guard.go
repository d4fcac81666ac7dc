package links

import (
	"iter"
	"regexp"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// Guard removes links from rendered HTML whose scheme came from a recipient's data and may be
// dangerous: all schemes except http, https, mailto and tel, and those that the author wrote out for
// the same attribute. It is immutable.
type Guard struct {
	authored map[string]bool // by attribute and scheme, with a space between
}

// NewGuard returns the guard for the output of a template, or nil if the template alone determines
// the scheme of each link. safe reports whether a variable contains only URLs of ours.
func NewGuard(src string, safe func(variable string) bool) *Guard {
	in := markup.New(src, markup.Syntax{})
	g := &Guard{authored: map[string]bool{}}
	open := false // the scheme of some link is not determined
	for _, p := range in.Spans {
		piece := src[p.Start:p.End]
		open = open || rawFilter.MatchString(piece) || p.Output && p.Start > 0 && src[p.Start-1] == '<'
	}
	for t := range tags(in, 0) {
		inValues := 0 // outputs inside attribute values
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

// rawFilter matches an output that is not escaped and may therefore print whole elements.
var rawFilter = regexp.MustCompile(`\|\s*raw\b`)

// capture matches a block at the beginning of a value that sets a variable.
var capture = regexp.MustCompile(`(?s)^\{% capture \w+ %\}.*?\{% endcapture %\}`)

// outputs counts the Liquid outputs from start to end.
func outputs(in *markup.Scanner, start, end int) (n int) {
	for _, p := range in.Within(start, end) {
		if p.Output {
			n++
		}
	}
	return n
}

// settled reports whether the template alone determines the scheme of an attribute's value, and
// stores the scheme.
func (g *Guard) settled(name, value string, safe func(string) bool) bool {
	if m := capture.FindString(value); m != "" { // it prints nothing
		value = value[len(m):]
	}
	spans := markup.Spans(value)
	prefix := value
	if len(spans) > 0 {
		prefix = value[:spans[0].Start]
	}
	scheme, known := schemeIn(markup.UnescapeValue(prefix))
	if scheme != "" {
		g.authored[name+" "+scheme] = true
	}
	if known || len(spans) == 0 {
		return true
	}
	first := value[spans[0].Start:spans[0].End]
	return scheme == "" && strings.TrimSpace(prefix) == "" && spans[0].Output && strings.Count(first, "|") == 0 && safe(markup.FirstWord(markup.Code(first)))
}

// Clean returns rendered HTML without the attributes with forbidden links, and whether there were
// any. It does not change its argument.
func (g *Guard) Clean(rendered []byte) ([]byte, bool) {
	text := string(rendered)
	in := markup.Rendered(text) // text that looks like Liquid is a recipient's data here
	var out []byte
	last := 0
	for t := range tags(in, 0) {
		for a := range in.Attributes(t) {
			if !isURLAttribute(a.Name) || g.allows(a.Name, markup.UnescapeValue(text[a.Start:a.End])) || a.Before < last {
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

// schemeIn returns the part of a URL before the first colon, unless a slash, question mark or number
// sign comes first: then the URL has no scheme. known means that text appended to the URL cannot
// change the result. It accepts more than browsers do: they ignore some white space and control
// characters, and mail programs have ignored others, so all of them are skipped.
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

// isURLAttribute reports whether an attribute of some element is a URL that mail programs or
// browsers open.
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
