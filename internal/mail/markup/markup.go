// Package markup reads HTML and MJML in which Liquid stands: text, tags with
// their attributes, comments, declarations and elements whose content is text,
// each with its place in the source, in bytes.
//
// It never builds a tree and never prints, so that a caller copies what it does
// not change: conditional comments, templated attributes, entities, white space.
// Tokens lie side by side and cover the source, as a browser would cut it (HTML
// Living Standard, section 13.2.5). Liquid is painted over while tags are looked
// for: an output is taken for digits, a tag for white space, so that quotes and
// angle brackets in them mean nothing.
//
// All of it takes time in proportion to the source.
package markup

import (
	"iter"
	"slices"
	"strings"
)

// Kind tells tokens apart.
type Kind uint8

// The kinds of tokens.
const (
	Text        Kind = iota
	StartTag         // <p …>
	EndTag           // </p>
	Comment          // <!-- … -->, and what browsers take for a comment: <? … >, </ >
	Declaration      // <!doctype …>
	CData            // <![CDATA[ … ]]>, in XML
	Unclosed         // a tag that the source ends in
)

// Token is a piece of a source.
type Token struct {
	Kind       Kind
	Start, End int    // its place, End exclusive
	Name       string // of a tag, in lower case; of a text, the element whose content is text
	Empty      bool   // a start tag ends in />
}

// Syntax says what a source is written in. The zero value is HTML.
type Syntax struct {
	XML bool            // there are CDATA sections, and /> ends an element
	Raw map[string]bool // the elements whose content is text; nil: those of HTML
	// Names says that Liquid just behind < or </ stands for the name of a tag, or
	// for a part of it; otherwise such a < is text.
	Names bool
}

// htmlRaw are the elements of HTML whose content is text.
var htmlRaw = map[string]bool{
	"iframe": true, "noembed": true, "noframes": true, "noscript": true, "plaintext": true, "script": true,
	"style": true, "textarea": true, "title": true, "xmp": true,
}

// Scanner reads the tokens of a source.
type Scanner struct {
	Source string
	Masked string // the source with its Liquid painted over
	Spans  []Span // the Liquid

	syntax   Syntax
	pos, end int
	raw      string // the element that was opened last, if its content is text
}

// New returns a scanner of a source with Liquid.
func New(src string, syntax Syntax) *Scanner {
	s := &Scanner{Source: src, Masked: src, Spans: Spans(src), end: len(src), syntax: syntax}
	if s.syntax.Raw == nil {
		s.syntax.Raw = htmlRaw
	}
	if len(s.Spans) > 0 {
		s.Masked = mask(src, s.Spans)
		if syntax.Names {
			s.Masked = withNames(s.Masked, s.Spans)
		}
	}
	return s
}

// Rendered returns a scanner of HTML in which nothing is Liquid.
func Rendered(src string) *Scanner {
	return &Scanner{Source: src, Masked: src, end: len(src), syntax: Syntax{Raw: htmlRaw}}
}

// withNames paints Liquid behind < and </ as a name. A tag prints nothing, so it
// is one only if a name follows.
func withNames(masked string, spans []Span) string {
	b := []byte(masked)
	named := false // the span that was looked at last, which stands behind this one
	for i, p := range slices.Backward(spans) {
		if named = p.Output || p.End < len(b) && IsLetter(b[p.End]) || named && p.End == spans[i+1].Start; !named {
			continue
		}
		if n := p.Start; n > 0 && b[n-1] == '<' || n > 1 && b[n-1] == '/' && b[n-2] == '<' {
			for i := p.Start; i < p.End; i++ {
				b[i] = 'x'
			}
		}
	}
	return string(b)
}

// Next returns the next token, false at the end of the source.
func (s *Scanner) Next() (Token, bool) {
	if s.pos >= s.end {
		return Token{}, false
	}
	start := s.pos
	if raw := s.raw; raw != "" {
		s.raw = ""
		if s.pos = rawTextEnd(s.Masked[:s.end], start, raw); s.pos > start {
			return Token{Kind: Text, Start: start, End: s.pos, Name: raw}, true
		}
	}
	s.pos = s.textEnd(start)
	t := Token{Kind: Text, Start: start}
	if s.pos == start {
		t = s.construct(start)
	}
	t.End = s.pos
	return t, true
}

