package liquid

import (
	"context"
	"strconv"
	"time"
)

// flow is how rendering continues after a node.
type flow uint8

const (
	proceed flow = iota
	breakLoop
	continueLoop
	stop // an error; see state.err
)

// node is a part of a template that can be rendered.
type node interface {
	render(s *state) flow
}

// state is the mutable state of one rendering.
type state struct {
	ctx         context.Context
	env         Env
	html        bool
	words       bool // each output must print words
	budget      *Budget
	clockReadAt time.Time // the last read of the clock
	spent       time.Duration
	fuel        int // work left until the clock is read
	depth       int // of nested lists and objects
	err         error
	line        int // of the tag or output being rendered

	out      []byte
	began    int    // the start of this rendering in out
	captures int    // number of open captures
	marking  bool   // whether texts are marked
	marks    []Mark // of the texts printed so far

	loops    []*loop // the innermost last
	locals   map[string]any
	counters map[string]int64
	cycles   map[string]int
	offsets  map[string]int // where a loop of each name ended
	args     []any          // arguments of the filters being applied
	scratch  []byte         // memory for Appenders
	printed  []printed      // results of repeated outputs
}

func (s *state) renderAll(nodes []node) flow {
	for _, n := range nodes {
		if text, ok := n.(*textNode); ok {
			if f := text.render(s); f != proceed {
				return f
			}
			continue
		}
		if !s.tick(nodeCost) {
			return stop
		}
		if f := n.render(s); f != proceed {
			return f
		}
		if s.err != nil {
			return stop
		}
	}
	return proceed
}

// lookup returns the value of a root name: from variables of loops, those set by tags, the Env, or
// counters, in this order.
func (s *state) lookup(name string) any {
	if n := len(s.loops); n > 0 {
		for i := n - 1; i >= 0; i-- {
			if s.loops[i].variable == name {
				return s.loops[i].value
			}
		}
		if name == "forloop" {
			return s.loops[n-1]
		}
	}
	if v, ok := s.locals[name]; ok {
		return v
	}
	if v, ok := s.env.Lookup(name); ok {
		return s.normalizeByReference(v)
	}
	if name == "now" {
		return s.env.Now()
	}
	if n, ok := s.counters[name]; ok {
		return n
	}
	return nil
}

func (s *state) set(name string, v any) {
	if s.locals == nil {
		s.locals = map[string]any{}
	}
	if _, known := s.locals[name]; !known && !s.chargeElements(2) {
		return
	}
	s.locals[name] = v
}

// textNode is constant text.
type textNode struct {
	text   string
	number int // of its marks; negative if it is not marked
}

func (t *textNode) render(s *state) flow {
	if !s.claimBytes(len(t.text)) {
		return stop
	}
	if s.marking && t.number >= 0 && s.captures == 0 {
		s.marks = append(s.marks, Mark{At: len(s.out) - s.began, Text: t.number})
	}
	s.out = append(s.out, t.text...)
	return proceed
}

// print prints a value, escaped in HTML mode.
func (s *state) print(v any) {
	switch v := v.(type) {
	case nil:
	case string:
		printText(s, v)
	case *string:
		printText(s, *v)
	case Raw:
		printRaw(s, string(v))
	case Appender:
		s.scratch = v.AppendTo(s.scratch[:0])
		printText(s, s.scratch)
	case int64:
		var digits [20]byte
		text := strconv.AppendInt(digits[:0], v, 10)
		if s.claimBytes(len(text)) {
			s.out = append(s.out, text...)
		}
	case []any:
		if !s.enterNested() {
			return
		}
		defer s.leaveNested()
		for _, item := range v {
			if s.print(s.normalize(item)); !s.tick(nodeCost) {
				return
			}
		}
	default:
		printText(s, s.text(v))
	}
}

func printRaw[T string | []byte](s *state, text T) {
	if s.claimBytes(len(text)) {
		s.out = append(s.out, text...)
	}
}

func printText[T string | []byte](s *state, text T) {
	if !s.html {
		printRaw(s, text)
		return
	}
	if len(text) > s.available() {
		s.claimBytes(len(text)) // fails, and sets the error
		return
	}
	start := len(s.out)
	s.out = appendEscaped(s.out, text)
	if !s.claimBytes(len(s.out) - start) {
		s.out = s.out[:start]
	}
}

// appendEscaped appends text with the characters escaped that have a meaning in HTML text or in quoted
// attributes.
func appendEscaped[T string | []byte](dst []byte, text T) []byte {
	from := 0
	for i := range len(text) {
		entity := ""
		switch text[i] {
		case '&':
			entity = "&amp;"
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '"':
			entity = "&quot;"
		case '\'':
			entity = "&#39;"
		default:
			continue
		}
		dst = append(dst, text[from:i]...)
		dst = append(dst, entity...)
		from = i + 1
	}
	return append(dst, text[from:]...)
}

// blank reports whether nodes can print nothing but white space.
func blank(nodes []node) bool {
	for _, n := range nodes {
		switch n := n.(type) {
		case *textNode:
			for _, r := range n.text {
				if !isSpace(r) {
					return false
				}
			}
		case *assignNode, *captureNode:
		case *ifNode:
			if !n.blank {
				return false
			}
		case *caseNode:
			if !n.blank {
				return false
			}
		case *forNode:
			if !n.blank {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// trimBlank removes the text of a block all of whose branches are blank: such a block prints nothing.
func trimBlank(nodes []node, isBlank bool) []node {
	if !isBlank {
		return nodes
	}
	var kept []node
	for _, n := range nodes {
		if _, ok := n.(*textNode); !ok {
			kept = append(kept, n)
		}
	}
	return kept
}
