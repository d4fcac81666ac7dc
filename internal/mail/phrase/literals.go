package phrase

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the literals of one expression. Beyond them fewer or shorter literals are used.
const (
	maxLiterals = 200
	maxRunes    = 12 // of a character class that is written out
)

// need is what is known about the texts that an expression matches.
type need struct {
	// literals is a list of which each match contains at least one; empty: nothing is known.
	literals []string
	// whole means that each match is one of the literals, and nothing more.
	whole bool
	// plain means that whole is true and that each occurrence of a literal is a match: there are no
	// conditions about what is beside it.
	plain bool
}

// unknown is the need of an expression that can match anything.
var unknown = need{}

// needOf returns the need of an expression. Those that ignore case have none.
func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return unknown
		}
		return need{[]string{string(re.Rune)}, true, true}
	case syntax.OpEmptyMatch:
		return need{[]string{""}, true, true}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return need{[]string{""}, true, false}
	case syntax.OpCharClass:
		return classNeed(re.Rune)
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpQuest:
		n := needOf(re.Sub[0])
		if !n.whole || len(n.literals) >= maxLiterals {
			return unknown
		}
		return need{append([]string{""}, n.literals...), true, n.plain}
	case syntax.OpPlus:
		n := needOf(re.Sub[0])
		return need{literals: n.literals}
	case syntax.OpRepeat:
		if re.Min == 0 {
			return unknown
		}
		n := needOf(re.Sub[0])
		return need{literals: n.literals}
	case syntax.OpAlternate:
		return alternativesNeed(re.Sub)
	case syntax.OpConcat:
		return sequenceNeed(re.Sub)
	}
	return unknown
}

// classNeed returns the need of a character class, given as pairs of first and last runes.
func classNeed(ranges []rune) need {
	n := need{nil, true, true}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(n.literals) >= maxRunes || r == utf8.RuneError {
				return unknown
			}
			n.literals = append(n.literals, string(r))
		}
	}
	return n
}

func alternativesNeed(subs []*syntax.Regexp) need {
	all := need{nil, true, true}
	for _, sub := range subs {
		n := needOf(sub)
		if len(n.literals) == 0 || len(all.literals)+len(n.literals) > maxLiterals {
			return unknown
		}
		all.literals = append(all.literals, n.literals...)
		all.whole, all.plain = all.whole && n.whole, all.plain && n.plain
	}
	return all
}

// sequenceNeed returns the need of expressions that follow each other: the best one among those of
// the longest runs of elements whose matches are known completely.
func sequenceNeed(subs []*syntax.Regexp) need {
	best, run := unknown, need{[]string{""}, true, true}
	wholly := true // all elements are in the run
	for _, sub := range subs {
		n := needOf(sub)
		if n.whole && len(run.literals)*len(n.literals) <= maxLiterals {
			run = joined(run, n)
			continue
		}
		best, wholly = better(best, better(run, n)), false
		run = need{[]string{""}, true, true}
		if n.whole {
			run = n
		}
	}
	if wholly {
		return run
	}
	best = better(best, run)
	return need{literals: best.literals}
}

// joined returns the need of two elements that follow each other.
func joined(a, b need) need {
	var list []string
	for _, x := range a.literals {
		for _, y := range b.literals {
			list = append(list, x+y)
		}
	}
	return need{list, true, a.plain && b.plain}
}

// better returns the need that fewer texts satisfy: that whose shortest literal is longer.
func better(a, b need) need {
	switch x, y := shortest(a.literals), shortest(b.literals); {
	case x > y || x == y && len(a.literals) <= len(b.literals) && len(a.literals) > 0:
		return a
	default:
		return b
	}
}

// shortest returns the length of the shortest literal; 0 if there are none.
func shortest(literals []string) int {
	if len(literals) == 0 {
		return 0
	}
	return len(slices.MinFunc(literals, func(a, b string) int { return len(a) - len(b) }))
}

// reduced returns the literals without those that contain another one, at most longest bytes of each.
// It returns nil if one of them is empty, since then every text contains it.
func reduced(literals []string, longest int) []string {
	var list []string
	for _, s := range literals {
		if s == "" {
			return nil
		}
		list = append(list, s[:min(len(s), longest)])
	}
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	var kept []string
	for _, s := range list {
		if !slices.ContainsFunc(kept, func(k string) bool { return strings.Contains(s, k) }) {
			kept = append(kept, s)
		}
	}
	return kept
}
