package compose

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// Constants are the constant texts of a template, encoded once for all its messages. Only the first
// line of an encoded text depends on what precedes it, and the text is written either on the current
// line or on a new one. Constants are immutable and safe for concurrent use.
type Constants struct{ spans []span }

// Known are the positions of encoded texts in a body, in order. The zero Known has none. A wrong
// Known costs time, but the result is still correct.
type Known struct {
	Texts *Constants
	Marks []liquid.Mark
}

// span is an encoded text. The bytes at its ends whose encoding depends on their neighbours are left
// out.
type span struct {
	text        string
	lead        int // bytes left out in front
	encoded     []byte
	first, last int  // widths of its first and last line
	lines       bool // it has more than one line
	escapes     int  // bytes of the text that need escapes
}

// Precompose encodes the texts that the marks of a Known number.
func Precompose(texts []string) *Constants {
	c := &Constants{spans: make([]span, len(texts))}
	for i, text := range texts {
		c.spans[i] = encode(text)
	}
	return c
}

// encode encodes a text as it is written on new lines. A text with invalid UTF-8, which may become
// valid with its neighbours, gives an empty span.
func encode(text string) span {
	if !utf8.ValidString(text) {
		return span{}
	}
	s := span{text: text}
	if text != "" && text[0] == '\n' { // perhaps after a CR
		s.lead = 1
	}
	inner := strings.TrimRightFunc(text[s.lead:], func(r rune) bool { // perhaps before a line end
		return r == ' ' || r == '\r' || r == '\t' || r < utf8.RuneSelf && class[r] == dropIt
	})
	s.text = text[:s.lead+len(inner)]
	// A text that ends with a part of "From " at the start of a line may become it.
	src := []byte(inner)
	if at := bytes.LastIndexByte(src, 'F'); at >= 0 && strings.HasPrefix("From ", inner[at:]) {
		src = append(src, "From "[len(src)-at:]...)
	}
	q := quoter{left: math.MaxInt}
	q.write(src, 0, len(inner))
	s.encoded, s.escapes = bytes.Clone(q.dst), math.MaxInt-q.left
	head, _, lines := bytes.Cut(s.encoded, []byte("\r\n"))
	s.first, s.last, s.lines = len(bytes.TrimSuffix(head, []byte{'='})), q.col, lines
	return s
}

// place writes a span on the current line if it has room for it, otherwise on a new one.
func (q *quoter) place(s *span) {
	q.dst, q.col = breakFor(q.dst, q.col, s.first)
	q.dst = append(q.dst, s.encoded...)
	q.col += s.last
	if s.lines {
		q.col = s.last
	}
}

// in returns the span of a mark, if body contains its text there.
func (k Known) in(body []byte, m liquid.Mark, from int) (*span, bool) {
	if k.Texts == nil || m.Text < 0 || m.Text >= len(k.Texts.spans) || m.At < from {
		return nil, false
	}
	s := &k.Texts.spans[m.Text]
	return s, len(s.text) > 0 && len(body)-m.At >= len(s.text) && string(body[m.At:m.At+len(s.text)]) == s.text
}

// appendQuoted appends body[from:] as quoted-printable text. It returns false when more than a
// quarter of it needs escapes; base64 is shorter then.
func appendQuoted(dst, body []byte, from int, known Known) ([]byte, bool) {
	q := quoter{dst: dst, left: (len(body) - from) / 4}
	at := from
	for _, m := range known.Marks {
		s, ok := known.in(body, m, at)
		if !ok {
			continue
		}
		q.left -= s.escapes
		if !q.write(body, at, m.At+s.lead) {
			return dst, false
		}
		q.place(s)
		at = m.At + len(s.text)
	}
	if !q.write(body, at, len(body)) {
		return dst, false
	}
	if q.col > 0 || len(q.dst) == len(dst) {
		q.dst = append(q.dst, "\r\n"...)
	}
	return q.dst, true
}
