package textpart

import (
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// widthOfOutput returns the assumed number of columns of a Liquid output. Addresses get a line of their
// own.
func widthOfOutput(piece string) int {
	if strings.Contains(piece, "_url") {
		return textWidth
	}
	return outputWidth
}

// isLoop reports whether a Liquid tag opens (+1) or closes (-1) a loop.
func isLoop(tag string) int {
	switch markup.TagName(tag) {
	case "for", "tablerow":
		return 1
	case "endfor", "endtablerow":
		return -1
	}
	return 0
}

// attribute returns the decoded value of an attribute of a tag.
func (t *textMaker) attribute(tag, name string) string {
	if t.rendered {
		return markup.LookupRendered(tag, name)
	}
	return attribute(tag, name)
}

// attribute returns the decoded value of an attribute. Only Liquid in the source of the tag is Liquid in
// the value.
func attribute(tag, name string) string {
	value := markup.Lookup(tag, name)
	if !strings.Contains(value, "{") {
		return value
	}
	written := map[string]bool{}
	for _, p := range markup.Spans(tag) {
		written[tag[p.Start:p.End]] = true
	}
	var b strings.Builder
	last := 0
	for _, p := range markup.Spans(value) {
		if piece := value[p.Start:p.End]; written[piece] {
			b.WriteString(literal(value[last:p.Start]) + piece)
			last = p.End
		}
	}
	b.WriteString(literal(value[last:]))
	return b.String()
}
