package inline

import (
	"slices"
	"strings"
)

// movability says what may become of a selector's rule.
type movability int

const (
	movable movability = iota // into attributes
	fixed                     // it stays as it is
	pressed                   // it stays, and must beat the attributes
)

// selector is one of a rule's selectors.
type selector struct {
	start, end int // its text
	state      movability
	parts      []part
	counts     bool // it counts siblings or looks at them
	weight     [3]int

	rule    *rule
	order   int
	matched bool
}

// part is a compound selector and how it is joined to the one before it.
type part struct {
	joint   byte // ' ', '>', '+' or '~'; 0 for the first
	name    string
	id      string
	classes []string
	tests   []test
}

// test is what a part asks of an element beyond its name, id and classes.
type test struct {
	attribute string // empty: the position
	operator  byte   // of an attribute: 0, '=', '~', '|', '^', '$', '*'
	value     string
	fold      bool
	position  string // first-child, last-child, only-child, odd, even
}

// readSelectors reads a list of selectors.
func readSelectors(m string, start, end int) []*selector {
	r := &reader{m: m, pos: start, end: end}
	var list []*selector
	for {
		from := r.pos
		stop := r.until(",{}")
		s := &selector{start: from, end: r.pos}
		for s.start < s.end && isSpace(m[s.start]) {
			s.start++
		}
		for s.end > s.start && isSpace(m[s.end-1]) {
			s.end--
		}
		s.read(m[s.start:s.end])
		list = append(list, s)
		if stop == 0 {
			return list
		}
		r.pos++
	}
}

// maxParts bounds how many parts a selector that is inlined has.
const maxParts = 16

// read understands text, or decides to leave the selector where it is.
func (s *selector) read(text string) {
	for i, joint := 0, byte(0); ; {
		n, ok := s.part(text[i:], joint)
		if !ok || len(s.parts) > maxParts {
			s.state = fixed
			if pressing(text) {
				s.state = pressed
			}
			return
		}
		i += n
		if i == len(text) {
			return
		}
		joint = ' '
		for i < len(text) && (isSpace(text[i]) || strings.IndexByte(">+~", text[i]) >= 0) {
			if !isSpace(text[i]) {
				if joint != ' ' {
					s.state = fixed
					return
				}
				joint = text[i]
			}
			i++
		}
		s.counts = s.counts || joint == '+' || joint == '~'
	}
}

// pressing reports whether a selector holds while a reader does something.
func pressing(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{":hover", ":active", ":focus", ":checked", ":target"},
		func(class string) bool { return strings.Contains(text, class) })
}

// part reads one compound selector and returns its length.
func (s *selector) part(text string, joint byte) (int, bool) {
	p := part{joint: joint}
	i := name(text)
	if i > 0 && (text[0] < '0' || text[0] > '9') {
		p.name = strings.ToLower(text[:i])
		s.weight[2]++
	} else if i > 0 {
		return 0, false
	}
	for i < len(text) {
		var n int
		switch text[i] {
		case '#', '.':
			n = name(text[i+1:])
			if n == 0 || text[i] == '#' && p.id != "" {
				return 0, false
			}
			value := text[i+1 : i+1+n]
			if n++; text[i] == '#' {
				p.id = value
				s.weight[0]++
			} else {
				p.classes = append(p.classes, value)
				s.weight[1]++
			}
		case '[':
			t, length, ok := attributeTest(text[i:])
			if !ok {
				return 0, false
			}
			n = length
			p.tests = append(p.tests, t)
			s.weight[1]++
		case ':':
			t, length, ok := positionTest(text[i:])
			if !ok {
				return 0, false
			}
			n = length
			p.tests = append(p.tests, t)
			s.weight[1]++
			s.counts = s.counts || t.position != ""
		default:
			if !isSpace(text[i]) && strings.IndexByte(">+~", text[i]) < 0 || i == 0 {
				return 0, false
			}
			s.parts = append(s.parts, p)
			return i, true
		}
		i += n
	}
	s.parts = append(s.parts, p)
	return i, i > 0
}

// name returns the length of the name that text starts with.
func name(text string) int {
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	return n
}

// attributeTest reads [name], [name=value] and the like.
func attributeTest(text string) (test, int, bool) {
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return test{}, 0, false
	}
	inner := strings.TrimSpace(text[1:end])
	n := name(inner)
	t := test{attribute: strings.ToLower(inner[:n])}
	rest := strings.TrimSpace(inner[n:])
	if n == 0 || rest == "" {
		return t, end + 1, n > 0
	}
	t.operator = rest[0]
	if rest[0] != '=' {
		if len(rest) < 2 || rest[1] != '=' || strings.IndexByte("~|^$*", rest[0]) < 0 {
			return t, 0, false
		}
		rest = rest[1:]
	}
	rest = strings.TrimSpace(rest[1:])
	if lower := strings.ToLower(rest); strings.HasSuffix(lower, " i") {
		t.fold, rest = true, strings.TrimSpace(rest[:len(rest)-2])
	}
	if n := len(rest); n >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest[n-1] == rest[0] {
		t.value = rest[1 : n-1]
		return t, end + 1, !strings.ContainsAny(t.value, `"'\`)
	}
	t.value = rest
	return t, end + 1, rest != "" && name(rest) == len(rest)
}

// positionTest reads the pseudo-classes that the document can answer.
func positionTest(text string) (test, int, bool) {
	lower := strings.ToLower(text)
	for _, p := range []struct{ text, position string }{
		{":first-child", "first-child"}, {":last-child", "last-child"}, {":only-child", "only-child"},
		{":nth-child(odd)", "odd"}, {":nth-child(2n+1)", "odd"}, {":nth-child(even)", "even"}, {":nth-child(2n)", "even"},
	} {
		if strings.HasPrefix(lower, p.text) && name(text[len(p.text):]) == 0 {
			return test{position: p.position}, len(p.text), true
		}
	}
	if strings.HasPrefix(lower, ":link") && name(text[len(":link"):]) == 0 {
		return test{attribute: "href"}, len(":link"), true
	}
	return test{}, 0, false
}
