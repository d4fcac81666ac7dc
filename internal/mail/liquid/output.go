package liquid

import (
	"unicode"
	"unicode/utf8"
)

// outputNode is {{ value }}.
type outputNode struct {
	value  expr
	line   int
	place  place
	repeat int // its number among the repeated outputs, or once
}

// printedOnce means that an output is not repeated.
const printedOnce = -1

// printed is the position in the result of an output that is repeated; to is 0 if it was not printed
// yet.
type printed struct{ from, to int }

func (n *outputNode) render(s *state) flow {
	s.line = n.line
	if n.repeat != printedOnce && s.captures == 0 {
		return n.renderRepeated(s)
	}
	from := len(s.out)
	v := peek(s, n.value)
	if s.err != nil {
		return stop
	}
	s.printIn(n.place, v)
	s.checkWords(from)
	return proceed
}

// checkWords ends the rendering if the output printed from an offset on must be words and is not.
func (s *state) checkWords(from int) {
	if s.words && s.err == nil && !areWords(s.out[from:]) {
		s.err = ErrNotWords
	}
}

// areWords reports whether a text reads the same when white space is collapsed and next to other words.
func areWords(text []byte) bool {
	space := true // before the first word
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f || c == ' ' && space {
				return false
			}
			space = c == ' '
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !unicode.IsPrint(r) {
			return false
		}
		space = false
		i += size
	}
	return !space
}

// renderRepeated copies the text that the output has printed before, if any.
func (n *outputNode) renderRepeated(s *state) flow {
	if p := &s.printed[n.repeat]; p.to > 0 {
		if !s.claimBytes(p.to - p.from) {
			return stop
		}
		s.out = append(s.out, s.out[p.from:p.to]...)
		return proceed
	}
	from := len(s.out)
	v := peek(s, n.value)
	if s.err != nil {
		return stop
	}
	s.printIn(n.place, v)
	s.checkWords(from)
	s.printed[n.repeat] = printed{from, len(s.out)}
	return proceed
}

// repeats numbers the outputs that occur more than once with the same text and cannot print different
// values. It returns the number of different ones.
func (p *parser) repeats() int {
	times := map[string]int{}
	for _, w := range p.written {
		times[w]++
	}
	numbers := map[string]int{}
	for i, n := range p.outputs {
		if times[p.written[i]] < 2 || !p.names.steady(n.value) {
			continue
		}
		number, known := numbers[p.written[i]]
		if !known {
			number = len(numbers)
			numbers[p.written[i]] = number
		}
		n.repeat = number
	}
	return len(numbers)
}

// steady reports whether an expression has the same value throughout a rendering: it reads nothing that
// the template itself sets.
func (n *names) steady(e expr) bool {
	switch e := e.(type) {
	case literal:
		return true
	case rangeExpr:
		return n.steady(e.low) && n.steady(e.high)
	case *variable:
		if e.root != nil || n.everSet[e.name] {
			return false
		}
		for _, seg := range e.path {
			if seg.index != nil && !n.steady(seg.index) {
				return false
			}
		}
		return true
	case *filtered:
		for _, call := range e.filters {
			for _, arg := range call.args {
				if !n.steady(arg) {
					return false
				}
			}
		}
		return n.steady(e.input)
	}
	return false
}
