package endpoint

import (
	"strings"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/fault"
)

// Check returns what an operation would refuse a body for, as far as the body
// alone shows it. It is asked when the body breaks the rules of its types, about
// what is left of it without the fields that do, so that a caller learns all
// problems at once. A body that keeps those rules is the operation's to check.
type Check[In any] func(p auth.Principal, in *In) error

// dropInvalid takes the fields with problems out of a body, and reports whether
// what is left can be checked.
func (x *exchange) dropInvalid(body any) bool {
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

// addFrom adds the problems that err names, except for fields that have one already: these were not
// in the body that was checked.
func (x *exchange) addFrom(err error) {
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

// topField returns the field of the body that a path leads into.
func topField(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
