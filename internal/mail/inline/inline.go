// Package inline moves the rules of style elements into style attributes, for mail programs that support
// only those.
//
// It matches selectors against a tree of the document's tags, and decides which declaration wins as in
// CSS Cascading and Inheritance Level 4, section 6.1: by importance, style attribute, specificity
// (Selectors Level 4, section 17) and order. The winning declarations are written into the start tags of
// the document. All other bytes stay unchanged: Liquid, conditional comments, the doctype, entities,
// white space. An element that the HTML parser drops is not changed.
//
// An existing style attribute keeps its text. It follows the inlined declarations, but precedes the
// important ones. These stay in the style element:
//
//   - at-rules. Declarations inside @media and the like become important where they won against those
//     that are in attributes now; so do those between Liquid tags, and those that depend on interaction
//     (:hover, :focus, :active, :checked). See settle for those that lost;
//   - rules that match nothing, since mail programs add elements and classes (.ExternalClass,
//     [data-ogsc]), and those that an attribute cannot express (::before, :visited);
//   - rules with * and :root: a reset must not take precedence over inlined declarations;
//   - rules that may apply to elements in conditional comments, or to elements whose class or
//     attributes depend on Liquid. The latter are not changed.
//
// Style elements with data-embed or data-premailer, those in conditional comments, and rules that
// contain Liquid tags are not changed. Liquid outputs are allowed in values.
//
// Selectors are matched against a document with every branch of the Liquid, and one iteration of every
// loop. Therefore rules that count or test siblings are not moved if there are Liquid tags.
package inline

import (
	"errors"
	"fmt"
)

// ErrLimit means that a document is larger, deeper or more complicated than allowed; the error that
// wraps it says what to change.
var ErrLimit = errors.New("the CSS cannot be inlined")

const (
	maxBytes     = 5 << 20  // of the document, and of what is added
	maxSelectors = 5_000    // of all style elements
	maxWork      = 64 << 20 // comparisons of a part of a selector with an element, weighted by part.price
)

// CSS returns src with the rules of its style elements written into the style attributes of the elements
// that they match. A document without rules is returned unchanged. The error wraps ErrLimit.
func CSS(src string) (string, error) {
	if len(src) > maxBytes {
		return "", fmt.Errorf("%w: the HTML is larger than 5 MB; shorten it, or turn inline_css off", ErrLimit)
	}
	p := readPage(src)
	var selectors []*selector
	order := 0
	for i := range p.sheets {
		if err := p.readRules(&p.sheets[i]); err != nil {
			return "", err
		}
		for _, r := range p.sheets[i].rules {
			r.order = order
			order++
			for _, s := range r.selectors {
				if p.isMovable(s) {
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
		s.neededByOthers = p.isNeeded(s, &t.budget)
	}
	styles, err := t.cascade(selectors)
	if err != nil {
		return "", err
	}
	if err := p.settle(t, styles); err != nil {
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
