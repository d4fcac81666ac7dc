package binding

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// form is the language of a body.
type form uint8

const (
	plainForm form = iota // text/plain
	subjectForm
	htmlForm
	mjmlForm
)

func (f form) marked() bool { return f == htmlForm || f == mjmlForm }

// place is the position of a placeholder in HTML or MJML, as far as it affects escaping.
type place uint8

const (
	inMarkup  place = iota // between tags, where elements are allowed
	inDouble               // in the double quotes of an attribute
	inSingle               // in single ones
	inTag                  // in a tag, outside of quotes
	inBare                 // the same, as the whole value of an attribute
	inText                 // where tags are not parsed: a title, CDATA
	inStyle                // in a style sheet
	inComment              // a comment, which may be HTML for Outlook
)

// The elements whose content is text, not markup.
var textElements = map[string]bool{
	"style": true, "script": true, "title": true, "textarea": true, "xmp": true,
	"iframe": true, "noembed": true, "noframes": true,
	"mj-style": true, "mj-title": true, "mj-preview": true,
}

// maxOpen is the maximum depth to which the nesting of MJML is tracked.
const maxOpen = 100

// places finds the places of the Liquid of a body, from its start to its end. No
// value closes or opens anything.
type places struct {
	*markup.Scanner
	form       form
	token      markup.Token       // the current one
	inside     bool               // it is a tag whose attributes were read
	attributes []markup.Attribute // those that follow the position
	open       []string           // the elements of MJML around it
}

func newPlaces(src string, f form) *places {
	return &places{Scanner: markup.New(src, markup.Syntax{Raw: textElements, XML: f == mjmlForm, Names: true}), form: f}
}

// placeOf returns the place of a piece of Liquid, which must not be before an earlier
// argument, and the element of MJML around it.
func (p *places) placeOf(span markup.Span) (at place, parent string) {
	if !p.form.marked() {
		return inMarkup, ""
	}
	for p.token.End <= span.Start {
		p.next()
	}
	if len(p.open) > 0 {
		parent = p.open[len(p.open)-1]
	}
	switch p.token.Kind {
	case markup.Text:
		switch p.token.Name {
		case "":
			return inMarkup, parent
		case "style", "mj-style":
			return inStyle, parent
		}
		return inText, parent
	case markup.CData:
		return inText, parent
	case markup.Comment, markup.Declaration:
		return inComment, parent
	}
	return p.inTag(span), parent
}

// inTag returns the place of a piece of Liquid in a tag.
func (p *places) inTag(span markup.Span) place {
	if !p.inside {
		p.inside, p.attributes = true, slices.Collect(p.Attributes(p.token))
	}
	for len(p.attributes) > 0 && p.attributes[0].After <= span.Start {
		p.attributes = p.attributes[1:]
	}
	if len(p.attributes) == 0 || span.Start < p.attributes[0].Start {
		return inTag
	}
	switch a := p.attributes[0]; {
	case a.Quote == '"':
		return inDouble
	case a.Quote == '\'':
		return inSingle
	case a.Start == span.Start && a.End == span.End:
		return inBare
	}
	return inTag
}

// next reads a token.
func (p *places) next() {
	last := p.token
	token, ok := p.Next()
	if !ok {
		token.End = len(p.Source) + 1
	}
	p.token, p.inside = token, false
	if p.form != mjmlForm || !strings.HasPrefix(last.Name, "mj") || textElements[last.Name] {
		return
	}
	switch last.Kind {
	case markup.StartTag:
		if !last.Empty && len(p.open) < maxOpen {
			p.open = append(p.open, last.Name)
		}
	case markup.EndTag:
		if i := lastIndex(p.open, last.Name); i >= 0 {
			p.open = p.open[:i]
		}
	}
}
