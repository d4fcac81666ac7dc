package liquid

import "strconv"

// ifNode is an if or unless tag: the first branch whose condition holds is rendered.
type ifNode struct {
	branches []branch
	line     int
	blank    bool
}

type branch struct {
	when   condition // nil for else
	negate bool      // the branch of unless
	body   []node
	line   int
}

func (n *ifNode) render(s *state) flow {
	for i := range n.branches {
		b := &n.branches[i]
		s.line = b.line
		holds := b.when == nil || b.when.holds(s) != b.negate
		if s.err != nil || !s.tick(nodeCost) {
			return stop
		}
		if holds {
			return s.renderAll(b.body)
		}
	}
	return proceed
}

// caseNode is a case tag: a when is rendered once for each of its values that matches, and an else if
// nothing before it has matched.
type caseNode struct {
	subject expr
	choices []choice
	line    int
	blank   bool
}

type choice struct {
	values    []expr
	otherwise bool
	body      []node
}

func (n *caseNode) render(s *state) flow {
	s.line = n.line
	subject := n.subject.eval(s)
	matched := false
	for i := range n.choices {
		c := &n.choices[i]
		if c.otherwise && !matched {
			if f := s.renderAll(c.body); f != proceed {
				return f
			}
		}
		for _, v := range c.values {
			matches := s.equal(subject, v.eval(s))
			if !s.tick(nodeCost) {
				return stop
			}
			if !matches {
				continue
			}
			matched = true
			if f := s.renderAll(c.body); f != proceed {
				return f
			}
		}
	}
	return proceed
}

// assignNode is an assign tag.
type assignNode struct {
	name  string
	value expr
	line  int
}

func (n *assignNode) render(s *state) flow {
	s.line = n.line
	s.set(n.name, n.value.eval(s))
	return proceed
}

// captureNode is a capture tag: its body is rendered into a variable.
type captureNode struct {
	name string
	body []node
	line int
}

func (n *captureNode) render(s *state) flow {
	out := s.out
	s.out = nil
	s.captures++
	f := s.renderAll(n.body)
	s.captures--
	text := string(s.out)
	s.out = out
	s.line = n.line
	if s.err != nil {
		return stop
	}
	if s.html {
		s.set(n.name, Raw(text))
	} else {
		s.set(n.name, text)
	}
	return f
}

// cycleNode is a cycle tag: it prints its values in turn. Tags of one group, or without a group tags with
// the same text, share a counter.
type cycleNode struct {
	group  expr
	key    string
	values []expr
	line   int
}

func (n *cycleNode) render(s *state) flow {
	s.line = n.line
	key := "values " + n.key
	if n.group != nil {
		key = "group " + s.text(n.group.eval(s))
	}
	if s.cycles == nil {
		s.cycles = map[string]int{}
	}
	at := s.cycles[key]
	if at == 0 && !s.charge(len(key)) || !s.tick(len(key)) {
		return stop
	}
	if at < len(n.values) {
		s.print(n.values[at].eval(s))
	}
	if at++; at >= len(n.values) {
		at = 0
	}
	s.cycles[key] = at
	return proceed
}

// counterNode is an increment or decrement tag. Counters are separate from variables set by assign.
type counterNode struct {
	name string
	down bool
}

func (n *counterNode) render(s *state) flow {
	if s.counters == nil {
		s.counters = map[string]int64{}
	}
	value := s.counters[n.name]
	if n.down {
		value--
		s.counters[n.name] = value
	} else {
		s.counters[n.name] = value + 1
	}
	printRaw(s, strconv.FormatInt(value, 10))
	return proceed
}

// jumpNode is a break or continue tag.
type jumpNode flow

func (n jumpNode) render(*state) flow { return flow(n) }
