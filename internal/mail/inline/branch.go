package inline

import (
	"cmp"
	"slices"
	"strings"

	"packetboat/internal/mail/links"
)

// branches knows which places of a text Liquid tags decide about.
type branches struct {
	tags  []links.Span
	depth []int // of blocks, behind each tag
}

// newBranches looks at the Liquid of a text.
func newBranches(spans []links.Span, src string) branches {
	var b branches
	depth := 0
	for _, s := range spans {
		if s.Output {
			continue
		}
		name := strings.TrimLeft(src[s.Start+2:s.End-2], "- \t\r\n\f\v\u00a0")
		switch {
		case strings.HasPrefix(name, "end"):
			depth = max(depth-1, 0)
		case strings.HasPrefix(name, "if"), strings.HasPrefix(name, "unless"), strings.HasPrefix(name, "case"),
			strings.HasPrefix(name, "for"), strings.HasPrefix(name, "capture"):
			depth++
		case strings.HasPrefix(name, "raw"):
			depth++
		}
		b.tags = append(b.tags, s)
		b.depth = append(b.depth, depth)
	}
	return b
}

// inside reports whether a place stands between the tags of a block.
func (b branches) inside(at int) bool {
	i, _ := slices.BinarySearchFunc(b.tags, at, func(s links.Span, at int) int { return cmp.Compare(s.Start, at) })
	return i > 0 && b.depth[i-1] > 0
}

// any reports whether a tag begins in [start, end).
func (b branches) any(start, end int) bool {
	i, _ := slices.BinarySearchFunc(b.tags, start, func(s links.Span, at int) int { return cmp.Compare(s.Start, at) })
	return i < len(b.tags) && b.tags[i].Start < end
}

// inTag reports whether a place lies in a Liquid tag.
func (p *page) inTag(at int) bool {
	i, found := slices.BinarySearchFunc(p.spans, at, func(s links.Span, at int) int { return cmp.Compare(s.Start, at) })
	if !found {
		i--
	}
	return i >= 0 && at < p.spans[i].End && !p.spans[i].Output
}
