package endpoint

import (
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/packetboat/packetboat/internal/fault"
)

// fieldsOf translates what huma found: paths lose their "body." or "query.",
// and a field that is missing is named itself, not its parent.
func fieldsOf[E error](errs []E) []fault.Field {
	var fields []fault.Field
	for _, err := range errs {
		d, ok := errors.AsType[*huma.ErrorDetail](error(err))
		if !ok {
			fields = append(fields, fault.Field{Message: err.Error()})
			continue
		}
		fields = append(fields, fieldOf(d))
	}
	return fields
}

func fieldOf(d *huma.ErrorDetail) fault.Field {
	path := d.Location
	if path == "body" { // the rules were kept, and yet it does not fit our types
		message := d.Message
		if strings.HasPrefix(message, "json: ") {
			message = "a value does not fit its field"
		}
		return fault.Field{Message: message}
	}
	for _, part := range []string{"body", "query", "header", "path", "cookie"} {
		if rest, ok := strings.CutPrefix(path, part+"."); ok {
			path = rest
			break
		}
	}
	return translated(path, d.Message)
}

// translated returns a problem at a path in our words.
func translated(path, message string) fault.Field {
	if rest, ok := strings.CutPrefix(message, "expected required property "); ok {
		name := strings.TrimSuffix(rest, " to be present")
		if path != "" {
			name = path + "." + name
		}
		return fault.Field{Path: name, Message: "required"}
	}
	if strings.HasPrefix(message, "required ") && strings.HasSuffix(message, " parameter is missing") {
		return fault.Field{Path: path, Message: "required"}
	}
	return fault.Field{Path: path, Message: message}
}

// problem returns nil, or the fault that problems add up to: the specific fault
// of the first field that has one, else INVALID_INPUT.
func (rt *route) problem(found *findings) error {
	if !found.Any() {
		return nil
	}
	told := found.Fields()
	for _, f := range told.Fields {
		if specific := rt.fieldFault(f.Path); specific != nil {
			return told.As(specific)
		}
	}
	return found.Err()
}

// fieldFault returns the fault declared for the longest prefix of path.
func (rt *route) fieldFault(path string) *fault.Error {
	for p := path; p != ""; {
		if f, ok := rt.FieldFaults[p]; ok {
			return f
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return nil
}
