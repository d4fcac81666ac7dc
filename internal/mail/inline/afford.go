package inline

import "fmt"

// afford reports whether the selectors can be compared with the elements within
// bounds. Every selector is compared with every element, which is quick; where
// its last part fits, with the elements around that one, again for each of them
// that the part before fits, and so on; and where all fits, its rule is written.
func (p *page) afford(selectors []*selector) error {
	work := len(selectors) * len(p.elements) / 8
	for _, s := range selectors {
		last := &s.parts[len(s.parts)-1]
		ways := len(p.byName[p.rarest(last)])
		if p.rarest(last) == "" {
			ways = len(p.elements)
		}
		work += ways * (1 + (s.rule.end-s.rule.start)/64) // what will be written
		for i := len(s.parts) - 1; i > 0 && work <= maxWork; i-- {
			switch s.parts[i].joint {
			case ' ':
				// To look at all around costs for each that was reached before.
				work += ways * p.depth
				ways *= p.nested(&s.parts[i-1])
			case '~':
				work += ways * p.breadth
				ways *= min(p.breadth, p.count(&s.parts[i-1]))
			}
			work += ways
		}
		if work > maxWork {
			return fmt.Errorf("%w: there are too many selectors for so many elements; use fewer and simpler ones, or turn inline_css off", ErrLimit)
		}
	}
	return nil
}

// rarest returns the name in a part that the fewest elements have; nothing for a
// part without names.
func (p *page) rarest(q *part) string {
	best := q.name
	try := func(name string) {
		if best == "" || len(p.byName[name]) < len(p.byName[best]) {
			best = name
		}
	}
	for _, c := range q.classes {
		try("." + c)
	}
	if q.id != "" {
		try("#" + q.id)
	}
	return best
}

// count returns how many elements a part may fit.
func (p *page) count(q *part) int {
	if name := p.rarest(q); name != "" {
		return len(p.byName[name])
	}
	return len(p.elements)
}

// nested returns how many elements within each other a part may fit.
func (p *page) nested(q *part) int {
	best := p.depth
	if q.name != "" {
		best = min(best, p.deepest[q.name])
	}
	for _, c := range q.classes {
		best = min(best, p.deepest["."+c])
	}
	if q.id != "" {
		best = min(best, p.deepest["#"+q.id])
	}
	return best
}
