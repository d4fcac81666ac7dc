// Package inline moves the rules of style elements into style attributes, for
// mail programs that read only those.
//
// The library premailer decides which elements a selector means and which rule
// wins. It prints a document anew, though, knows no Liquid, and what it leaves in
// the style element it drops or breaks. So it is given a copy: the tags alone,
// numbered, and one rule for each selector, with names in place of values. What it
// puts into the copy's style attributes is written into the start tags of the
// document. Everything else stays as it was, byte for byte: Liquid wherever it
// stands, conditional comments, the doctype, entities, white space. An element
// that the HTML parser drops is left alone.
//
// A style attribute that is there already keeps its text. It stands behind what is
// inlined, but before what is important. What stays in the style element:
//
//   - at-rules. Rules inside @media and its like are made important, or the
//     attributes would overrule them; so are rules between Liquid tags, and those
//     that answer a hand (:hover, :focus, :active, :checked);
//   - rules that match nothing, for mail programs have elements and classes of
//     their own (.ExternalClass, [data-ogsc]), and what premailer cannot move
//     (::before, :visited, [class*=…]);
//   - rules with *: a reset must not beat what is inlined;
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
//
// Premailer is not exact about specificity: one class weighs more than any number
// of attributes, and pseudo-classes weigh nothing.
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
	maxWork      = 64 << 20 // comparisons of a part of a selector with an element: see price
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
	work := maxWork - 100*len(t.elements) // for parsing and printing them
	for _, s := range selectors {
		if work -= t.price(s, work); work < 0 {
			return "", fmt.Errorf("%w: its selectors would be compared with its elements too many times; use fewer and simpler ones, or turn inline_css off", ErrLimit)
		}
		s.stays = p.needed(s)
	}
	styles, err := t.transform(selectors)
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
