package endpoint

import (
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// translated returns the problem of a schema check with its path. A missing field is reported at its own
// path, not at that of its parent.
func translated(path, message string) fault.Field {
	if rest, ok := strings.CutPrefix(message, "expected required property "); ok {
		name := strings.TrimSuffix(rest, " to be present")
		if path != "" {
			name = path + "." + name
		}
		return fault.Field{Path: name, Message: "required"}
	}
	if values, ok := strings.CutPrefix(message, "expected value to be one of "); ok {
		values = strings.TrimSuffix(strings.Trim(values, `"`), ", ") // an empty value stands for none
		return fault.Field{Path: path, Message: "must be one of " + values}
	}
	for _, f := range formatMessages {
		if strings.HasPrefix(message, f.prefix) {
			return fault.Field{Path: path, Message: f.message}
		}
	}
	return fault.Field{Path: path, Message: message}
}

// formatMessages replace the messages of huma for texts of another format. Those of huma differ for each wrong
// text, so wrong elements of an array would not be one problem.
var formatMessages = []struct{ prefix, message string }{
	{"expected string to be RFC 4122 uuid", "must be a UUID"},
	{"expected string to be RFC 5322 email", "must be an email address"},
	{"expected string to be RFC 3339 date-time", "must be a date and time such as 2026-03-01T09:30:00Z"},
	{"expected string to be RFC 3339 date", "must be a date such as 2026-03-01"},
}

// problemFault returns nil, or the fault for the problems found: the specific fault of the first field that has
// one, otherwise INVALID_INPUT.
func (rt *route) problemFault(found *findings) error {
	if !found.Any() {
		return nil
	}
	fields := found.Fields()
	for _, f := range fields.Fields {
		if specific := rt.fieldFault(f.Path); specific != nil {
			return fields.As(specific)
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
