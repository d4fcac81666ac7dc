package mailbox

import (
	"bufio"
	"bytes"
	"io"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/encodedword"
	"github.com/packetboat/packetboat/internal/mail/mimepart"
)

// Parts are what a message consists of, decoded. They come from strangers:
// HTML is as its author wrote it.
type Parts struct {
	Headers [][2]string // name and value of each, in their order: unfolded, and with encoded words decoded
	HTML    string
	Text    string
}

const (
	maxLine = 998     // bytes of one header in lists
	maxText = 8 << 20 // bytes of the HTML, and of the text
)

// limits are those of what is shown of a message.
var limits = mimepart.Limits{Depth: 20, Parts: 1000, WholeHeaders: true}

// Read takes a message apart. The text is that of all its texts, or of an alternative the first; the HTML is the
// first. Attachments and attached messages are left out, and what cannot be read is left empty.
func Read(raw []byte) Parts {
	p := Parts{Headers: headers(raw)}
	for i := range p.Headers {
		p.Headers[i][1] = decode(p.Headers[i][1])
	}
	f := finder{}
	root := f.Parse(string(raw), limits)
	f.visit(root, root.Kind == "multipart/alternative")
	p.HTML, p.Text = clip(f.html, maxText), clip(strings.Join(f.texts, "\n--\n"), maxText)
	return p
}

// finder finds the texts of a message.
type finder struct {
	mimepart.Meter
	html  string
	texts []string
	size  int // of texts
}

// visit reads a part and those in it; first is whether only the first text counts.
func (f *finder) visit(p *mimepart.Part, first bool) {
	for _, c := range p.Children {
		if p.Kind == "multipart/digest" && c.Header.Get("content-type") == "" { // it is a message (RFC 2046 section 5.1.5)
			continue
		}
		c.Body = strings.TrimSuffix(strings.TrimSuffix(c.Body, "\n"), "\r") // the line end belongs to the boundary
		f.visit(c, first)
	}
	if len(p.Children) > 0 || p.Header.Word("content-disposition") == "attachment" {
		return
	}
	switch p.Kind {
	case "text/html":
		if f.html == "" {
			f.html = f.text(p)
		}
	case "text/plain", "text": // also without a type, which is plain text then
		if len(f.texts) > 0 && first || f.size >= maxText {
			return
		}
		text := f.text(p)
		f.texts = append(f.texts, text)
		f.size += len(text)
	}
}

// text returns the text of a part in UTF-8, whatever it says about its charset.
func (f *finder) text(p *mimepart.Part) string {
	content := p.Content(&f.Meter)
	content = content[:min(len(content), maxText)]
	charset := strings.TrimPrefix(strings.ToLower(p.Params["charset"]), "charset=")
	return valid(mimepart.UTF8(content, charset, p.Kind == "text/html"))
}

// headline returns the From and Subject of a message, decoded.
func headline(raw []byte) (author, subject string) {
	for _, h := range headers(raw) {
		switch {
		case author == "" && strings.EqualFold(h[0], "From"):
			author = clip(decode(h[1]), maxLine)
		case subject == "" && strings.EqualFold(h[0], "Subject"):
			subject = clip(decode(h[1]), maxLine)
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

// clip returns at most n bytes of a text.
func clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
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
