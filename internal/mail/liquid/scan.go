package liquid

import (
	"strings"
	"unicode/utf8"
)

// pieceKind is the kind of a piece of a source.
type pieceKind int

const (
	pieceEnd pieceKind = iota
	pieceText
	pieceOutput // {{ markup }}
	pieceTag    // {% name markup %}
)

// piece is a run of text, an output or a tag.
type piece struct {
	kind   pieceKind
	line   int
	pos    int    // of a tag or output
	name   string // of a tag
	markup string // the text, or the content of the braces after the name
}

const space = " \t\r\n\f\v"

// scanner splits a source into pieces, and applies whitespace control.
type scanner struct {
	src     string
	pos     int
	line    int  // of counted
	counted int  // the position up to which lines were counted
	trim    bool // the last piece ended in a hyphen
	noRaw   bool // no endraw follows
}

// at returns the line of a position. Positions must be ascending.
func (s *scanner) at(pos int) int {
	s.line += strings.Count(s.src[s.counted:pos], "\n")
	s.counted = pos
	return s.line
}

// next returns the next piece; at the end of the source, one of kind pieceEnd.
func (s *scanner) next() (piece, error) {
	for {
		start := s.pos
		open := s.opening(start)
		if open > start {
			s.pos = open
			text := s.src[start:open]
			if s.trim {
				text = strings.TrimLeft(text, space)
				s.trim = false
			}
			if open+2 < len(s.src) && s.src[open+2] == '-' {
				text = strings.TrimRight(text, space)
			}
			if text == "" {
				continue
			}
			return piece{kind: pieceText, line: s.at(start), markup: text}, nil
		}
		if open == len(s.src) {
			return piece{kind: pieceEnd, line: s.at(open)}, nil
		}
		return s.delimited(open)
	}
}

// opening returns the position of the next output or tag at or after from, or
// the end of the source. Triple braces belong to the text.
func (s *scanner) opening(from int) int {
	for {
		i := strings.IndexByte(s.src[from:], '{')
		if i < 0 || from+i+1 == len(s.src) {
			return len(s.src)
		}
		from += i
		switch {
		case s.src[from+1] == '%':
			return from
		case strings.HasPrefix(s.src[from:], "{{{"):
			end := strings.Index(s.src[from:], "}}")
			if end >= 0 && strings.HasPrefix(s.src[from+end:], "}}}") {
				from += end + 3
				continue
			}
			for strings.HasPrefix(s.src[from:], "{{{") {
				from++ // the innermost pair is an output
			}
			return from
		case s.src[from+1] == '{':
			return from
		}
		from++
	}
}

// delimited reads the output or tag that starts at open.
func (s *scanner) delimited(open int) (piece, error) {
	p := piece{kind: pieceOutput, line: s.at(open), pos: open}
	closing := "}}"
	if s.src[open+1] == '%' {
		p.kind, closing = pieceTag, "%}"
	}
	length := strings.Index(s.src[open+2:], closing)
	if length < 0 {
		return p, s.fail(p, s.src[open:open+2]+" is not closed by "+closing)
	}
	s.pos = open + 2 + length + 2
	m := s.src[open+2 : open+2+length]
	m = strings.TrimPrefix(m, "-")
	m, s.trim = strings.CutSuffix(m, "-")
	p.markup = strings.TrimFunc(m, isSpace)
	if p.kind == pieceTag {
		n := 0
		for n < len(p.markup) && isWord(p.markup[n]) {
			n++
		}
		p.name, p.markup = p.markup[:n], strings.TrimFunc(p.markup[n:], isSpace)
	}
	return p, nil
}

// fail returns the error for a piece.
func (s *scanner) fail(at piece, message string) error {
	begin := strings.LastIndexByte(s.src[:at.pos], '\n') + 1
	return &ParseError{max(at.line, 1), utf8.RuneCountInString(s.src[begin:at.pos]) + 1, message}
}

// verbatim returns the text before the tag that ends the raw block, which open began, and moves past
// that tag.
func (s *scanner) verbatim(open piece) (string, error) {
	start, from := s.pos, s.pos
	trimmed := s.trim
	for {
		i := strings.Index(s.src[from:], "{%")
		if i < 0 {
			return "", s.fail(open, "raw is not closed by endraw")
		}
		from += i
		n, hyphens := tagNamed(s.src[from:], "endraw")
		if n == 0 {
			from += 2
			continue
		}
		body := s.src[start:from]
		if trimmed {
			body = strings.TrimLeft(body, space)
		}
		if hyphens.left {
			body = strings.TrimRight(body, space)
		}
		s.pos, s.trim = from+n, hyphens.right
		return body, nil
	}
}

// skipComment moves past the end of the comment that open began. Comments nest, and a raw block in a
// comment hides tags.
func (s *scanner) skipComment(open piece) error {
	for depth := 1; depth > 0; {
		i := strings.Index(s.src[s.pos:], "{%")
		if i < 0 {
			return s.fail(open, "comment is not closed by endcomment")
		}
		s.pos += i
		rest := s.src[s.pos:]
		if n, h := tagNamed(rest, "endcomment"); n > 0 {
			s.pos, s.trim = s.pos+n, h.right
			depth--
			continue
		}
		if n, _ := tagNamed(rest, "comment"); n > 0 {
			s.pos += n
			depth++
			continue
		}
		n, _ := tagNamed(rest, "raw")
		if n == 0 || s.noRaw {
			s.pos += 2
			continue
		}
		s.pos += n
		before := s.pos
		if _, err := s.verbatim(open); err != nil {
			s.pos, s.noRaw = before, true
		}
	}
	return nil
}

// hyphens are the marks of whitespace control of one tag.
type hyphens struct{ left, right bool }

// tagNamed returns the length of the tag at the start of src if it has that name and no arguments,
// otherwise 0.
func tagNamed(src, name string) (int, hyphens) {
	var h hyphens
	rest := src[len("{%"):]
	rest, h.left = strings.CutPrefix(rest, "-")
	rest = strings.TrimLeftFunc(rest, isSpace)
	rest, ok := strings.CutPrefix(rest, name)
	if !ok {
		return 0, h
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	rest, h.right = strings.CutPrefix(rest, "-")
	rest, ok = strings.CutPrefix(rest, "%}")
	if !ok {
		return 0, h
	}
	return len(src) - len(rest), h
}

// isSpace includes the no-break space, which editors insert into tags.
func isSpace(r rune) bool {
	return r == ' ' || r == '\u00a0' || '\t' <= r && r <= '\r'
}

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
