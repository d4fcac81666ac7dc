package compose

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// Constants are the constant texts of a template, encoded once for all its
// messages: of each only the first line depends on what comes before it, and it
// follows either on the line being written or on a new one. It never changes and
// may be used by many goroutines at once.
type Constants struct{ spans []span }

// Known says where texts encoded before stand in a body, in their order. The zero
// Known says nothing. One that is wrong costs time and harms nothing.
type Known struct {
	Texts *Constants
	Marks []liquid.Mark
}

// span is an encoded text. Its ends are left out where how they are encoded
// depends on their neighbours.
type span struct {
	text        string
	lead        int // bytes left out in front
	encoded     []byte
	first, last int  // widths of its first and last line
	lines       bool // the last line is not the first
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

// encode encodes a text as it stands on new lines. One with broken characters,
// which may go together with bytes around it, is left empty.
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
	// A line that ends the text with a part of "From " may become it.
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

// place writes a span on the line being written where that has room for it, else
// on a new one.
func (q *quoter) place(s *span) {
	q.dst, q.col = breakFor(q.dst, q.col, s.first)
	q.dst = append(q.dst, s.encoded...)
	q.col += s.last
	if s.lines {
		q.col = s.last
	}
}

// in returns the span that a mark says to be in body, when it is there.
func (k Known) in(body []byte, m liquid.Mark, from int) (*span, bool) {
	if k.Texts == nil || m.Text < 0 || m.Text >= len(k.Texts.spans) || m.At < from {
		return nil, false
	}
	s := &k.Texts.spans[m.Text]
	return s, len(s.text) > 0 && len(body)-m.At >= len(s.text) && string(body[m.At:m.At+len(s.text)]) == s.text
}

// appendQuoted appends body from a place on as quoted-printable text. It gives
// up, with false, once more than a quarter of it turns out to need escapes;
// base64 is shorter then.
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
