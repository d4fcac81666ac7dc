package phrase

// automaton searches for many literals at once. Its states are the beginnings of literals: the one
// after a byte is the longest that the text read so far ends with.
type automaton struct {
	class  [256]uint8 // of bytes that no literal tells apart
	width  int        // number of classes
	next   []uint16   // state*width + class
	output [][]int32  // of a state: the literals that end there
}

// newAutomaton returns an automaton for literals, none of which is empty. It panics if they are too
// many, since they are part of the program.
func newAutomaton(literals []string) *automaton {
	a := &automaton{width: 1}
	for _, s := range literals {
		for i := range len(s) {
			if a.class[s[i]] == 0 {
				if a.width == 256 {
					panic("phrase: too many different bytes")
				}
				a.class[s[i]] = uint8(a.width)
				a.width++
			}
		}
	}
	const none = 0 // the first state is the beginning, to which no edge of the tree leads
	var tree []uint16
	add := func() uint16 {
		if len(a.output) > 65535 {
			panic("phrase: too many literals")
		}
		tree = append(tree, make([]uint16, a.width)...)
		a.output = append(a.output, nil)
		return uint16(len(a.output) - 1)
	}
	add()
	for i, s := range literals {
		at := uint16(0)
		for j := range len(s) {
			edge := int(at)*a.width + int(a.class[s[j]])
			if tree[edge] == none {
				to := add() // may move the tree
				tree[edge] = to
			}
			at = tree[edge]
		}
		a.output[at] = append(a.output[at], int32(i))
	}
	a.next = tree
	// Visit states by their depth, so that the state after failing is complete.
	fail := make([]uint16, len(a.output))
	queue := make([]uint16, 0, len(a.output))
	for c := range a.width {
		if to := a.next[c]; to != none {
			queue = append(queue, to)
		}
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		back := fail[at]
		a.output[at] = append(a.output[at], a.output[back]...)
		for c := range a.width {
			edge := int(at)*a.width + c
			onward := a.next[int(back)*a.width+c]
			if to := a.next[edge]; to != none {
				fail[to] = onward
				queue = append(queue, to)
			} else {
				a.next[edge] = onward
			}
		}
	}
	return a
}

// find calls each with the literals that text contains, some of them repeatedly.
func (a *automaton) find(text string, each func(literal int32)) {
	at := 0
	for i := range len(text) {
		at = int(a.next[at*a.width+int(a.class[text[i]])])
		for _, literal := range a.output[at] {
			each(literal)
		}
	}
}
