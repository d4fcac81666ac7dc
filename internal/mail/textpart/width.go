package textpart

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// edge is what a character means for the end of a line beside it.
type edge struct {
	width  int  // columns
	ideal  bool // an ideograph, a kana or an emoji: lines may end on either side
	joins  bool // it belongs to the character before it
	joiner bool // the next character belongs to it
	opens  bool // no line ends in it
	closes bool // no line starts with it
}

const (
	closing = "、。，．・：；？！）」』】〕〉》］｝’”…‥ー々ゝゞ゛゜％ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ)!,.:;?]}'\"%"
	opening = "（「『【〔〈《［｛‘“([{$¥￥£"
)

// edgeOf returns what is known of a character alone.
func edgeOf(r rune) edge {
	if r < 0x80 {
		return asciiEdges[r]
	}
	e := edge{opens: strings.ContainsRune(opening, r), closes: strings.ContainsRune(closing, r)}
	e.width, e.joiner = columns(r), r == '\u200d'
	if 0x1f3fb <= r && r <= 0x1f3ff { // skin tones
		e.width = 0
	}
	e.joins = e.width == 0
	e.ideal = e.width == 2 && !unicode.Is(unicode.Hangul, r)
	return e
}

// asciiEdges are the edges of the characters of ASCII.
var asciiEdges = func() (edges [0x80]edge) {
	for r := range rune(len(edges)) {
		edges[r] = edge{width: 1, opens: strings.ContainsRune(opening, r), closes: strings.ContainsRune(closing, r)}
	}
	return edges
}()

// breaks reports whether a line may end between a character and the next one,
// where no space is.
func (e edge) breaks(next edge) bool {
	return (e.ideal || next.ideal) && e.width > 0 && !e.joiner && !next.joins && !e.opens && !next.closes
}

// then returns the edge behind a further character.
func (e edge) then(next edge) edge {
	if next.joins && e.width > 0 {
		e.joiner = next.joiner
		return e
	}
	return next
}

// columns returns how many columns of a fixed grid a character takes.
func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// widthOf returns how many columns a text takes.
func widthOf(s string) int {
	n := 0
	for _, r := range s {
		if r < 0x80 {
			n++
		} else {
			n += edgeOf(r).width
		}
	}
	return n
}

// isPadding reports whether a character is one of those that are not visible and
// that only fill previews, or mark where words may be divided.
func isPadding(r rune) bool {
	switch r {
	case '\u00ad', '\u034f', '\u180e', '\u2060', '\u2061', '\u2062', '\u2063', '\u2064', '\ufeff':
		return true
	}
	return false
}
