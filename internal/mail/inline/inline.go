// Package inline moves the rules of style elements into style attributes, for
// mail programs that read only those.
//
// The elements that a selector matches are looked for in a tree of the document's
// tags, and which declaration wins is decided as CSS Cascading and Inheritance
// Level 4 says in section 6.1: by importance, style attribute, specificity
// (Selectors Level 4, section 17) and order. What wins is written into the start
// tags of the document. Everything else stays as it was, byte for byte: Liquid
// wherever it stands, conditional comments, the doctype, entities, white space.
// An element that the HTML parser drops is left alone.
//
// A style attribute that is there already keeps its text. It stands behind what is
// inlined, but before what is important. What stays in the style element:
//
//   - at-rules. Rules inside @media and its like are made important, or the
//     attributes would overrule them; so are rules between Liquid tags, and those
//     that depend on what a reader does (:hover, :focus, :active, :checked);
//   - rules that match nothing, for mail programs have elements and classes of
//     their own (.ExternalClass, [data-ogsc]), and what an attribute cannot say
//     (::before, :visited);
//   - rules with * and :root: a reset must not beat what is inlined;
//   - rules that elements in conditional comments may need, or elements whose
//     class or attributes depend on Liquid. The latter are not touched.
//
// Style elements with data-embed or data-premailer, those in conditional comments,
// and rules with Liquid tags in them are not touched. Liquid outputs may stand in
// values.
//
// Selectors see a document in which every branch of the Liquid stands and every
// loop turns once. Where Liquid tags are, rules that count or look at neighbours
// therefore stay where they are.
package inline

import (
	"errors"
	"fmt"
)

// ErrLimit says that a document is larger, deeper or more complicated than what
// is inlined; the text around it says what to do.
var ErrLimit = errors.New("the CSS cannot be inlined")

const (
	maxBytes     = 5 << 20  // of the document, and again of what is added
	maxSelectors = 5_000    // of all style elements
	maxWork      = 64 << 20 // comparisons of a part of a selector with an element, weighed by part.price
)

// CSS returns src with the rules of its style elements written into the style
// attributes of the elements that they match. A document without rules is
// returned as it is. The error wraps ErrLimit.
func CSS(src string) (string, error) {
	if len(src) > maxBytes {
		return "", fmt.Errorf("%w: the HTML is larger than 5 MB; shorten it, or turn inline_css off", ErrLimit)
	}
	p := read(src)
	var selectors []*selector
	for i := range p.sheets {
		if err := p.readRules(&p.sheets[i]); err != nil {
			return "", err
		}
		for _, r := range p.sheets[i].rules {
			for _, s := range r.selectors {
				if p.movable(s) {
					selectors = append(selectors, s)
				}
			}
		}
	}
	if len(selectors) == 0 {
		return src, nil
	}
	t, err := p.parse()
	if err != nil {
		return "", err
	}
	for _, s := range selectors {
		s.stays = p.needed(s, &t.budget)
	}
	styles, err := t.cascade(selectors)
	if err != nil {
		return "", err
	}
	if err := p.writeAttributes(styles); err != nil {
		return "", err
	}
	for i := range p.sheets {
		p.writeSheet(&p.sheets[i])
	}
	return p.edited(), nil
}
