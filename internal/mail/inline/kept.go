package inline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
)

// A declaration that stays in a style element competes with style attributes: it loses to them, unless it
// is important. So that the same declaration wins as before, it becomes important where it won, and the
// one in the attribute does where that won against an important one. Where these decisions contradict each
// other, the rules of the property that compete are not inlined.

// keptRule is a rule that stays for some media, some recipients or during interaction.
type keptRule struct {
	*rule
	weights map[int32]cascadia.Specificity // of the selector that matches an element best
}

// candidate is a declaration of a keptRule.
type candidate struct {
	*keptRule
	number   int  // of the declaration in the rule
	required bool // it wins against an inlined declaration, so it has to become important
	promoted bool // it becomes important
}

func (c *candidate) declaration() *declaration { return &c.declarations[c.number] }

// important reports whether the declaration is important in the outcome.
func (c *candidate) important() bool { return c.promoted || c.declaration().important }

// attribute is what a style attribute will say of a property.
type attribute struct {
	property  string
	important bool // as the author wrote it
	by        *selector
	tag       int
}

// beats reports whether the candidate wins against an inlined declaration, or one that its author wrote into
// the attribute, as the document was written.
func (c *candidate) beats(e int32, a attribute) bool {
	d := c.declaration()
	if a.by == nil || d.important != a.important {
		return d.important && !a.important
	}
	weight := c.weights[e]
	if n := slices.Compare(weight[:], a.by.specificity[:]); n != 0 {
		return n > 0
	}
	return c.order > a.by.rule.order
}

// precedes compares two candidates for an element; important says which are.
func precedes(e int32, a, b *candidate, important func(*candidate) bool) int {
	level := func(c *candidate) int {
		if important(c) {
			return 1
		}
		return 0
	}
	x, y := a.weights[e], b.weights[e]
	return cmp.Or(cmp.Compare(level(a), level(b)), slices.Compare(x[:], y[:]), cmp.Compare(a.order, b.order), cmp.Compare(a.number, b.number))
}

// settle decides, for all kept rules, which declarations become important, and for all inlined declarations
// whether they do, or stay in their rules.
func (p *page) settle(t *tree, styles map[int][]value) error {
	families := map[string][]*candidate{}
	for _, r := range p.keptRules(t) {
		for i := range r.declarations {
			c := &candidate{keptRule: r, number: i}
			f := family(c.declaration().property)
			families[f] = append(families[f], c)
		}
	}
	if t.budget < 0 {
		return tooManyComparisons()
	}
	for name, list := range families {
		consistent := p.settleFamily(t, styles, list)
		if t.budget < 0 {
			return tooManyComparisons()
		}
		if !consistent {
			p.leave(t, styles, name, list)
		}
		for _, c := range list {
			c.rule.promoted[c.number] = c.promoted && consistent
		}
	}
	return nil
}

// leave keeps the declarations of a family in the inlined rules that compete with candidates.
func (p *page) leave(t *tree, styles map[int][]value, name string, list []*candidate) {
	for _, c := range list {
		for e := range c.weights {
			for _, v := range styles[t.elements[e].tag] {
				if family(v.property) == name {
					if p.left[v.by.rule] == nil {
						p.left[v.by.rule] = map[string]bool{}
					}
					p.left[v.by.rule][name] = true
				}
			}
		}
	}
}

// isLeft reports whether a property of a rule is not inlined.
func (p *page) isLeft(r *rule, property string) bool { return p.left[r][family(property)] }

func tooManyComparisons() error {
	return fmt.Errorf("%w: its selectors would be compared with its elements too many times; use fewer and simpler ones, or turn inline_css off", ErrLimit)
}

// keptRules returns the rules that stay and can become important, with the elements that they match. Those
// that cannot be compared with elements become important.
func (p *page) keptRules(t *tree) []*keptRule {
	var kept []*keptRule
	for i := range p.sheets {
		for _, r := range p.sheets[i].rules {
			r.promoted = make([]bool, len(r.declarations))
			for n := range r.promoted {
				r.promoted[n] = true
			}
			k := &keptRule{rule: r, weights: map[int32]cascadia.Specificity{}}
			for _, s := range r.selectors {
				if text := p.Source[s.start:s.end]; r.conditional || interactive.MatchString(text) {
					k.match(t, s, text)
				}
			}
			if len(k.weights) > 0 {
				kept = append(kept, k)
			}
		}
	}
	return kept
}

// match adds the elements that a selector matches, in whatever state they are.
func (k *keptRule) match(t *tree, s *selector, text string) {
	at := *s
	if states := interactive.FindAllString(text, -1); len(at.parts) == 0 && len(states) > 0 {
		at.read(interactive.ReplaceAllString(text, ""))
		at.specificity = at.specificity.Add(cascadia.Specificity{0, len(states), 0})
	}
	if len(at.parts) == 0 {
		return
	}
	for _, e := range t.matches(&at) {
		if old, ok := k.weights[e]; !ok || old.Less(at.specificity) {
			k.weights[e] = at.specificity
		}
	}
}

