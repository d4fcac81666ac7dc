package binding

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// policy defines the elements and attributes allowed in rich text. balance also checks styles and
// addresses.
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "strong", "b", "em", "i", "u", "s", "a", "ul", "ol", "li",
		"h1", "h2", "h3", "h4", "blockquote", "span", "img", "table", "thead", "tbody", "tr", "td", "th",
		"hr", "div", "code", "pre", "sub", "sup", "small")
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(true) // so that an address may be Liquid
	size := regexp.MustCompile(`^[0-9]{1,4}%?$`)
	p.AllowAttrs("style", "title").Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(?i:ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,19}$`)).Globally()
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_blank$`)).OnElements("a")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowAttrs("width", "height", "border").Matching(size).OnElements("img", "table", "td", "th")
	p.AllowAttrs("cellpadding", "cellspacing", "colspan", "rowspan").Matching(size).OnElements("table", "td", "th")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(?i:left|right|center|justify)$`)).
		OnElements("p", "div", "h1", "h2", "h3", "h4", "img", "table", "tr", "td", "th", "hr")
	p.AllowAttrs("valign").Matching(regexp.MustCompile(`^(?i:top|middle|bottom|baseline)$`)).OnElements("tr", "td", "th")
	p.AllowAttrs("bgcolor").Matching(regexp.MustCompile(`^#?[0-9A-Za-z]{1,20}$`)).OnElements("table", "tr", "td", "th")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,6}$`)).OnElements("ol")
	return p
})

// newlines are one character in HTML and XML.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// sanitised returns rich text with only the allowed elements, attributes and styles, every element
// closed, and its Liquid. It is well-formed XML, so that it can be inserted into MJML.
func sanitised(text string) string {
	text = newlines.Replace(text)
	if !strings.ContainsAny(text, "<&{") {
		return encoded(text)
	}
	m := newMask(clean(text))
	out := m.restored(escapeLiquid(m.balance(policy().Sanitize(m.text))), true)
	if checkLiquid(RichText, out) != "" { // a part of a block was removed with something forbidden
		m.dropTags()
		out = m.restored(escapeLiquid(m.balance(policy().Sanitize(m.text))), true)
	}
	return out
}

// mask is a text with words in place of its Liquid, so that parsers of HTML do not see or change
// it. The words are derived from the text's hash, so that a text cannot be written to contain them.
type mask struct {
	text   string
	source string
	word   string // the prefix of the words
	spans  []markup.Span
}

func newMask(source string) *mask {
	m := &mask{text: source, source: source, spans: liquidSpans(source)}
	if len(m.spans) > 0 {
		sum := sha256.Sum256([]byte(source))
		m.word = "lq" + hex.EncodeToString(sum[:12]) + "n"
		m.cover(func(markup.Span) bool { return true })
	}
	return m
}

// dropTags removes the tags, so that only outputs remain.
func (m *mask) dropTags() { m.cover(func(s markup.Span) bool { return s.Output }) }

// cover replaces the spans for which keep is true by words. It removes comments and empty outputs.
// raw tags need not be kept, since their content is literal in any case.
func (m *mask) cover(keep func(markup.Span) bool) {
	var b strings.Builder
	last := 0
	for i, span := range m.spans {
		b.WriteString(m.source[last:span.Start])
		last = span.End
		code := markup.Code(m.source[span.Start:span.End])
		if name := markup.FirstWord(code); code == "" || !span.Output && (name == "comment" || name == "raw" || name == "endraw") {
			continue
		}
		if keep(span) {
			b.WriteString(m.word + strconv.Itoa(i) + "z")
		}
	}
	b.WriteString(m.source[last:])
	m.text = b.String()
}

// next finds the first word in text: its position, and the Liquid that it replaces.
func (m *mask) next(text string) (start, end int, piece string, ok bool) {
	if m.word == "" {
		return 0, 0, "", false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], m.word)
		if at < 0 {
			return 0, 0, "", false
		}
		start = from + at
		end = start + len(m.word)
		digits := end
		for end < len(text) && '0' <= text[end] && text[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(text[digits:end])
		if err == nil && n < len(m.spans) && end < len(text) && text[end] == 'z' {
			return start, end + 1, m.source[m.spans[n].Start:m.spans[n].End], true
		}
		from = end
	}
}

// restored puts the Liquid back; in HTML the attributes around it are in double quotes.
func (m *mask) restored(text string, isHTML bool) string {
	var j joiner
	quoted := false
	for {
		start, end, piece, ok := m.next(text)
		if !ok {
			j.write(text)
			return j.String()
		}
		j.write(text[:start])
		if isHTML {
			quoted = quoted != (strings.Count(text[:start], `"`)%2 == 1) // in text they are entities
			at := inMarkup
			if quoted {
				at = inDouble
			}
			piece = requote(piece, at)
		}
		j.write(piece)
		text = text[end:]
	}
}
