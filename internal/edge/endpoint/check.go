package endpoint

import (
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
)

// Check returns the faults that an operation would return for a body, as far as they follow from the
// body alone. It is called if the body breaks the rules of its types, without the fields that do, so that
// a caller gets all problems at once. The operation itself checks a body that keeps those rules.
type Check[In any] func(p auth.Principal, in *In) error

// dropInvalid removes the fields with problems from a body, and reports whether the rest can be checked.
func (x *call) dropInvalid(body any) bool {
	fields, ok := body.(map[string]any)
	if !ok || x.problems.Truncated() {
		return false
	}
	for _, f := range x.problems.Fields().Fields {
		if f.Path == "" {
			return false
		}
		delete(fields, topField(f.Path))
	}
	return true
}

// addProblemsOf adds the problems that err names, except for fields that have one already: these were not
// in the body that was checked.
func (x *call) addProblemsOf(err error) {
	var more fault.Problems
	more.AddFrom(err)
	known := map[string]bool{}
	for _, f := range x.problems.Fields().Fields {
		known[topField(f.Path)] = true
	}
	for _, f := range more.Fields().Fields {
		if !known[topField(f.Path)] {
			x.problems.add(f.Path, f.Message)
		}
	}
}

// topField returns the field of the body that a path begins with.
func topField(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
