package inline

import (
	"fmt"
	"slices"
	"strings"
)

// match finds the elements of each selector.
func (p *page) match(selectors []*selector) error {
	work := maxWork
	for _, s := range selectors {
		last := &s.parts[len(s.parts)-1]
		for _, at := range p.withKey(last) {
			ok := p.matches(s.parts, at, &work)
			if work < 0 {
				return fmt.Errorf("%w: its selectors would be compared with its elements more than ten million times; use fewer and simpler ones, or turn inline_css off", ErrLimit)
			}
			if e := &p.elements[at]; ok && !isUnseen(e.name) {
				s.matched = true
				if !e.doubtful {
					e.matched = append(e.matched, s)
				}
			}
		}
	}
	return nil
}

// withKey returns the elements that may match a part.
func (p *page) withKey(q *part) []int32 {
	if q.id != "" {
		return p.byName["#"+q.id]
	}
	var best []int32
	for i, c := range q.classes {
		if list := p.byName["."+c]; i == 0 || len(list) < len(best) {
			best = list
		}
	}
	if len(q.classes) > 0 {
		return best
	}
	if q.name != "" {
		return p.byName[q.name]
	}
	all := make([]int32, len(p.elements)-1)
	for i := range all {
		all[i] = int32(i + 1)
	}
	return all
}

// isUnseen reports whether an element is not part of what is shown.
func isUnseen(name string) bool {
	switch name {
	case "head", "title", "meta", "link", "style", "script", "base", "template", "noscript":
		return true
	}
	return false
}

// matches reports whether the element at is what the parts select. Work is what
// may still be compared; the result means nothing when it is below zero.
func (p *page) matches(parts []part, at int32, work *int) bool {
	n := len(parts) - 1
	e := &p.elements[at]
	if *work -= 1 + len(parts[n].tests)*(1+len(e.attributes)); *work < 0 || !p.is(e, &parts[n]) {
		return false
	}
	if n == 0 {
		return true
	}
	switch parts[n].joint {
	case '>':
		return e.parent > 0 && p.matches(parts[:n], e.parent, work)
	case '+':
		return e.previous > 0 && p.matches(parts[:n], e.previous, work)
	case '~':
		for i := e.previous; i > 0 && *work >= 0; i = p.elements[i].previous {
			if p.matches(parts[:n], i, work) {
				return true
			}
		}
		return false
	}
	for i := e.parent; i > 0 && *work >= 0; i = p.elements[i].parent {
		if p.matches(parts[:n], i, work) {
			return true
		}
	}
	return false
}

// is reports whether an element is what one part says.
func (p *page) is(e *element, q *part) bool {
	if q.name != "" && q.name != e.name || q.id != "" && q.id != e.id {
		return false
	}
	for _, c := range q.classes {
		if _, ok := slices.BinarySearch(e.classes, c); !ok {
			return false
		}
	}
	for i := range q.tests {
		if !p.passes(e, &q.tests[i]) {
			return false
		}
	}
	return true
}

// passes reports whether an element passes a test.
func (p *page) passes(e *element, t *test) bool {
	siblings := p.elements[e.parent].children
	switch t.position {
	case "first-child":
		return e.nth == 1
	case "last-child":
		return e.nth == siblings
	case "only-child":
		return siblings == 1
	case "odd":
		return e.nth%2 == 1
	case "even":
		return e.nth%2 == 0
	}
	for _, a := range e.attributes {
		if a.name != t.attribute || a.maybe {
			continue
		}
		if t.operator == 0 {
			return true
		}
		if len(p.spansIn(a.start, a.end)) > 0 {
			return false // nobody knows yet
		}
		return compare(unescape(p.src[a.start:a.end]), t)
	}
	return false
}

func compare(value string, t *test) bool {
	want := t.value
	if t.fold {
		value, want = strings.ToLower(value), strings.ToLower(want)
	}
	switch t.operator {
	case '=':
		return value == want
	case '~':
		return want != "" && slices.Contains(strings.Fields(value), want)
	case '|':
		return value == want || strings.HasPrefix(value, want+"-")
	case '^':
		return want != "" && strings.HasPrefix(value, want)
	case '$':
		return want != "" && strings.HasSuffix(value, want)
	}
	return want != "" && strings.Contains(value, want)
}
