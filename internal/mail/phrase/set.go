package phrase

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
)

// longestLiteral is the number of bytes of a literal that are searched for. More would make the
// automaton larger, and hardly save executions.
const longestLiteral = 10

// Set is a list of groups of regular expressions. It is safe for concurrent use.
type Set struct {
	groups   []group
	all      []expression
	literals *automaton
	means    [][]int32 // of a literal: the expressions that need it
	always   []int32   // expressions without literals
}

// group is the range of its expressions.
type group struct{ from, to int }

type expression struct {
	text  string
	plain bool // each occurrence of one of its literals is a match
	re    *regexp.Regexp
}

// Compile returns a set of groups of expressions. It panics if one of them is not valid, like
// regexp.MustCompile.
func Compile(groups [][]string) *Set {
	s := &Set{}
	index := map[string]int32{}
	var literals []string
	for _, expressions := range groups {
		g := group{from: len(s.all)}
		for _, text := range expressions {
			n := int32(len(s.all))
			re, err := syntax.Parse(text, syntax.Perl)
			if err != nil {
				panic(fmt.Sprintf("phrase: %s: %v", text, err))
			}
			needed := needOf(re.Simplify())
			x := expression{text: text, plain: needed.plain}
			longest := longestLiteral
			if x.plain {
				longest = math.MaxInt
			} else {
				x.re = regexp.MustCompile(text)
			}
			list := reduced(needed.literals, longest)
			if list == nil {
				s.always = append(s.always, n)
				x.plain, x.re = false, regexp.MustCompile(text)
			}
			for _, l := range list {
				i, ok := index[l]
				if !ok {
					i = int32(len(literals))
					index[l] = i
					literals, s.means = append(literals, l), append(s.means, nil)
				}
				s.means[i] = append(s.means[i], n)
			}
			s.all = append(s.all, x)
		}
		g.to = len(s.all)
		s.groups = append(s.groups, g)
	}
	s.literals = newAutomaton(literals)
	return s
}

// Found is a text with the expressions of a set that may match it. It is not safe for concurrent use.
type Found struct {
	set      *Set
	text     string
	possible []uint64 // bits of expressions
	// Executed is the number of expressions that Has has executed.
	Executed int
}

// Find reads a text.
func (s *Set) Find(text string) *Found {
	f := &Found{set: s, text: text, possible: make([]uint64, len(s.all)/64+1)}
	for _, n := range s.always {
		f.possible[n/64] |= 1 << (n % 64)
	}
	s.literals.find(text, func(literal int32) {
		for _, n := range s.means[literal] {
			f.possible[n/64] |= 1 << (n % 64)
		}
	})
	return f
}

// Has reports whether an expression of a group, which is given by its index, matches the text.
func (f *Found) Has(index int) bool {
	g := f.set.groups[index]
	for n := g.from; n < g.to; n++ {
		word := f.possible[n/64] >> (n % 64)
		if word == 0 {
			n |= 63 // no expression of this word is left
			continue
		}
		if word&1 == 0 {
			continue
		}
		x := &f.set.all[n]
		if x.plain {
			return true
		}
		f.Executed++
		if x.re.MatchString(f.text) {
			return true
		}
		f.possible[n/64] &^= 1 << (n % 64) // the next call need not execute it
	}
	return false
}