// All returns the tokens that are left, in turn.
func (s *Scanner) All() iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for t, ok := s.Next(); ok && yield(t); t, ok = s.Next() {
		}
	}
}

// textEnd returns where the text at from ends: before what begins something else.
func (s *Scanner) textEnd(from int) int {
	m := s.Masked[:s.end]
	for i := from; ; i++ {
		n := strings.IndexByte(m[i:], '<')
		if n < 0 || i+n+1 == len(m) {
			return len(m)
		}
		i += n
		switch c := m[i+1]; {
		case IsLetter(c) || c == '!' || c == '?':
			return i
		case c == '/' && (i > from || i+2 < len(m)):
			return i
		}
	}
}

// construct reads what begins with the < at start, and moves behind it.
func (s *Scanner) construct(start int) Token {
	m := s.Masked[:s.end]
	rest := m[start+1:]
	switch {
	case IsLetter(rest[0]):
		return s.tag(start, start+1, StartTag)
	case rest[0] == '/' && IsLetter(rest[1]):
		return s.tag(start, start+2, EndTag)
	case strings.HasPrefix(rest, "!--"):
		s.pos = commentEnd(m, start+len("<!--"))
	case s.syntax.XML && strings.HasPrefix(rest, "![CDATA["):
		s.pos = behind(m, start+len("<![CDATA["), "]]>")
		return Token{Kind: CData, Start: start}
	default:
		s.pos = behind(m, start+2, ">")
		if len(rest) > len("doctype") && strings.EqualFold(rest[:len("!doctype")], "!doctype") {
			return Token{Kind: Declaration, Start: start}
		}
	}
	return Token{Kind: Comment, Start: start}
}

// tag reads the tag whose name begins at name.
func (s *Scanner) tag(start, name int, kind Kind) Token {
	m := s.Masked[:s.end]
	i := nameEnd(m, name)
	t := Token{Kind: kind, Start: start, Name: lower(m[name:i])}
	valued := 0 // where the last value without quotes ends
	for {
		for i < len(m) && (IsSpace(m[i]) || m[i] == '/') {
			i++
		}
		if i == len(m) {
			s.pos = i
			t.Kind = Unclosed
			return t
		}
		if m[i] == '>' {
			break
		}
		equals := false
		switch i, equals = valueStart(m, attributeNameEnd(m, i, '>')); {
		case !equals || i == len(m):
		case m[i] == '"' || m[i] == '\'':
			i = behind(m, i+1, m[i:i+1])
		default:
			i = unquotedEnd(m, i)
			valued = i
		}
	}
	s.pos = i + 1
	t.Empty = kind == StartTag && m[i-1] == '/' && valued != i
	if kind == StartTag && s.syntax.Raw[t.Name] && !(s.syntax.XML && t.Empty) {
		s.raw = t.Name
	}
	return t
}

// Conditional returns a scanner of the HTML in a comment that hides it from all
// but Outlook: <!--[if …]> … <![endif]-->.
func (s *Scanner) Conditional(t Token) (*Scanner, bool) {
	n := ConditionalStart(s.Masked[t.Start:t.End])
	if n == 0 {
		return nil, false
	}
	inner := *s
	inner.pos, inner.end, inner.raw = t.Start+n, t.End, ""
	return &inner, true
}

// ConditionalStart returns where the HTML of a conditional comment begins in it,
// and 0 for any other comment.
func ConditionalStart(comment string) int {
	inner, ok := strings.CutPrefix(comment, "<!--")
	if !ok {
		return 0
	}
	inner = strings.TrimLeft(inner, " \t\r\n\f")
	end := strings.Index(inner, "]>")
	if end <= 0 || len(inner) <= 3 || !strings.EqualFold(inner[:3], "[if") || strings.Contains(inner[:end], "-->") {
		return 0
	}
	return len(comment) - len(inner) + end + len("]>")
}
