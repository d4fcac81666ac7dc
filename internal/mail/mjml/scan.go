package mjml

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// paint replaces every byte of Liquid while a source is scanned, so that Liquid is not read as markup.
// It is not allowed in a source.
const paint = '\x01'

// scanner reads a source.
type scanner struct {
	source string
	text   string // source with its Liquid painted over
	pos    int

	counted int // lines were counted up to here
	line    int // of counted
}

func newScanner(source string) *scanner {
	s := &scanner{source: source, text: source, line: 1}
	if all := spans(source); len(all) > 0 {
		b := []byte(source)
		for _, l := range all {
			for i := l.Start; i < l.End; i++ {
				b[i] = paint
			}
		}
		s.text = string(b)
	}
	return s
}

// at returns the line of a position. Ascending positions are cheap.
func (s *scanner) at(pos int) int {
	if pos < s.counted {
		return s.line - strings.Count(s.source[pos:s.counted], "\n")
	}
	s.line += strings.Count(s.source[s.counted:pos], "\n")
	s.counted = pos
	return s.line
}

// column returns the column of a position, in characters. It takes time proportional to the length of
// the line.
func (s *scanner) column(pos int) int {
	begin := strings.LastIndexByte(s.source[:pos], '\n') + 1
	return utf8.RuneCountInString(s.source[begin:pos]) + 1
}

func (s *scanner) fail(pos int, format string, args ...any) error {
	return &Error{s.at(pos), s.column(pos), fmt.Sprintf(format, args...)}
}

// rest returns the unread part.
func (s *scanner) rest() string { return s.text[s.pos:] }

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// skip moves past the next occurrence of mark and reports whether there is one;
// if not, it moves to the end.
func (s *scanner) skip(mark string) bool {
	i := strings.Index(s.rest(), mark)
	if i < 0 {
		s.pos = len(s.text)
		return false
	}
	s.pos += i + len(mark)
	return true
}

// blanks moves past white space and reports whether there was any.
func (s *scanner) blanks() bool {
	start := s.pos
	for s.pos < len(s.text) && markup.IsSpace(s.text[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

// until returns the text before the next white space or byte of marks, and moves there.
func (s *scanner) until(marks string) string {
	start := s.pos
	for s.pos < len(s.text) && !markup.IsSpace(s.text[s.pos]) && strings.IndexByte(marks, s.text[s.pos]) < 0 {
		s.pos++
	}
	return s.text[start:s.pos]
}

// isName reports whether elements and attributes may have this name.
func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		ok := markup.IsLetter(c) || c == '_' || c == ':' || c >= 0x80 ||
			i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '.')
		if !ok {
			return false
		}
	}
	return name != ""
}
