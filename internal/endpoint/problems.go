package endpoint

import (
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"packetboat/internal/fault"
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
	if rest, ok := strings.CutPrefix(d.Message, "expected required property "); ok {
		name := strings.TrimSuffix(rest, " to be present")
		if path != "" {
			name = path + "." + name
		}
		return fault.Field{Path: name, Message: "required"}
	}
	if strings.HasPrefix(d.Message, "required ") && strings.HasSuffix(d.Message, " parameter is missing") {
		return fault.Field{Path: path, Message: "required"}
	}
	return fault.Field{Path: path, Message: d.Message}
}

// problem returns nil, or the fault that fields add up to: the specific fault
// of the first field that has one, else INVALID_INPUT. Of several problems at
// one path the first is told.
func (rt *route) problem(fields []fault.Field) error {
	if len(fields) == 0 {
		return nil
	}
	var told []fault.Field
	have := make(map[string]bool, len(fields)) // a long list may be wrong in every place
	for _, f := range fields {
		if !have[f.Path] {
			have[f.Path] = true
			told = append(told, f)
		}
	}
	for _, f := range told {
		if specific := rt.fieldFault(f.Path); specific != nil {
			s := specific.Sayf("%s", fault.Input(f).Message)
			if s.Details == nil {
				s = s.With(fault.Fields{Fields: told})
			}
			return s
		}
	}
	return fault.Input(told...)
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
