package binding

import (
	"regexp"
	"regexp/syntax"
)

// The limits of patterns. RE2 takes time in proportion to the size of the pattern's
// program times the length of the text, so the program must be small;
// parsing takes time as well, so the total length of patterns is limited, too.
const (
	maxPattern     = 500    // characters
	maxPatternSize = 1000   // instructions
	maxPatterns    = 10_000 // characters of all patterns in a request
)

// pattern reads a regular expression and checks that it is fast.
func (r *schemaReader) pattern(path string, v any) *string {
	s := r.words(path, v, maxPattern)
	if s == nil {
		return nil
	}
	if r.patterns += len(*s); r.patterns > maxPatterns {
		r.problem(path, "is one pattern too many: all together may have %d characters", maxPatterns)
		return nil
	}
	re, err := syntax.Parse(*s, syntax.Perl)
	if err != nil {
		r.problem(path, "must be a regular expression as RE2 has them: %v", err)
		return nil
	}
	if patternSize(re, maxPatternSize) > maxPatternSize {
		r.problem(path, "is too complicated; repeat less, or smaller parts")
		return nil
	}
	return s
}

// patternSize says how many instructions a pattern will have, about; when that is
// more than most, something more than most. It asks before the pattern is
// compiled, for that writes repetitions out.
func patternSize(re *syntax.Regexp, most int) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		if n += 1 + patternSize(sub, most); n > most {
			return most + 1
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, most+1)
}

// matcher matches whole values against a pattern.
type matcher struct {
	re   *regexp.Regexp // nil: nothing matches
	size int
}

func newMatcher(pattern string) matcher {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return matcher{}
	}
	size := patternSize(tree, maxPatternSize)
	if size > maxPatternSize {
		return matcher{}
	}
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		return matcher{}
	}
	return matcher{re, size}
}
