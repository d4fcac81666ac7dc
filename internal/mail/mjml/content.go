package mjml

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// contentScanner finds the end of an element whose content is HTML. It reads the HTML as the
// compiler's parser does, since constructs that hide an end tag from that parser (an attribute, a
// comment, a script) must hide it here. Package markup reads as browsers do, which differs: they end
// a comment at --!>, too, and read </ p> as a comment.
type contentScanner struct {
	*scanner
	name    string   // of the element
	outside []string // the elements outside it
	open    []string // the elements open inside it
	count   map[string]int
	inside  func(name string, pos int) // called for each start tag
	comment func(at int)               // called behind each comment, with its position
}

// end moves past the end tag of the element, whose start tag ends at the scanner's position, and
// returns the content.
func (s *contentScanner) end(start int) (string, error) {
	from := s.pos
	for {
		i := strings.IndexByte(s.rest(), '<')
		if i < 0 {
			return "", s.fail(start, "<%s> is not closed", s.name)
		}
		s.pos += i
		at := s.pos
		rest := s.rest()[1:]
		switch {
		case strings.HasPrefix(rest, "!--"):
			s.pos += len("<!")
			if !s.skip("-->") {
				return "", s.fail(at, "a comment in <%s> is not closed by -->", s.name)
			}
			s.comment(at)
		case strings.HasPrefix(rest, "![CDATA["):
			if !s.skip("]]>") {
				return "", s.fail(at, "a CDATA section in <%s> is not closed by ]]>", s.name)
			}
		case strings.HasPrefix(rest, "!["), strings.HasPrefix(rest, "?"):
			s.skip(">")
		case strings.HasPrefix(rest, "!"):
			s.declaration()
		case strings.HasPrefix(rest, "/"):
			s.pos += len("</")
			done, err := s.endTag(start, at)
			if err != nil {
				return "", err
			}
			if done {
				return s.source[from:at], nil
			}
		case rest != "" && markup.IsLetter(rest[0]):
			s.pos++
			if err := s.startTag(at); err != nil {
				return "", err
			}
		default:
			s.pos++
		}
	}
}

// declaration moves past the declaration at the position. The parser reads the byte after <! or <!-
// as a part of it, even if it is >, so <!> does not end there.
func (s *contentScanner) declaration() {
	s.pos += len("<!")
	if s.peek() == '-' {
		s.pos++
	}
	s.pos = min(s.pos+1, len(s.text))
	s.skip(">")
}

// endTag reads the end tag at the position at and reports whether it is that of the element.
func (s *contentScanner) endTag(start, at int) (bool, error) {
	s.blanks()
	if !markup.IsLetter(s.peek()) { // </> is nothing, </1> a comment
		s.skip(">")
		return false, nil
	}
	name := strings.ToLower(s.until(">"))
	s.skip(">")
	switch {
	case isVoid(name):
	case s.count[name] > 0:
		for {
			top := s.pop()
			if top == name {
				return false, nil
			}
		}
	case name == s.name:
		return true, nil
	case slices.Contains(s.outside, name):
		return false, s.fail(start, "<%s> is not closed: </%s> of line %d ends what is around it", s.name, name, s.at(at))
	}
	return false, nil
}

// startTag reads the start tag at the position at.
func (s *contentScanner) startTag(at int) error {
	name := strings.ToLower(s.until("/>"))
	s.inside(name, at)
	for implied := closes[name]; len(s.open) > 0 && slices.Contains(implied, s.open[len(s.open)-1]); {
		s.pop()
	}
	closed, ok := s.attributes()
	if !ok {
		return s.fail(at, "<%s> in <%s> is not closed by >", name, s.name)
	}
	if closed || isVoid(name) {
		return nil
	}
	if slices.Contains(opaque, name) {
		for { // its end tag and nothing else
			if !s.skipFold("</" + name) {
				return s.fail(at, "<%s> in <%s> is not closed", name, s.name)
			}
			if c := s.peek(); c == '>' || markup.IsSpace(c) {
				s.skip(">")
				return nil
			}
		}
	}
	s.open = append(s.open, name)
	s.count[name]++
	return nil
}

func (s *contentScanner) pop() string {
	last := len(s.open) - 1
	name := s.open[last]
	s.open = s.open[:last]
	s.count[name]--
	return name
}

// attributes moves past the > of a start tag. It reports whether a / precedes it, and whether there
// is one.
func (s *contentScanner) attributes() (closed, ok bool) {
	for s.blanks(); s.pos < len(s.text); s.blanks() {
		switch s.peek() {
		case '>':
			s.pos++
			return false, true
		case '/':
			s.pos++
			s.blanks()
			if s.peek() == '>' {
				s.pos++
				return true, true
			}
			continue
		}
		s.pos++ // a name may start with anything
		s.until("=/>")
		s.blanks()
		if s.peek() != '=' {
			continue
		}
		s.pos++
		s.blanks()
		switch quote := s.peek(); quote {
		case '"', '\'':
			s.pos++
			if !s.skip(string(quote)) {
				return false, false
			}
		default:
			s.until(">")
		}
	}
	return false, false
}

// skipFold is skip for a mark in any case; the argument is in lower case.
func (s *contentScanner) skipFold(mark string) bool {
	for {
		i := strings.IndexByte(s.rest(), '<')
		if i < 0 || len(s.rest())-i < len(mark) {
			s.pos = len(s.text)
			return false
		}
		s.pos += i
		if strings.EqualFold(s.rest()[:len(mark)], mark) {
			s.pos += len(mark)
			return true
		}
		s.pos++
	}
}
