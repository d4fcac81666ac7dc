// Package mimepart takes messages apart (RFC 5322, RFC 2045 to 2047) that come from strangers: it reads what is
// damaged as most mail programs do, and its work grows with the size of the message alone. A boundary that is missing or
// another one than the header says is found in the body, and a part without an end ends with the message.
package mimepart

import (
	"encoding/base64"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/packetboat/packetboat/internal/mail/encodedword"
)

// Meter counts the work of reading, so that a test can state how it grows. A step is a byte that a loop looks at, or a
// field or part that it visits.
type Meter struct{ Steps int }

// Part is a message or a part of one.
type Part struct {
	Header   Header
	Kind     string            // media type in lower case
	Params   map[string]string // of the media type
	Body     string            // not decoded
	Children []*Part           // of a multipart
}

// Field is a field of a header: its name in lower case, and its value, unfolded.
type Field struct{ Name, Value string }

// Header are the fields of a header, in order.
type Header []Field

// Get returns the value of the first field with a name in lower case.
func (h Header) Get(name string) string {
	for _, f := range h {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Word returns a value in lower case without its comment or parameters.
func (h Header) Word(name string) string {
	v := h.Get(name)
	if i := strings.IndexAny(v, ";("); i >= 0 {
		v = v[:i]
	}
	return strings.ToLower(strings.TrimSpace(v))
}

// MaxWords is the number of bytes of a value that are decoded.
const MaxWords = 4 << 10

// Text returns a value with its encoded words (RFC 2047) decoded.
func (h Header) Text(name string) string { return DecodeWords(h.Get(name)) }

// DecodeWords decodes the beginning of a value.
func DecodeWords(v string) string { return encodedword.Decode(v[:min(len(v), MaxWords)]) }

// Limits are those of what is read. Parts beyond them are left out.
type Limits struct {
	Depth int
	Parts int
	// WholeHeaders has headers end only at an empty line: lines that are no fields are skipped, and what is more than
	// they may have is left out. Otherwise both end a header.
	WholeHeaders bool
}

// Parse reads a message.
func (m *Meter) Parse(s string, limits Limits) *Part {
	p := &parser{Meter: m, Limits: limits}
	return p.parse(s, 0)
}

// parser counts the parts of one message.
type parser struct {
	*Meter
	Limits
	parts int
}

func (p *parser) parse(s string, depth int) *Part {
	p.parts++
	h, body := p.readHeader(s, p.WholeHeaders)
	n := &Part{Header: h, Body: body, Kind: "text/plain"}
	if v := h.Get("content-type"); v != "" {
		n.Kind, n.Params = mediaType(v)
	}
	boundary := n.Params["boundary"]
	if strings.HasPrefix(n.Kind, "multipart/") && boundary == "" {
		boundary = p.firstBoundary(body)
	}
	if !strings.HasPrefix(n.Kind, "multipart/") || depth >= p.Depth {
		return n
	}
	if boundary == "" {
		n.Kind = "text/plain"
		return n
	}
	n.Children = p.children(body, boundary, depth)
	if n.Children == nil { // the lines have another boundary than the header says
		if other := p.firstBoundary(body); other != "" {
			n.Children = p.children(body, other, depth)
		}
	}
	if n.Children == nil {
		n.Kind = "text/plain"
	}
	return n
}

// children parses the parts between the lines of a boundary.
func (p *parser) children(body, boundary string, depth int) (list []*Part) {
	for section := range p.sections(body, boundary) {
		if p.parts >= p.Limits.Parts {
			break
		}
		list = append(list, p.parse(section, depth+1))
	}
	return list
}

// The limits of a header. A field that is longer ends it.
const (
	maxField  = 64 << 10 // bytes of a field
	maxFields = 1000
)

// ReadHeader reads the fields before the first empty line. If the first line is not a field, there is
// no header.
func (m *Meter) ReadHeader(s string) (h Header, body string) { return m.readHeader(s, false) }

func (m *Meter) readHeader(s string, whole bool) (h Header, body string) {
	var folded strings.Builder // the value of the last field, if it has more than two lines
	lines, left := 0, false    // of the last field, and whether it was left out
	unfold := func() {
		if folded.Len() > 0 {
			h[len(h)-1].Value = folded.String()
			folded.Reset()
		}
	}
	defer unfold()
	for rest := s; ; {
		line, after, more := strings.Cut(rest, "\n")
		m.Steps += len(line) + 1
		if strings.TrimSpace(line) == "" && !(whole && len(h) > 0 && strings.TrimRight(line, "\r") != "") { // a folded line may be blank
			if len(h) == 0 && !more {
				return nil, s
			}
			return h, after
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(h) == 0 {
				return nil, s
			}
			last := &h[len(h)-1].Value
			if left || whole && max(folded.Len(), len(*last)) > maxField {
				if rest = after; !more {
					return h, ""
				}
				continue
			}
			if lines++; lines == 2 {
				*last += " " + strings.TrimSpace(line)
			} else {
				if folded.Len() == 0 {
					folded.Grow(2 * (len(*last) + len(line)))
					folded.WriteString(*last)
				}
				folded.WriteByte(' ')
				folded.WriteString(strings.TrimSpace(line))
			}
			if !whole && max(folded.Len(), len(*last)) > maxField {
				return h, after
			}
		} else {
			unfold()
			lines, left = 1, false
			name, value, ok := strings.Cut(line, ":")
			damaged := !ok || strings.ContainsAny(strings.TrimRight(name, " \t"), " \t")
			if !whole && (damaged || len(h) >= maxFields) || damaged && len(h) == 0 {
				return h, rest // a damaged header ends here
			}
			if !damaged && (len(h) < maxFields || hasPrefixFold(name, "content-") && len(h) < 2*maxFields) {
				h = append(h, Field{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
			} else {
				left = true
			}
		}
		if !more {
			return h, ""
		}
		rest = after
	}
}

// mediaType reads a Content-Type leniently.
func mediaType(v string) (string, map[string]string) {
	kind, params, err := mime.ParseMediaType(v)
	if err == nil {
		return kind, params
	}
	v = strings.TrimSpace(v)
	end := strings.IndexAny(v, "; \t") // some leave out the semicolon
	if end < 0 {
		end = len(v)
	}
	params = map[string]string{}
	for field := range strings.SplitSeq(v[end:], ";") {
		name, value, _ := strings.Cut(field, "=")
		params[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return strings.ToLower(v[:end]), params
}

// firstBoundary finds the boundary of a multipart that does not name it: the first line that begins
// with two hyphens, with a field after it.
func (m *Meter) firstBoundary(body string) string {
	for rest := body; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		m.Steps += len(line) + 1
		if b, ok := strings.CutPrefix(line, "--"); ok && b != "" && hasPrefixFold(rest, "content-") {
			return strings.TrimRight(b, " \t\r")
		}
	}
	return ""
}

// sections yields the parts between the lines of a boundary. The last line may be missing.
func (m *Meter) sections(body, boundary string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for at := 0; at < len(body); {
			end := strings.IndexByte(body[at:], '\n')
			next := at + end + 1
			if end < 0 {
				next = len(body)
			}
			m.Steps += next - at
			line := strings.TrimRight(body[at:next], " \t\r\n")
			if rest, ok := strings.CutPrefix(line, "--"+boundary); ok && (rest == "" || rest == "--") {
				if start >= 0 && !yield(body[start:at]) {
					return
				}
				if start = next; rest == "--" {
					return
				}
			}
			at = next
		}
		if start >= 0 && start < len(body) {
			yield(body[start:])
		}
	}
}

// hasPrefixFold reports whether s begins with an ASCII prefix, whatever the case of its letters.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// Content returns the body after its transfer encoding.
func (n *Part) Content(m *Meter) string {
	m.Steps += len(n.Body)
	switch n.Header.Word("content-transfer-encoding") {
	case "base64":
		return lenientBase64(n.Body)
	case "quoted-printable":
		return m.quotedPrintable(n.Body)
	}
	return n.Body
}

// Decoded returns the body after its transfer encoding and in UTF-8, as far as its charset is known. Line ends are \n.
func (n *Part) Decoded(m *Meter) string {
	body := n.Content(m)
	if text, ok := stated(body, n.Params["charset"]); ok {
		body = text
	}
	return strings.ReplaceAll(body, "\r\n", "\n")
}

// UTF8 returns a text in UTF-8: from the charset that it is said to have, unless it is UTF-8 already; or for a page, from
// the one that it names itself; or else from windows-1252, as browsers do.
func UTF8(text, name string, page bool) string {
	if s, ok := stated(text, name); ok {
		return s
	}
	if utf8.ValidString(text) {
		return text
	}
	var e encoding.Encoding = charmap.Windows1252
	if page {
		e, _, _ = charset.DetermineEncoding([]byte(text[:min(len(text), 1024)]), "")
	}
	if s, err := e.NewDecoder().String(text); err == nil {
		return s
	}
	return text
}

// stated returns a text from the charset that it is said to have. It reports false if it is UTF-8, or the charset is
// not known. Of the charsets in which other texts are bytes of ASCII, it is not known by the bytes which one it is.
func stated(text, name string) (string, bool) {
	name = strings.ToLower(name)
	if name == "" || utf8.ValidString(text) && !strings.HasPrefix(name, "iso-2022") && !strings.HasPrefix(name, "utf-16") {
		return "", false
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement {
		return "", false
	}
	s, err := e.NewDecoder().String(text)
	return s, err == nil
}

func lenientBase64(s string) string {
	clean := strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' {
			return c
		}
		return -1
	}, s)
	b, _ := base64.RawStdEncoding.DecodeString(clean) // the bytes before an error
	return string(b)
}

func (m *Meter) quotedPrintable(s string) string {
	if strings.IndexByte(s, '=') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '=' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 < len(s) {
			if high, low := unhex(s[i+1]), unhex(s[i+2]); high >= 0 && low >= 0 {
				b.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		end := i + 1
		for end < len(s) && (s[end] == ' ' || s[end] == '\t' || s[end] == '\r') {
			end++
		}
		m.Steps += end - i
		if end < len(s) && s[end] == '\n' {
			i = end // a soft line break
			continue
		}
		b.WriteByte('=')
	}
	return b.String()
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
