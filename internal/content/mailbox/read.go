package mailbox

import (
	"bufio"
	"bytes"
	"io"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"github.com/jhillyerd/enmime/v2"

	"github.com/packetboat/packetboat/internal/mail/encodedword"
)

// Parts are what a message consists of, decoded. They come from strangers:
// HTML is as its author wrote it.
type Parts struct {
	Headers [][2]string // name and value of each, in their order: unfolded, and with encoded words decoded
	HTML    string
	Text    string
}

// maxLine bounds what lists show of one header.
const maxLine = 998

// Read takes a message apart. What cannot be read is left empty.
func Read(raw []byte) Parts {
	p := Parts{Headers: headers(raw)}
	for i := range p.Headers {
		p.Headers[i][1] = decode(p.Headers[i][1])
	}
	parser := enmime.NewParser(enmime.DisableTextConversion(true), enmime.SkipMalformedParts(true), enmime.MaxStoredPartErrors(8))
	env, err := parser.ReadEnvelope(bytes.NewReader(raw))
	if err != nil {
		return p
	}
	p.HTML, p.Text = valid(env.HTML), valid(env.Text)
	return p
}

// headline returns the From and Subject of a message, decoded.
func headline(raw []byte) (author, subject string) {
	for _, h := range headers(raw) {
		switch {
		case author == "" && strings.EqualFold(h[0], "From"):
			author = clip(decode(h[1]))
		case subject == "" && strings.EqualFold(h[0], "Subject"):
			subject = clip(decode(h[1]))
		}
	}
	return author, subject
}

// headers splits the header section without judging it.
func headers(raw []byte) [][2]string {
	list := [][2]string{}
	r := textproto.NewReader(bufio.NewReader(bytes.NewReader(raw)))
	for {
		line, err := r.ReadContinuedLine()
		if line == "" || err != nil && err != io.EOF {
			return list
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return list
		}
		list = append(list, [2]string{valid(strings.TrimSpace(name)), valid(strings.TrimSpace(value))})
		if err != nil {
			return list
		}
	}
}

// decode returns the value of a header with its encoded words (RFC 2047) decoded, in one line.
func decode(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' { // encoded, it would look like the end of the header
			return ' '
		}
		return r
	}, valid(encodedword.Decode(s)))
}

// clip returns at most maxLine bytes of a value.
func clip(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	return s
}

// valid returns s as a database and a page can hold it.
func valid(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}
