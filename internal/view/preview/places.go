package preview

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/mark"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// Place is an element of the HTML with marks. The zero value is none.
type Place struct {
	Mark int // 1 + the mark
	Row  int // which of the elements with this mark it is, from 0
}

// Named is where Liquid names something. The zero value is nowhere that is known.
type Named struct {
	Field string
	Line  int
	Place Place
}

// body is the source of the HTML, in which troubles have their places.
type body struct {
	text   string
	filled bool            // it was made from a template, whose elements the marks are
	marked *content.Marked // the same with marks; nil: without
	units  mark.UTF16
	starts []int   // of the start tags of what is filled
	places []Place // of the same
}

func bodyOf(mjml, html *string, isMJML bool) body {
	text := optional.Value(html)
	if isMJML {
		text = optional.Value(mjml)
	}
	return body{text: text, units: mark.UTF16{Text: text}}
}

// placeAt returns the place of an element whose offset in the body is at - 1.
func (w *work) placeAt(at int) Place {
	b := &w.body
	switch {
	case !w.marks || at == 0 || at > len(b.text):
		return Place{}
	case !b.filled:
		return Place{Mark: 1 + b.units.At(at-1)}
	case b.marked == nil:
		return Place{}
	}
	if b.places == nil {
		b.places = placesIn(b.marked)
		for t := range markup.New(b.text, markup.Syntax{}).All() {
			if t.Kind == markup.StartTag {
				b.starts = append(b.starts, t.Start)
			}
		}
	}
	n, _ := slices.BinarySearch(b.starts, at)
	if n == 0 || len(b.starts) != len(b.places) {
		return Place{}
	}
	return b.places[n-1]
}

// placesIn returns the places of the start tags of a body with marks or labels: its own, or that of the last
// tag before it that has one.
func placesIn(m *content.Marked) []Place {
	source := m.Labelled
	if source == "" {
		source = m.HTML
	}
	places := []Place{}
	rows := map[int]int{}
	last := Place{}
	for t := range markup.New(source, markup.Syntax{}).All() {
		if t.Kind != markup.StartTag {
			continue
		}
		if n, ok := numberBehind(source[t.Start:t.End], m.Marker.Word()); ok {
			last = Place{Mark: 1 + n, Row: rows[n]}
			rows[n]++
		}
		places = append(places, last)
	}
	return places
}

// numberBehind returns the number of the mark or the label in a start tag.
func numberBehind(tag, word string) (n int, ok bool) {
	_, rest, found := strings.Cut(tag, word)
	if !found {
		return 0, false
	}
	for _, c := range []byte(strings.TrimLeft(rest, `-="`)) {
		if c < '0' || c > '9' || n > 1<<30 {
			break
		}
		n, ok = 10*n+int(c-'0'), true
	}
	return n, ok
}

// named returns where each of some paths is named first.
func (w *work) named(paths []string) []Named {
	list := make([]Named, len(paths))
	inBody := content.Named(w.body.text)
	others := []struct {
		part string
		in   func(path string) int
	}{
		{subject, content.Named(w.source.Subject)}, {pretext, content.Named(w.source.Preheader)},
		{fromName, content.Named(w.source.FromName)}, {textBody, content.Named(w.source.Text)},
	}
	for i, path := range paths {
		if at := inBody(path); at >= 0 {
			list[i] = Named{w.authored[htmlBody].field, strings.Count(w.body.text[:at], "\n") + 1, w.placeAt(1 + max(0, strings.LastIndexByte(w.body.text[:at], '<')))}
			continue
		}
		for _, o := range others {
			if o.in(path) >= 0 {
				list[i] = Named{Field: w.authored[o.part].field}
				break
			}
		}
	}
	return list
}
