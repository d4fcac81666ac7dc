package mark

import (
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// phrase are the elements that stand in a text.
var phrase = strings.Fields("a abbr b br code del em font i img ins mark s small span strong sub sup u wbr")

// texts are the elements that are marked if they contain text and phrases only.
var texts = strings.Fields("blockquote button caption dd div dt figcaption h1 h2 h3 h4 h5 h6 li p td th")

// HTML returns HTML with marks at links, images and the elements that contain nothing but text. Tags with
// Liquid between their attributes get none.
func (m Marker) HTML(source string) string {
	s := markup.New(source, markup.Syntax{Names: true})
	var found []markup.Token
	var open *markup.Token // contains text only, so far
	for t := range s.All() {
		switch {
		case t.Kind == markup.EndTag && open != nil && open.Name == t.Name:
			found = append(found, *open)
			open = nil
		case t.Kind == markup.EndTag && !slices.Contains(phrase, t.Name):
			open = nil
		case t.Kind != markup.StartTag:
		case t.Name == "a" || t.Name == "img":
			found = append(found, t)
		case slices.Contains(phrase, t.Name):
		case slices.Contains(texts, t.Name) && !t.Empty:
			open = &t
		default:
			open = nil
		}
	}
	slices.SortFunc(found, func(a, b markup.Token) int { return a.Start - b.Start })
	var b strings.Builder
	last := 0
	units := UTF16{Text: source}
	for _, t := range found {
		at, text, ok := m.place(s, t, units.At(t.Start))
		if ok {
			b.WriteString(source[last:at] + text)
			last = at
		}
	}
	return b.String() + source[last:]
}

// place returns what to insert into a start tag, and where.
func (m Marker) place(s *markup.Scanner, t markup.Token, position int) (at int, text string, ok bool) {
	class := m.Class(strconv.Itoa(position))
	end := t.Start + 1 + len(t.Name)
	if len(s.Within(t.Start, end)) > 0 {
		return 0, "", false
	}
	liquid := len(s.Within(t.Start, t.End))
	for a := range s.Attributes(t) {
		liquid -= len(s.Within(a.Start, a.End))
		if a.Name != "class" || at > 0 {
			continue
		}
		if a.Quote == 0 || strings.TrimSpace(s.Source[a.Start:a.End]) == "" {
			return 0, "", false
		}
		at, text = a.End, " "+class
	}
	if at == 0 {
		at, text = end, ` class="`+class+`"`
	}
	return at, text, liquid == 0
}
