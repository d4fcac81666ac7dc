package dsn

import (
	"encoding/base64"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/packetboat/packetboat/internal/mail/encodedword"
)

// Limits of what Parse reads.
const (
	MaxSize  = 1 << 20
	MaxDepth = 10
	MaxParts = 100
)

// part is a message or a part of one. Line ends are \n.
type part struct {
	header   header
	kind     string            // media type in lower case
	params   map[string]string // of the media type
	body     string            // not decoded
	children []*part           // of a multipart
}

// header are the fields of a header, in order. Names are in lower case, values unfolded.
type header []struct{ name, value string }

func (h header) get(name string) string {
	for _, f := range h {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// word returns a value in lower case without its comment or parameters.
func (h header) word(name string) string {
	v := h.get(name)
	if i := strings.IndexAny(v, ";("); i >= 0 {
		v = v[:i]
	}
	return strings.ToLower(strings.TrimSpace(v))
}

// maxWords is the number of bytes of a value that are decoded.
const maxWords = 4 << 10

// text returns a value with its encoded words (RFC 2047) decoded.
func (h header) text(name string) string { return decodeWords(h.get(name)) }

// decodeWords decodes the beginning of a value.
func decodeWords(v string) string { return encodedword.Decode(v[:min(len(v), maxWords)]) }

// normalize returns raw with \n at the ends of lines, whatever they were, without the line that mbox
// files put before a message.
func normalize(raw []byte) string {
	s := string(raw[:min(len(raw), MaxSize)])
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	s = strings.TrimLeft(s, "\n \t")
	if strings.HasPrefix(s, "From ") {
		_, s, _ = strings.Cut(s, "\n")
	}
	return s
}

// parser counts the parts of one message.
type parser struct {
	parts int
	*meter
}

func (p *parser) parse(s string, depth int) *part {
	p.parts++
	h, body := p.readHeader(s)
	n := &part{header: h, body: body, kind: "text/plain"}
	if v := h.get("content-type"); v != "" {
		n.kind, n.params = mediaType(v)
	}
	boundary := n.params["boundary"]
	if strings.HasPrefix(n.kind, "multipart/") && boundary == "" {
		boundary = p.firstBoundary(body)
	}
	if !strings.HasPrefix(n.kind, "multipart/") || depth >= MaxDepth {
		return n
	}
	if boundary == "" {
		n.kind = "text/plain"
		return n
	}
	n.children = p.children(body, boundary, depth)
	if n.children == nil { // the lines have another boundary than the header says
		if other := p.firstBoundary(body); other != "" {
			n.children = p.children(body, other, depth)
		}
	}
	if n.children == nil {
		n.kind = "text/plain"
	}
	return n
}

// children parses the parts between the lines of a boundary.
func (p *parser) children(body, boundary string, depth int) (list []*part) {
	for section := range p.sections(body, boundary) {
		if p.parts >= MaxParts {
			break
		}
		list = append(list, p.parse(section, depth+1))
	}
	return list
}

// maxField is the number of bytes of a field that are read.
const maxField = 64 << 10

// readHeader reads the fields before the first empty line. If the first line is not a field, there is
// no header.
func (m *meter) readHeader(s string) (h header, body string) {
	var folded strings.Builder // the value of the last field, if it has more than two lines
	lines := 0                 // of the last field
	unfold := func() {
		if folded.Len() > 0 {
			h[len(h)-1].value = folded.String()
			folded.Reset()
		}
	}
	defer unfold()
	for rest := s; ; {
		line, after, more := strings.Cut(rest, "\n")
		m.steps += len(line) + 1
		if strings.TrimSpace(line) == "" {
			if len(h) == 0 && !more {
				return nil, s
			}
			return h, after
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(h) == 0 {
				return nil, s
			}
			last := &h[len(h)-1].value
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
			if max(folded.Len(), len(*last)) > maxField {
				return h, after
			}
		} else {
			unfold()
			lines = 1
			name, value, ok := strings.Cut(line, ":")
			if !ok || strings.ContainsAny(strings.TrimRight(name, " \t"), " \t") || len(h) >= 1000 {
				return h, rest // a damaged header ends here
			}
			h = append(h, struct{ name, value string }{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
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
func (m *meter) firstBoundary(body string) string {
	for rest := body; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		m.steps += len(line) + 1
		if b, ok := strings.CutPrefix(line, "--"); ok && b != "" && hasPrefixFold(rest, "content-") {
			return strings.TrimRight(b, " \t")
		}
	}
	return ""
}

// sections yields the parts between the lines of a boundary. The last line may be missing.
func (m *meter) sections(body, boundary string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for at := 0; at < len(body); {
			end := strings.IndexByte(body[at:], '\n')
			next := at + end + 1
			if end < 0 {
				next = len(body)
			}
			m.steps += next - at
			line := strings.TrimRight(body[at:next], " \t\n")
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

// decoded returns the body after its transfer encoding and in UTF-8.
func (n *part) decoded(m *meter) string {
	body := n.body
	m.steps += len(body)
	switch n.header.word("content-transfer-encoding") {
	case "base64":
		body = lenientBase64(body)
	case "quoted-printable":
		body = m.quotedPrintable(body)
	}
	if charset := n.params["charset"]; charset != "" && !utf8.ValidString(body) || strings.HasPrefix(strings.ToLower(charset), "iso-2022") {
		if e, err := htmlindex.Get(charset); err == nil {
			if text, err := e.NewDecoder().String(body); err == nil {
				body = text
			}
		}
	}
	return strings.ReplaceAll(body, "\r\n", "\n")
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

func (m *meter) quotedPrintable(s string) string {
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
		m.steps += end - i
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

// plain returns the text of a part; of HTML, without tags.
func (n *part) plain(m *meter) string {
	s := n.decoded(m)
	if n.kind != "text/html" {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	hidden := 0
	for {
		t := z.Next()
		m.steps += len(z.Raw())
		if b.Len() > maxText {
			return b.String()
		}
		switch t {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if hidden == 0 {
				b.WriteString(html.UnescapeString(string(z.Text())))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			switch string(name) {
			case "script", "style", "head":
				hidden = 0
				if t == html.StartTagToken {
					hidden = 1
				}
			case "br", "p", "div", "tr", "li", "h1", "h2", "h3", "table", "td", "pre", "body":
				b.WriteByte('\n')
			}
		}
	}
}
