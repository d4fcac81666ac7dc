package mjml

import (
	"slices"
	"strings"
)

// head is the structure of a document's head, as offsets in the source.
type head struct {
	root     int    // after the start tag of the root
	open     int    // after the start tag of the first mj-head
	empty    [2]int // the first mj-head, if it is a single tag: <mj-head />
	previews [][2]int
}

// noteElement stores an element whose start tag is at the position at and which ends at the scanner's
// position.
func (h *head) noteElement(i *inspector, name string, at int, closed bool) {
	switch {
	case name == "mjml":
		h.root = i.pos
	case name == "mj-head" && len(i.open) == 1 && h.open == 0:
		h.open = i.pos
		if closed {
			h.empty = [2]int{at, i.pos}
		}
	case name == "mj-preview" && len(i.open) == 2 && i.innermost() == "mj-head":
		h.previews = append(h.previews, [2]int{at, i.pos})
	}
}

// WithPreview returns a document with the given HTML in mj-preview, which it adds or replaces. A
// source that is not an MJML document is returned unchanged; Compile reports the errors.
func WithPreview(source, html string) string {
	i, err := inspect(source, false)
	if err != nil {
		return source
	}
	element := "<mj-preview>" + html + "</mj-preview>"
	h := i.head
	switch {
	case h.open == 0:
		return source[:h.root] + "<mj-head>" + element + "</mj-head>" + source[h.root:]
	case h.empty[1] > 0:
		return source[:h.empty[0]] + "<mj-head>" + element + "</mj-head>" + source[h.empty[1]:]
	case len(h.previews) == 0:
		return source[:h.open] + element + source[h.open:]
	}
	slices.Reverse(h.previews) // the compiler shows the last one, so all are removed
	for n, p := range h.previews {
		put := strings.Repeat("\n", strings.Count(source[p[0]:p[1]], "\n")) // keeps the numbers of lines
		if n == len(h.previews)-1 {
			put = element + put
		}
		source = source[:p[0]] + put + source[p[1]:]
	}
	return source
}
