// Package legible finds text in the HTML of a mail that has too little contrast to be read, as WCAG 2.2
// defines it (success criterion 1.4.3): 4.5 to 1, or 3 to 1 for large text.
//
// The colours are those of style attributes, of the attributes bgcolor, color, text and link, and of the rules of style
// elements, with what elements inherit. If the mail has rules for readers who prefer dark colours, their
// result is looked at as well. What cannot be known is not reported: text on a picture or a gradient, colours
// that Liquid prints or that are written in another way than as a number or a usual name, and mails whose rules
// for elements of any name, or with Liquid, set colours.
//
// HTML may contain Liquid; both branches of a condition are read. The work grows with the size of the HTML, and
// what is larger than 2 MB is not read.
package legible

import (
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/mail/inline"
)

// Finding is text in two colours that are too much alike.
type Finding struct {
	Text        string  // the first text, shortened
	Source      string  // its first line, as it stands in the HTML
	Nth         int     // of the visible texts that begin with this line, from 0
	More        int     // further texts in these colours
	Front, Back string  // as #rrggbb
	Ratio       float64 // of their contrast, to 1
	Least       float64 // what is needed
	Dark        bool    // in the colours for readers who prefer dark ones
}

// String says what is wrong, as a clause for the author.
func (f Finding) String() string {
	where := ""
	if f.Dark {
		where = "in dark colours "
	}
	more := ""
	if f.More > 0 {
		more = fmt.Sprintf(" and %d more", f.More)
	}
	return fmt.Sprintf("%sthe text %q%s is %s on %s, a contrast of %.1f to 1: at least %g is needed", where, f.Text, more, f.Front, f.Back, f.Ratio, f.Least)
}

const (
	maxBytes    = 2 << 20
	maxFindings = 50
	maxText     = 40 // characters of a finding
)

// Check returns the text in html that has too little contrast, one finding for each pair of colours.
func Check(html string) []Finding { return check(html, white) }

// CheckPart is Check for a part of a mail: what its background is where it has none of its own is not known.
func CheckPart(html string) []Finding { return check(html, unknown) }

func check(html string, ground colour) []Finding {
	if len(html) > maxBytes {
		return nil
	}
	s := schemes(html)
	if s.ruled {
		var err error
		if s.light, err = inline.CSS(s.light); err != nil || uncertain(s.light) {
			return nil // which rule applies is not known
		}
	}
	found := read(s.light, look{front: black, back: ground, size: 16}, ofLink)
	if s.dark == "" {
		return found
	}
	dark, err := inline.CSS(s.dark)
	if err != nil || uncertain(dark) {
		return found
	}
	page, link := look{front: black, back: ground, size: 16}, ofLink
	if s.adapts {
		page, link = look{size: 16}, unknown // its colours are those of the mail program
	}
	for _, f := range read(dark, page, link) {
		f.Dark = true
		if !slices.ContainsFunc(found, func(g Finding) bool { return g.Text == f.Text && g.Front == f.Front && g.Back == f.Back }) {
			found = append(found, f)
		}
	}
	return found[:min(len(found), maxFindings)]
}
