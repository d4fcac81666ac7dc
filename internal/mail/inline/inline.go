// Package inline moves the rules of style elements into style attributes, for
// mail programs that read only those.
//
// The document itself is never parsed and printed again: elements are found in
// it, go-premailer says which rules each of them gets, and what changes is written
// into their start tags and into the style elements. Everything else stays as it
// was, byte for byte: Liquid wherever it stands, conditional comments, the
// doctype, entities, white space.
//
// What moves are rules whose selectors can be answered from the document: types,
// classes, ids, attributes, descendants, children, neighbours. They are written
// in the order of the cascade, before what the attribute holds already, and
// important ones after it. What stays in the style element:
//
//   - at-rules, and rules inside @media and its like. These are made important,
//     or the attributes would overrule them;
//   - pseudo-classes and pseudo-elements. Those that answer a hand (:hover,
//     :focus, :active, :checked) are made important, too;
//   - rules that match nothing, for mail programs have elements and classes of
//     their own (.ExternalClass, [data-ogsc]);
//   - rules with * as their last part: a reset must not beat what is inlined;
//   - rules between Liquid tags, made important, and rules with tags in them;
//   - rules that elements in conditional comments may need, or elements whose
//     class or attributes depend on Liquid. The latter are not touched.
//
// Selectors see a document in which every branch of the Liquid stands and every
// loop turns once. Where Liquid tags are, rules that count or look at neighbours
// therefore stay where they are.
package inline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"packetboat/internal/mail/links"
)

// ErrLimit says that a document is larger, deeper or more complicated than what
// is inlined; the text around it says what to do.
var ErrLimit = errors.New("the CSS cannot be inlined")

const (
	maxBytes     = 5 << 20 // of the document, and again of what is added
	maxDepth     = 500     // of elements within each other
	maxSelectors = 5_000   // of all style elements
	maxWork      = 2 << 20 // see afford
)

// CSS returns src with the rules of its style elements written into the style
// attributes of the elements that they match. A document without rules is
// returned as it is. The error wraps ErrLimit.
func CSS(src string) (string, error) {
	if len(src) > maxBytes {
		return "", fmt.Errorf("%w: the HTML is larger than 5 MB; shorten it, or turn inline_css off", ErrLimit)
	}
	spans := links.Spans(src)
	p := &page{src: src, masked: links.Mask(src), spans: spans}
	if err := p.read(); err != nil {
		return "", err
	}
	var rules []*rule
	for _, s := range p.sheets {
		rules = append(rules, p.rules(s)...)
	}
	if len(rules) == 0 {
		return src, nil
	}
	selectors, err := p.candidates(rules)
	if err != nil {
		return "", err
	}
	if err := p.match(selectors); err != nil {
		return "", err
	}
	if err := p.writeAttributes(); err != nil {
		return "", err
	}
	for _, s := range p.sheets {
		p.writeSheet(s, rules)
	}
	return p.edited(), nil
}

// candidates returns the selectors that may be inlined.
func (p *page) candidates(rules []*rule) ([]*selector, error) {
	tags := p.hasTags()
	var out []*selector
	n := 0
	for _, r := range rules {
		if n += len(r.selectors); n > maxSelectors {
			return nil, fmt.Errorf("%w: there are more than %d selectors; remove unused rules, or turn inline_css off", ErrLimit, maxSelectors)
		}
		if r.conditional || r.hasTags || len(r.declarations) == 0 {
			continue
		}
		for _, s := range r.selectors {
			if s.state != movable || s.counts && tags {
				continue
			}
			s.rule, s.order = r, len(out)
			out = append(out, s)
		}
	}
	return out, nil
}

// hasTags reports whether Liquid tags stand anywhere.
func (p *page) hasTags() bool {
	for _, s := range p.spans {
		if !s.Output {
			return true
		}
	}
	return false
}

// change replaces src[start:end].
type change struct {
	start, end int
	text       string
}

// edited returns the document with the changes made.
func (p *page) edited() string {
	slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	last := 0
	for _, c := range p.changes {
		if c.start < last {
			continue // within something that is gone already
		}
		b.WriteString(p.src[last:c.start])
		b.WriteString(c.text)
		last = c.end
	}
	b.WriteString(p.src[last:])
	return b.String()
}
