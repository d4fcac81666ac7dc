package inline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// page is a document: its start tags, its style elements, and what is to change.
type page struct {
	src, masked string
	spans       []markup.Span
	branches    bool // there are Liquid tags

	tags      []tag
	sheets    []sheet
	selectors int // how many were read
	changes   []change

	copied   strings.Builder // the tags, numbered, for the parser
	loose    strings.Builder // tags that are not touched, but must not lose rules
	anyClass bool            // one of those has a class that nobody knows yet
}

// tag is a start tag.
type tag struct {
	name       string
	start      int
	behind     int // where its name ends
	style      *attribute
	attributes []attribute
	doubtful   bool // Liquid decides about its attributes
}

// attribute is where an attribute stands in the document.
type attribute struct {
	name       string
	start, end int // its value
	quote      byte
	hasValue   bool
}

// sheet is what a style element holds.
type sheet struct {
	open, close int  // all of the element
	start, end  int  // what stands between its tags
	narrow      bool // for some media only
	rules       []*rule
}

// read finds the tags of the document.
func read(src string) *page {
	p := &page{src: src, masked: markup.Mask(src), spans: markup.Spans(src)}
	p.branches = p.hasTags(0, len(src))
	z := html.NewTokenizer(strings.NewReader(p.masked))
	var last html.TokenType
	seen := map[string]bool{}
	for pos := 0; ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return p
		}
		start := pos
		pos += len(z.Raw())
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			t, text := p.readTag(string(name), start, pos)
			if t.doubtful {
				p.loose.WriteString("<" + t.name + strings.ToLower(text))
				p.anyClass = true
			}
			// The parser takes attributes from every html and body tag, slowly.
			if t.name != "html" && t.name != "body" || !seen[t.name] {
				p.copied.WriteString(text)
				seen[t.name] = true
			}
			p.tags = append(p.tags, t)
		case html.EndTagToken:
			name, _ := z.TagName()
			if n := len(p.sheets); n > 0 && p.sheets[n-1].end == start {
				p.sheets[n-1].close = pos
			}
			p.copied.WriteString("</" + alias(string(name)) + ">")
		case html.TextToken:
			if last == html.StartTagToken && p.tags[len(p.tags)-1].name == "style" {
				p.addSheet(start, pos)
			}
		case html.CommentToken:
			if inner := p.masked[start:pos]; strings.Contains(inner, "[if") {
				p.loose.WriteString(strings.ToLower(inner)) // elements for Outlook
			}
		case html.DoctypeToken:
			p.copied.WriteString(p.masked[start:pos])
		}
		last = kind
	}
}

// addSheet notes the text of the style element that was opened last, unless it
// is to be left alone.
func (p *page) addSheet(start, end int) {
	t := &p.tags[len(p.tags)-1]
	s := sheet{open: t.start, start: start, end: end, close: end}
	for _, a := range t.attributes {
		value := strings.ToLower(strings.TrimSpace(p.masked[a.start:a.end]))
		switch a.name {
		case "media":
			s.narrow = value != "" && value != "all"
		case "type":
			if value != "" && value != "text/css" {
				return
			}
		case "data-embed", "data-premailer", "amp-custom", "amp4email-boilerplate":
			return
		}
	}
	p.sheets = append(p.sheets, s)
}

// number is the attribute that numbers the tags of the copy. It comes first, so
// that one of that name in the document does not matter.
const number = "n"

// readTag finds the attributes of a start tag, and returns the tag for the copy,
// too. That has only the classes that it has whatever Liquid says.
func (p *page) readTag(name string, start, end int) (tag, string) {
	stop := end
	if p.masked[end-1] == '>' {
		stop--
	}
	i := start + 1
	for i < stop && !isSpace(p.masked[i]) && p.masked[i] != '/' {
		i++
	}
	t := tag{name: name, start: start, behind: i}
	copied := "<" + alias(name) + " " + number + `="` + strconv.Itoa(len(p.tags)) + `"`
	var b strings.Builder
	last, spans := i, p.spansIn(start, end)
	for {
		for i < stop && (isSpace(p.masked[i]) || p.masked[i] == '/') {
			i++
		}
		if i >= stop {
			break
		}
		var a attribute
		a, i = p.attributeAt(i, stop)
		t.attributes = append(t.attributes, a)
		var within []markup.Span
		for len(spans) > 0 && spans[0].End <= a.end {
			if spans[0].Start < a.start {
				t.doubtful = true
				return t, copied + ">" // Liquid decides which attributes there are
			}
			within = append(within, spans[0])
			spans = spans[1:]
		}
		if len(within) > 0 && (a.name == "class" || a.name == "id") {
			t.doubtful = true
			from, to := within[0].Start, within[len(within)-1].End
			for from > a.start && !isSpace(p.masked[from-1]) {
				from--
			}
			for to < a.end && !isSpace(p.masked[to]) {
				to++
			}
			b.WriteString(p.masked[last:from])
			last = to
		}
		if a.name == "style" && t.style == nil {
			t.style = &a
		}
	}
	if len(spans) > 0 {
		t.doubtful = true
		return t, copied + ">"
	}
	b.WriteString(p.masked[last:end])
	return t, copied + b.String()
}

// attributeAt reads the attribute at i and returns where it ends.
func (p *page) attributeAt(i, end int) (attribute, int) {
	m := p.masked
	from := i
	for i < end && !isSpace(m[i]) && m[i] != '/' && (m[i] != '=' || i == from) {
		i++
	}
	a := attribute{name: strings.ToLower(m[from:i]), start: i, end: i}
	j := i
	for j < end && isSpace(m[j]) {
		j++
	}
	if j >= end || m[j] != '=' {
		return a, i
	}
	a.hasValue = true
	for i = j + 1; i < end && isSpace(m[i]); i++ {
	}
	if i < end && (m[i] == '"' || m[i] == '\'') {
		a.quote, a.start, a.end = m[i], i+1, end
		if n := strings.IndexByte(m[i+1:end], a.quote); n >= 0 {
			a.end = i + 1 + n
		}
		return a, min(a.end+1, end)
	}
	a.start = i
	for i < end && !isSpace(m[i]) {
		i++
	}
	a.end = i
	return a, i
}

// spansIn returns the Liquid that begins in src[start:end].
func (p *page) spansIn(start, end int) []markup.Span {
	from, _ := slices.BinarySearchFunc(p.spans, start, func(s markup.Span, at int) int { return cmp.Compare(s.Start, at) })
	to, _ := slices.BinarySearchFunc(p.spans, end, func(s markup.Span, at int) int { return cmp.Compare(s.Start, at) })
	return p.spans[from:to]
}

// hasTags reports whether a Liquid tag begins in src[start:end].
func (p *page) hasTags(start, end int) bool {
	return slices.ContainsFunc(p.spansIn(start, end), func(s markup.Span) bool { return !s.Output })
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}
