package liquid

import (
	"fmt"
	"slices"
	"strings"
)

// parser builds the nodes of a template.
type parser struct {
	scanner
	names *names
	texts []string // texts that are marked
	marks map[string]int
	depth int

	outputs []*outputNode
	written []string // the source of each of them, and what it is escaped for
	places  map[int]place
}

func newParser(source string, mode Mode) *parser {
	p := &parser{scanner: scanner{src: source, line: 1}, names: newNames(), marks: map[string]int{}}
	switch mode {
	case HTML:
		p.places = places(source)
	case JSON:
		p.places = placesInJSON(source)
	}
	return p
}

func (p *parser) variables() []string { return p.names.sorted() }

func (p *parser) template() ([]node, error) {
	nodes, _, err := p.body(piece{})
	return nodes, err
}

// body parses up to one of the tags in ends, which it returns. The body of the template itself, which no
// tag opened, ends with the source.
func (p *parser) body(open piece, ends ...string) ([]node, piece, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, piece{}, p.errorf(open, "tags are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	var nodes []node
	for {
		next, err := p.next()
		if err != nil {
			return nil, next, err
		}
		switch {
		case next.kind == pieceEnd && open.name == "":
			return nodes, next, nil
		case next.kind == pieceEnd:
			return nil, next, p.errorf(open, "%s is not closed by end%s", open.name, open.name)
		case next.kind == pieceTag && slices.Contains(ends, next.name):
			return nodes, next, nil
		}
		n, err := p.node(next, open)
		if err != nil {
			return nil, next, err
		}
		if n != nil {
			nodes = append(nodes, n)
		}
	}
}

// node returns the node of one piece, or nil if there is nothing to render.
func (p *parser) node(next, open piece) (node, error) {
	switch {
	case next.kind == pieceText:
		return p.text(next.markup), nil
	case next.kind == pieceOutput && next.markup == "":
		return nil, nil
	case next.kind == pieceOutput:
		e := newExprParser(next.markup, p.names)
		value, err := e.filtered()
		if err == nil {
			err = e.end()
		}
		n := &outputNode{value: value, line: next.line, repeat: printedOnce, place: p.places[next.pos]}
		p.outputs, p.written = append(p.outputs, n), append(p.written, next.markup+n.place.String())
		return n, p.wrap(next, err)
	}
	switch next.name {
	case "if", "unless":
		return p.ifTag(next)
	case "case":
		return p.caseTag(next)
	case "for":
		return p.forTag(next)
	case "assign":
		return p.assignTag(next)
	case "capture":
		return p.captureTag(next)
	case "cycle":
		return p.cycleTag(next)
	case "increment", "decrement":
		return p.counterTag(next)
	case "break":
		return jumpNode(breakLoop), nil
	case "continue":
		return jumpNode(continueLoop), nil
	case "raw":
		text, err := p.verbatim(next)
		if err != nil || text == "" {
			return nil, err
		}
		return p.text(text), nil
	case "comment":
		return nil, p.skipComment(next)
	}
	return nil, p.unknownTag(next, open)
}

// text returns the node of constant text, numbered if it is long enough to be marked. Equal texts share
// a number.
func (p *parser) text(text string) *textNode {
	if len(text) < MarkedBytes {
		return &textNode{text, -1}
	}
	number, known := p.marks[text]
	if !known {
		number = len(p.texts)
		p.texts, p.marks[text] = append(p.texts, text), number
	}
	return &textNode{p.texts[number], number}
}

// unknownTag returns the error for a tag that is not allowed where it is.
func (p *parser) unknownTag(next, open piece) error {
	if next.name == "" {
		word, _, _ := strings.Cut(next.markup, " ")
		if word == "" {
			return p.errorf(next, "the tag is empty")
		}
		return p.errorf(next, `unknown tag "%.40s"`, word)
	}
	switch next.name {
	case "else", "elsif", "when", "endif", "endunless", "endcase", "endfor", "endcapture", "endraw", "endcomment":
		if open.name == "" {
			return p.errorf(next, "%s has no tag that it belongs to", next.name)
		}
		return p.errorf(next, "%s does not belong to %s, which began on line %d", next.name, open.name, open.line)
	}
	return p.errorf(next, `unknown tag "%.40s"`, next.name)
}

func (p *parser) errorf(at piece, format string, args ...any) error {
	return p.fail(at, fmt.Sprintf(format, args...))
}

// wrap adds the tag or output to err.
func (p *parser) wrap(at piece, err error) error {
	if err == nil {
		return nil
	}
	if at.kind == pieceTag {
		return p.errorf(at, "%s: %s", at.name, err)
	}
	return p.errorf(at, "%s", err)
}

func (p *parser) ifTag(open piece) (node, error) {
	n := &ifNode{line: open.line}
	for at := open; ; {
		var b branch
		b.line = at.line
		if at.name != "else" {
			c, err := newExprParser(at.markup, p.names).condition()
			if err != nil {
				return nil, p.wrap(at, err)
			}
			b.when, b.negate = c, at.name == "unless"
		}
		p.names.enter()
		body, end, err := p.body(open, "elsif", "else", "end"+open.name)
		p.names.leave()
		if err != nil {
			return nil, err
		}
		b.body = body
		n.branches = append(n.branches, b)
		if end.name == "end"+open.name {
			n.blank = !slices.ContainsFunc(n.branches, func(b branch) bool { return !blank(b.body) })
			for i := range n.branches {
				n.branches[i].body = trimBlank(n.branches[i].body, n.blank)
			}
			return n, nil
		}
		at = end
	}
}

func (p *parser) caseTag(open piece) (node, error) {
	e := newExprParser(open.markup, p.names)
	subject, err := e.expr()
	if err == nil {
		err = e.end()
	}
	if err != nil {
		return nil, p.wrap(open, err)
	}
	n := &caseNode{subject: subject, line: open.line, blank: true}
	// Text before the first when is never rendered.
	_, at, err := p.body(open, "when", "else", "endcase")
	for err == nil && at.name != "endcase" {
		c := choice{otherwise: at.name == "else"}
		if at.name == "when" {
			if c.values, err = p.whenValues(at); err != nil {
				return nil, p.wrap(at, err)
			}
		}
		p.names.enter()
		c.body, at, err = p.body(open, "when", "else", "endcase")
		p.names.leave()
		n.blank = n.blank && blank(c.body)
		n.choices = append(n.choices, c)
	}
	if err != nil {
		return nil, err
	}
	for i := range n.choices {
		n.choices[i].body = trimBlank(n.choices[i].body, n.blank)
	}
	return n, nil
}

// whenValues parses values between commas and ors. Like Shopify it ignores what follows the last one,
// which templates rely on.
func (p *parser) whenValues(at piece) ([]expr, error) {
	e := newExprParser(at.markup, p.names)
	var values []expr
	for {
		v, err := e.expr()
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if !e.tok.word("or") && !e.tok.is(",") {
			return values, nil
		}
		e.advance()
	}
}

func (p *parser) forTag(open piece) (node, error) {
	e := newExprParser(open.markup, p.names)
	n, err := e.loop()
	if err != nil {
		return nil, p.wrap(open, err)
	}
	n.line = open.line
	p.names.enter(n.variable, "forloop")
	body, end, err := p.body(open, "else", "endfor")
	p.names.leave()
	n.body = body
	if err == nil && end.name == "else" {
		p.names.enter()
		n.otherwise, _, err = p.body(open, "endfor")
		p.names.leave()
	}
	if err != nil {
		return nil, err
	}
	n.blank = blank(n.body) && blank(n.otherwise)
	n.body, n.otherwise = trimBlank(n.body, n.blank), trimBlank(n.otherwise, n.blank)
	return n, nil
}

// loop parses "item in list reversed limit: 2, offset: continue".
func (p *exprParser) loop() (*forNode, error) {
	n := &forNode{}
	if p.tok.kind != tokenWord {
		return nil, fmt.Errorf("expected a name, found %s", p.tok)
	}
	n.variable = p.tok.text
	p.advance()
	if !p.tok.word("in") {
		return nil, fmt.Errorf(`expected "in", found %s`, p.tok)
	}
	start := p.pos
	p.advance()
	var err error
	if n.list, err = p.expr(); err != nil {
		return nil, err
	}
	n.name = n.variable + "-" + strings.TrimFunc(p.src[start:p.before], isSpace)
	p.accept(",")
	for p.tok.kind == tokenWord {
		if err := p.loopOption(n); err != nil {
			return nil, err
		}
		p.accept(",")
	}
	return n, p.end()
}

func (p *exprParser) loopOption(n *forNode) error {
	option := p.tok.text
	p.advance()
	switch {
	case option == "reversed":
		n.reversed = true
		return nil
	case option != "limit" && option != "offset":
		return fmt.Errorf(`unknown option "%s"`, option)
	}
	if err := p.expect(":"); err != nil {
		return err
	}
	if option == "offset" && p.tok.word("continue") {
		p.advance()
		n.resume = true
		return nil
	}
	v, err := p.expr()
	if option == "limit" {
		n.limit = v
	} else {
		n.offset = v
	}
	return err
}

func (p *parser) assignTag(open piece) (node, error) {
	e := newExprParser(open.markup, p.names)
	name, err := e.name()
	if err == nil && strings.HasSuffix(name, "?") {
		err = fmt.Errorf(`"%s" cannot be set`, name)
	}
	if err == nil {
		err = e.expect("=")
	}
	var value expr
	if err == nil {
		value, err = e.filtered()
	}
	if err == nil {
		err = e.end()
	}
	p.names.set(name)
	return &assignNode{name, value, open.line}, p.wrap(open, err)
}

func (p *parser) captureTag(open piece) (node, error) {
	e := newExprParser(open.markup, p.names)
	if e.tok.kind == tokenString {
		e.tok.kind = tokenWord
	}
	name, err := e.name()
	if err == nil {
		err = e.end()
	}
	if err != nil {
		return nil, p.wrap(open, err)
	}
	body, _, err := p.body(open, "endcapture")
	p.names.set(name)
	return &captureNode{name, body, open.line}, err
}

func (p *parser) cycleTag(open piece) (node, error) {
	e := newExprParser(open.markup, p.names)
	n := &cycleNode{key: open.markup, line: open.line}
	for {
		v, err := e.expr()
		if err != nil {
			return nil, p.wrap(open, err)
		}
		if n.group == nil && len(n.values) == 0 && e.accept(":") {
			n.group = v
			continue
		}
		n.values = append(n.values, v)
		if !e.accept(",") {
			return n, p.wrap(open, e.end())
		}
	}
}

func (p *parser) counterTag(open piece) (node, error) {
	e := newExprParser(open.markup, p.names)
	name, err := e.name()
	if err == nil {
		err = e.end()
	}
	p.names.change(name)
	return &counterNode{name, open.name == "decrement"}, p.wrap(open, err)
}
