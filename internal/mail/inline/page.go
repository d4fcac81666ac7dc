package inline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// page is a document: its start tags, its style elements, and the changes to make.
type page struct {
	*markup.Scanner
	branches bool // there are Liquid tags

	tags      []tag
	sheets    []sheet
	selectors int // number of selectors read
	changes   []change

	left   map[*rule]map[string]bool // families of properties of rules that are not inlined
	raised map[int]map[string]bool   // properties that are important in the attributes, by tag

	parserCopy    strings.Builder // the tags, numbered, for the parser
	unchangedTags strings.Builder // tags that are not changed, but must not lose rules
	anyClass      bool            // the class of one of those depends on Liquid
}

// tag is a start tag.
type tag struct {
	name             string
	start            int
	nameEnd          int // the end of its name
	style            *markup.Attribute
	attributes       []markup.Attribute
	liquidAttributes bool // its attributes depend on Liquid
}

// sheet is a style element.
type sheet struct {
	open, close   int  // of the whole element
	start, end    int  // of its content
	mediaSpecific bool // for some media only
	rules         []*rule
}

// readPage finds the tags of the document.
func readPage(src string) *page {
	p := &page{Scanner: markup.New(src, markup.Syntax{}), left: map[*rule]map[string]bool{}, raised: map[int]map[string]bool{}}
	p.branches = p.hasTags(0, len(src))
	var last markup.Token
	seen := map[string]bool{}
	for t := range p.All() {
		switch t.Kind {
		case markup.StartTag:
			read, text := p.readTag(t)
			if read.liquidAttributes {
				p.unchangedTags.WriteString("<" + t.Name + strings.ToLower(text))
				p.anyClass = true
			}
			// The parser reads the attributes of every html and body tag, which is slow.
			if t.Name != "html" && t.Name != "body" || !seen[t.Name] {
				p.parserCopy.WriteString(text)
				seen[t.Name] = true
			}
			p.tags = append(p.tags, read)
		case markup.EndTag:
			if n := len(p.sheets); n > 0 && p.sheets[n-1].end == t.Start {
				p.sheets[n-1].close = t.End
			}
			p.parserCopy.WriteString("</" + alias(t.Name) + ">")
		case markup.Text:
			if t.Name == "style" && !last.Empty {
				p.addSheet(t.Start, t.End)
			}
		case markup.Comment:
			if inner := p.Masked[t.Start:t.End]; strings.Contains(inner, "[if") {
				p.unchangedTags.WriteString(strings.ToLower(inner)) // elements for Outlook
			}
		case markup.Declaration:
			p.parserCopy.WriteString(p.Masked[t.Start:t.End])
		}
		last = t
	}
	return p
}

// addSheet stores the text of the style element that was opened last, unless it must not be changed.
func (p *page) addSheet(start, end int) {
	t := &p.tags[len(p.tags)-1]
	s := sheet{open: t.start, start: start, end: end, close: end}
	for _, a := range t.attributes {
		value := strings.ToLower(strings.TrimSpace(p.Masked[a.Start:a.End]))
		switch a.Name {
		case "media":
			s.mediaSpecific = value != "" && value != "all"
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

// number is the attribute with the number of a tag in the copy. It comes first, so that an attribute of
// the same name in the document is ignored.
const number = "n"

// readTag reads the attributes of a start tag, and also returns the tag for the copy, which has only the
// classes that do not depend on Liquid.
func (p *page) readTag(in markup.Token) (tag, string) {
	t := tag{name: in.Name, start: in.Start, nameEnd: in.Start + len("<") + len(in.Name)}
	copied := "<" + alias(t.name) + " " + number + `="` + strconv.Itoa(len(p.tags)) + `"`
	var b strings.Builder
	last, spans := t.nameEnd, p.Within(in.Start, in.End)
	for a := range p.Attributes(in) {
		t.attributes = append(t.attributes, a)
		var within []markup.Span
		for len(spans) > 0 && spans[0].End <= a.End {
			if spans[0].Start < a.Start || a.Quote == 0 && !spans[0].Output {
				t.liquidAttributes = true
				return t, copied + ">" // the names of attributes depend on Liquid
			}
			within = append(within, spans[0])
			spans = spans[1:]
		}
		if len(within) > 0 && (a.Name == "class" || a.Name == "id") {
			t.liquidAttributes = true
			from, to := within[0].Start, within[len(within)-1].End
			for from > a.Start && !markup.IsSpace(p.Masked[from-1]) {
				from--
			}
			for to < a.End && !markup.IsSpace(p.Masked[to]) {
				to++
			}
			b.WriteString(p.Masked[last:from])
			last = to
		}
		if a.Name == "style" && t.style == nil {
			t.style = &a
		}
	}
	if len(spans) > 0 {
		t.liquidAttributes = true
		return t, copied + ">"
	}
	b.WriteString(p.Masked[last:in.End])
	return t, copied + b.String()
}

// hasTags reports whether a Liquid tag begins in the source from start to end.
func (p *page) hasTags(start, end int) bool {
	return slices.ContainsFunc(p.Within(start, end), func(s markup.Span) bool { return !s.Output })
}
