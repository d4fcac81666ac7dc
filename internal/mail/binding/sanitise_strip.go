package binding

import (
	"strings"

	tokens "golang.org/x/net/html"
)

// stripped returns the text of HTML, with its Liquid: in lines as the HTML has them and with the
// addresses of its links or, for a header or an attribute, in one line without them.
func stripped(text string, lines bool) string {
	if !strings.ContainsAny(text, "<&") {
		return mapOutsideLiquid(text, clean)
	}
	m := newMask(clean(text))
	out := m.restored(escapeLiquid(m.strip(lines)), false)
	if checkLiquid(RawHTML, out) != "" { // a part of a block was removed with an element without text
		m.dropTags()
		out = m.restored(escapeLiquid(m.strip(lines)), false)
	}
	return out
}

// gap is the separator between two pieces of text.
type gap uint8

const (
	noGap gap = iota
	spaceGap
	lineGap
	paragraphGap
)

// stripper writes the text of HTML.
type stripper struct {
	out   strings.Builder
	lines bool
	gap   gap // before the next piece of text

	pre  int
	link struct {
		href string
		at   int // the start of the link's text
	}
}

func (m *mask) strip(lines bool) string {
	s := stripper{lines: lines}
	z := tokens.NewTokenizer(strings.NewReader(m.text))
	hidden := "" // the current element whose content is not text
	for {
		switch kind := z.Next(); kind {
		case tokens.ErrorToken:
			return s.out.String()
		case tokens.TextToken:
			if hidden == "" {
				s.text(clean(newlines.Replace(tokens.UnescapeString(string(z.Raw())))))
			}
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			t := z.Token()
			if textElements[t.Data] && t.Data != "textarea" && kind == tokens.StartTagToken && hidden == "" {
				hidden = t.Data
			}
			if hidden == "" {
				s.start(t)
			}
		case tokens.EndTagToken:
			name, _ := z.TagName()
			if string(name) == hidden {
				hidden = ""
			}
			if hidden == "" {
				s.end(string(name))
			}
		}
	}
}

func (s *stripper) part(g gap) {
	if !s.lines {
		g = spaceGap
	}
	s.gap = max(s.gap, g)
}

// write writes a non-empty text after the pending gap.
func (s *stripper) write(text string) {
	if s.out.Len() > 0 {
		s.out.WriteString([]string{noGap: "", spaceGap: " ", lineGap: "\n", paragraphGap: "\n\n"}[s.gap])
	}
	s.gap = noGap
	s.out.WriteString(text)
}

func (s *stripper) text(text string) {
	if s.pre > 0 && s.lines {
		if text != "" {
			s.write(text)
		}
		return
	}
	for text != "" {
		n := strings.IndexAny(text, " \t\r\n\f")
		if n == 0 {
			s.part(spaceGap)
			text = strings.TrimLeft(text, " \t\r\n\f")
			continue
		}
		if n < 0 {
			n = len(text)
		}
		s.write(text[:n])
		text = text[n:]
	}
}

func (s *stripper) start(t tokens.Token) {
	s.block(t.Data)
	switch t.Data {
	case "br":
		if s.lines && s.gap == lineGap {
			s.gap = paragraphGap
		}
		s.part(lineGap)
	case "li":
		if s.lines {
			s.write("-")
			s.gap = spaceGap
		}
	case "td", "th":
		s.part(spaceGap)
	case "img":
		s.text(attribute(t, "alt"))
	case "pre":
		s.pre++
	case "a":
		s.link.href, s.link.at = attribute(t, "href"), s.out.Len()
	}
}

func (s *stripper) end(name string) {
	s.block(name)
	switch name {
	case "pre":
		s.pre = max(s.pre-1, 0)
	case "a":
		href := s.link.href
		s.link.href = ""
		if s.lines && href != "" && href[0] != '#' && strings.TrimSpace(s.out.String()[s.link.at:]) != href {
			s.part(spaceGap)
			s.write("(" + href + ")")
		}
	}
}

// block ends the line at the start or end of a block.
func (s *stripper) block(name string) {
	switch name {
	case "p", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "table", "pre", "hr":
		s.part(paragraphGap)
	case "li", "tr", "div", "center", "section", "article", "header", "footer":
		s.part(lineGap)
	}
}

func attribute(t tokens.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return clean(newlines.Replace(a.Val))
		}
	}
	return ""
}
