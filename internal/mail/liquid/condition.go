package liquid

import "fmt"

// condition is the condition of if, elsif and unless: comparisons joined by and and or.
type condition []comparison

// comparison is one value, or two with an operator between them, and the word
// that joins it to the next comparison.
type comparison struct {
	left, right expr
	op          string // "" if there is only left
	join        string // "and", "or", or "" for the last one
}

// holds evaluates from left to right. In Liquid, and and or have the same precedence and associate to
// the right: "a and b or c" is "a and (b or c)", so a false before and, or a true before or, decides.
func (c condition) holds(s *state) bool {
	result := false
	for i := range c {
		result = c[i].holds(s)
		if !s.tick(nodeCost) {
			return false
		}
		if result == (c[i].join == "or") {
			return result
		}
	}
	return result
}

func (c *comparison) holds(s *state) bool {
	if c.op == "" {
		return truthy(peek(s, c.left))
	}
	left := c.left.eval(s)
	right := c.right.eval(s)
	switch c.op {
	case "==":
		return s.equal(left, right)
	case "!=", "<>":
		return !s.equal(left, right)
	case "contains":
		return s.contains(left, right)
	}
	if !ordered(left) || !ordered(right) {
		return false // values without an order (blank, empty, lists) compare as false, without an error
	}
	order, ok := s.compare(left, right)
	if !ok {
		s.fail("%s and %s cannot be compared by %s", kindOf(left), kindOf(right), c.op)
		return false
	}
	switch c.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// ordered reports whether values of this kind have an order.
func ordered(v any) bool {
	switch kindOf(v) {
	case "a number", "a text", "a date":
		return true
	}
	return false
}

// condition parses the whole markup of a tag as a condition.
func (p *exprParser) condition() (condition, error) {
	var c condition
	for {
		one, err := p.comparison()
		if err != nil {
			return nil, err
		}
		if p.tok.word("and") || p.tok.word("or") {
			one.join = p.tok.text
			p.advance()
			c = append(c, one)
			continue
		}
		return append(c, one), p.end()
	}
}

func (p *exprParser) comparison() (comparison, error) {
	left, err := p.expr()
	if err != nil {
		return comparison{}, err
	}
	c := comparison{left: left}
	if p.tok.kind != tokenCompare && !p.tok.word("contains") {
		return c, nil
	}
	c.op = p.tok.text
	p.advance()
	if c.right, err = p.expr(); err != nil {
		return c, fmt.Errorf("after %s: %w", c.op, err)
	}
	return c, nil
}
