package endpoint

import (
	"context"
	"strings"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// A body with problems is refused, but its caller wants to hear of all of them
// at once, those included that only the operation itself knows.
// So it is called all the same, with what is left of the body when the fields
// told already are taken out, and on a database that keeps nothing.

// rehearsable reports whether the operation may be called in vain.
func (rt *route) rehearsable() bool { return !rt.Acts && !rt.Public && !rt.Installation }

// prune takes the fields with problems out of a body, and
// reports whether there is anything to rehearse with.
func (x *exchange) prune(body map[string]any) bool {
	for _, p := range x.problems.Fields().Fields {
		if p.Path == "" {
			return false
		}
		delete(body, outermost(p.Path))
	}
	return true
}

// outermost returns the field of the body that a path leads into.
func outermost(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// rehearse adds the problems that the operation has with the rest of the body.
func rehearse[Out any](ctx context.Context, x *exchange, call func(context.Context) (Out, error)) {
	defer func() { _ = recover() }() // it was promised a body that is whole
	_, err := call(sqldb.Rehearse(ctx))
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.Invalid {
		return
	}
	told := map[string]bool{}
	for _, p := range x.problems.Fields().Fields {
		told[outermost(p.Path)] = true
	}
	details, _ := f.Details.(fault.Fields)
	for _, d := range details.Fields {
		if at := outermost(d.Path); d.Path != "" && !told[at] {
			told[at] = true
			x.problems.add(d.Path, d.Message)
		}
	}
}
