package inline

import "slices"

// cascade returns the declarations that apply to each tag, by its number, in ascending precedence: by
// importance, then by specificity of the selector, then by order (CSS Cascading and Inheritance Level 4,
// section 6.1; all rules are the author's). It also sets which selectors matched and which must stay.
func (t *tree) cascade(selectors []*selector) (map[int][]value, error) {
	sorted := slices.Clone(selectors) // from the order of the document
	slices.SortStableFunc(sorted, func(a, b *selector) int {
		return slices.Compare(a.specificity[:], b.specificity[:])
	})
	for n, s := range sorted {
		for _, i := range t.matches(s) {
			e := &t.elements[i]
			e.rules = append(e.rules, int32(n))
			s.matched = true
			s.neededByOthers = s.neededByOthers || e.tag < 0
		}
		if t.budget < 0 {
			return nil, tooManyComparisons()
		}
	}
	styles := map[int][]value{}
	for i := range t.elements {
		if e := &t.elements[i]; e.tag >= 0 && len(e.rules) > 0 {
			styles[e.tag] = winners(sorted, e.rules)
		}
	}
	return styles, nil
}

// winners returns the declarations of each property that win, given rules in ascending precedence, in
// the order of the winning declarations.
func winners(sorted []*selector, rules []int32) []value {
	var all []value
	for _, important := range []bool{false, true} {
		for _, n := range rules {
			for _, v := range sorted[n].rule.values {
				if v.important == important {
					v.by = sorted[n]
					all = append(all, v)
				}
			}
		}
	}
	seen := make(map[string]bool, len(all))
	kept := len(all)
	for _, v := range slices.Backward(all) {
		if !seen[v.property] {
			seen[v.property] = true
			kept--
			all[kept] = v
		}
	}
	return all[kept:]
}

// matches returns the indexes of the elements that a selector matches. It reads all elements once for
// each compound selector, from left to right, and keeps which of them the selector matches so far. So it
// never backtracks, and the work is at most the number of elements times the number of parts.
func (t *tree) matches(s *selector) []int32 {
	t.budget -= 300 // for reading the rule
	t.found = t.found[:0]
	var last, above []bool // elements that the parts so far match; those with such an element before them
	for n := range s.parts {
		q := &s.parts[n]
		out := make([]bool, len(t.elements))
		if n > 0 {
			above = t.matchingElements(q.combinator, last)
		}
		for i := 1; i < len(out); i++ {
			if n > 0 && !above[i] {
				continue
			}
			e := &t.elements[i]
			if t.budget -= q.maxCost(e); t.budget < 0 {
				return nil
			}
			out[i] = q.match.Match(e.node)
		}
		last = out
	}
	cost := 20 * (1 + len(s.rule.values))
	for i, matched := range last {
		if matched {
			t.found = append(t.found, int32(i))
			t.budget -= cost
		}
	}
	return t.found
}

// matchingElements returns which elements are related by the combinator to one of the given elements.
func (t *tree) matchingElements(combinator byte, given []bool) []bool {
	t.budget -= len(t.elements) / 8
	out := make([]bool, len(t.elements))
	for i := 1; i < len(out); i++ {
		from := t.elements[i].parent
		if combinator == '+' || combinator == '~' {
			from = t.elements[i].previous
		}
		out[i] = given[from]
		if combinator == ' ' || combinator == '~' {
			out[i] = out[i] || out[from]
		}
	}
	return out
}
