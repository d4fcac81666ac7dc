package liquid

import "math"

// forNode is a for tag.
type forNode struct {
	variable  string
	name      string // the variable and the list as written, for offset: continue
	list      expr
	limit     expr
	offset    expr
	resume    bool // offset: continue
	reversed  bool
	body      []node
	otherwise []node
	line      int
	blank     bool
}

// loop is one execution of a forNode, which is forloop in templates.
type loop struct {
	variable      string
	name          string
	value         any
	index, length int
	parent        *loop
}

// Field returns a field of forloop.
func (l *loop) Field(name string) any {
	switch name {
	case "name":
		return l.name
	case "length":
		return int64(l.length)
	case "index":
		return int64(l.index + 1)
	case "index0":
		return int64(l.index)
	case "rindex":
		return int64(l.length - l.index)
	case "rindex0":
		return int64(l.length - l.index - 1)
	case "first":
		return l.index == 0
	case "last":
		return l.index == l.length-1
	case "parentloop":
		if l.parent != nil {
			return l.parent
		}
	}
	return nil
}

func (n *forNode) render(s *state) flow {
	s.line = n.line
	list := s.sequence(n.list.eval(s))
	from, count, ok := n.bounds(s, list.len())
	if !ok {
		return stop
	}
	if count == 0 {
		return s.renderAll(n.otherwise)
	}
	l := &loop{variable: n.variable, name: n.name, length: count}
	if len(s.loops) > 0 {
		l.parent = s.loops[len(s.loops)-1]
	}
	s.loops = append(s.loops, l)
	f := n.turns(s, l, list, from)
	s.loops = s.loops[:len(s.loops)-1]
	return f
}

func (n *forNode) turns(s *state, l *loop, list sequence, from int) flow {
	for ; l.index < l.length; l.index++ {
		if !s.step() {
			return stop
		}
		at := from + l.index
		if n.reversed {
			at = from + l.length - 1 - l.index
		}
		l.value = list.at(s, at)
		switch s.renderAll(n.body) {
		case stop:
			return stop
		case breakLoop:
			return proceed
		}
	}
	return proceed
}

// bounds applies offset and limit to a list of that length, and stores where a later loop of the same
// name continues.
func (n *forNode) bounds(s *state, length int) (from, count int, ok bool) {
	if n.resume {
		from = s.offsets[n.name]
	} else if n.offset != nil {
		from, ok = s.bound(n.offset, "offset")
		if !ok {
			return 0, 0, false
		}
	}
	count = length
	if n.limit != nil {
		limited, given := n.limit.eval(s), 0
		if limited != nil {
			if given, ok = s.integer(limited, "limit"); !ok {
				return 0, 0, false
			}
			count = min(count, max(given, 0))
		}
	}
	from = max(from, 0)
	count = max(min(count, length-from), 0)
	if s.offsets == nil {
		s.offsets = map[string]int{}
	}
	s.offsets[n.name] = min(from, math.MaxInt/2) + min(count, math.MaxInt/2)
	return from, count, s.err == nil
}

// bound evaluates an offset; nil is 0.
func (s *state) bound(e expr, what string) (int, bool) {
	v := e.eval(s)
	if v == nil {
		return 0, s.err == nil
	}
	return s.integer(v, what)
}