// settleFamily decides for the declarations of properties that depend on each other. It returns false if
// there is no consistent decision.
func (p *page) settleFamily(t *tree, styles map[int][]value, list []*candidate) bool {
	byElement := map[int32][]*candidate{}
	for _, c := range list {
		for e := range c.weights {
			byElement[e] = append(byElement[e], c)
		}
	}
	attributes := map[int32][]attribute{}
	loses := map[*candidate]bool{}
	for e, of := range byElement {
		attributes[e] = p.attributesOf(&t.elements[e], styles)
		t.budget -= len(of) * (len(of) + len(attributes[e]))
		for _, c := range of {
			for _, a := range attributes[e] {
				if overlap(c.declaration().property, a.property) && !c.declaration().important {
					won := c.beats(e, a)
					c.required, loses[c] = c.required || won, loses[c] || !won
				}
			}
		}
	}
	if t.budget < 0 {
		return false
	}
	for _, c := range list {
		c.promoted = !c.declaration().important && (c.required || !loses[c])
	}
	return p.keepOrder(byElement) && p.raise(byElement, attributes)
}

// keepOrder takes back promotions that would change which of two kept rules wins, and reports whether no
// other one does.
func (p *page) keepOrder(byElement map[int32][]*candidate) bool {
	written := func(c *candidate) bool { return c.declaration().important }
	for changed := true; changed; {
		changed = false
		for e, of := range byElement {
			for i, a := range of {
				for _, b := range of[:i] {
					if !overlap(a.declaration().property, b.declaration().property) || precedes(e, a, b, written) == precedes(e, a, b, (*candidate).important) {
						continue
					}
					wrong := a // the one that was made stronger than the other
					if precedes(e, a, b, (*candidate).important) < 0 {
						wrong = b
					}
					if !wrong.promoted || wrong.required {
						return false
					}
					wrong.promoted, changed = false, true
				}
			}
		}
	}
	return true
}

// raise makes inlined declarations important that won against those that are important now, and reports
// whether all others still win.
func (p *page) raise(byElement map[int32][]*candidate, attributes map[int32][]attribute) bool {
	type key struct {
		tag      int
		property string
	}
	var raised []key
	for e, of := range byElement {
		for _, a := range attributes[e] {
			must, mustNot := false, false
			for _, c := range of {
				if !c.important() || !overlap(c.declaration().property, a.property) {
					continue
				}
				won := c.beats(e, a)
				must, mustNot = must || !won, mustNot || won
			}
			switch {
			case !must:
			case mustNot:
				return false
			case a.by == nil && a.important: // already
			default:
				raised = append(raised, key{a.tag, a.property})
			}
		}
	}
	for _, k := range raised {
		if p.raised[k.tag] == nil {
			p.raised[k.tag] = map[string]bool{}
		}
		p.raised[k.tag][k.property] = true
	}
	return true
}

// attributesOf returns what the style attribute of an element will say.
func (p *page) attributesOf(e *element, styles map[int][]value) []attribute {
	if e.tag < 0 || p.tags[e.tag].liquidAttributes {
		return nil
	}
	var list []attribute
	own := p.own(&p.tags[e.tag])
	for property, important := range own {
		list = append(list, attribute{property: property, important: important, tag: e.tag})
	}
	for _, v := range styles[e.tag] {
		if important, found := own[v.property]; !found || !important && v.important {
			list = append(list, attribute{v.property, v.important, v.by, e.tag})
		}
	}
	return list
}

// own returns the properties in the style attribute that an author wrote, and whether they are important.
func (p *page) own(t *tag) map[string]bool {
	own := map[string]bool{}
	if a := t.style; a != nil && !p.hasTags(a.Start, a.End) {
		for _, d := range p.declarations(a.Start, a.End) {
			own[d.property] = d.important
		}
	}
	return own
}

// shorthands are properties that set others, whose names begin with theirs.
var shorthands = []string{"margin", "padding", "border", "background", "font", "list-style", "text-decoration", "outline", "flex", "grid", "overflow", "columns", "column-rule", "inset", "gap"}

// family returns the name that properties have in common that may depend on each other.
func family(property string) string {
	if property == "line-height" {
		return "font" // which sets it
	}
	for _, s := range shorthands {
		if property == s || strings.HasPrefix(property, s+"-") {
			return s
		}
	}
	return property
}

// overlap reports whether two properties set something in common.
func overlap(a, b string) bool {
	switch f := family(a); {
	case f != family(b):
		return false
	case a == b, f != "border" && (a == f || b == f):
		return true
	case f != "border" || a != f && b != f && !(isEdge(a) && isEdge(b)):
		return strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-")
	case a == f || b == f:
		return isEdge(a) && isEdge(b)
	}
	return strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-") || isEdge(a) && isEdge(b) && isSide(a) != isSide(b) // border-top and border-color
}

// isEdge reports whether a property is one of the lines of a border.
func isEdge(property string) bool {
	return !strings.HasPrefix(property, "border-collapse") && !strings.HasPrefix(property, "border-spacing") && !strings.Contains(property, "radius") && !strings.HasPrefix(property, "border-image")
}

// isSide reports whether a property is of one side of a border.
func isSide(property string) bool {
	for _, side := range []string{"border-top", "border-right", "border-bottom", "border-left"} {
		if strings.HasPrefix(property, side) {
			return true
		}
	}
	return false
}
