package inline

import (
	"slices"
	"strings"
)

// passes reports whether an element passes a test.
func (p *page) passes(e *element, t test) bool {
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

func compare(value string, t test) bool {
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
