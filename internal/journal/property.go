package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Property is a test of one property of an event (contract E4): whoever reacts
// to events asks by it. The JSON value found decides as which type it is
// compared; a value of another type than the operator is for fails the test.
// The operators that negate another hold exactly where that one does not, for
// events without the property too.
type Property struct {
	Path     string `json:"property"` // dots reach into objects, [] into arrays: "items[].sku"
	Operator string `json:"operator"` // of contract 6.3, for texts, numbers, booleans and dates
	Value    any    `json:"value,omitempty"`
}

// Bounds of a property test.
const (
	maxPath      = 256
	maxPathSteps = 8
	maxText      = 1000
	maxList      = 500
	maxAmount    = 10_000
)

// aliases are what else the operators may be called (contract D21).
var aliases = map[string]string{
	"eq": "equals", "is": "equals", "=": "equals", "neq": "not_equals", "is_not": "not_equals", "!=": "not_equals",
	"gt": "greater_than", "gte": "greater_or_equal", "lt": "less_than", "lte": "less_or_equal",
	"exists": "is_set", "not_exists": "is_not_set", "is_empty": "is_not_set",
}

// negated are the operators that hold where another does not.
var negated = map[string]string{
	"not_equals": "equals", "not_contains": "contains", "not_in": "in", "is_not_set": "is_set",
	"not_on": "on", "not_in_the_last": "in_the_last",
}

// Checked returns the test in its canonical form: aliases resolved, times in
// UTC. The error's text says what to write instead; at says where, "" being the
// test itself.
func (p Property) Checked() (out Property, at string, err error) {
	out = Property{Path: strings.TrimSpace(p.Path), Operator: strings.ToLower(strings.TrimSpace(p.Operator))}
	if _, ok := steps(out.Path); !ok {
		return p, "property", fmt.Errorf("must be a path such as plan or items[].sku, at most %d steps deep", maxPathSteps)
	}
	if canonical, ok := aliases[out.Operator]; ok {
		out.Operator = canonical
	}
	operator := out.Operator
	if positive, ok := negated[operator]; ok {
		operator = positive
	}
	check, ok := operands[operator]
	if !ok {
		return p, "operator", fmt.Errorf("there is no such operator for the properties of events")
	}
	if out.Value, err = check(p.Value); err != nil {
		return p, "value", err
	}
	return out, "", nil
}

// operands check the value of each operator that negates no other.
var operands = map[string]func(any) (any, error){
	"is_set": nothing, "is_true": nothing, "is_false": nothing,
	"equals": scalar, "contains": text, "starts_with": text, "ends_with": text, "in": list,
	"greater_than": number, "greater_or_equal": number, "less_than": number, "less_or_equal": number, "between": pair,
	"on": date, "before": date, "after": date, "on_or_before": date, "on_or_after": date,
	"in_the_last": span, "in_the_next": span, "more_than_ago": span, "anniversary_in_next": span,
}

func nothing(any) (any, error) { return nil, nil }

func scalar(v any) (any, error) {
	switch v := v.(type) {
	case bool, float64:
		return v, nil
	case string:
		return text(v)
	}
	return nil, fmt.Errorf("must be a text, a number or true or false")
}

func text(v any) (any, error) {
	s, ok := v.(string)
	if !ok || s == "" || utf8.RuneCountInString(s) > maxText || strings.ContainsRune(s, 0) {
		return nil, fmt.Errorf("must be a text of 1 to %d characters", maxText)
	}
	return s, nil
}

func number(v any) (any, error) {
	if n, ok := v.(float64); ok {
		return n, nil
	}
	return nil, fmt.Errorf("must be a number")
}

func list(v any) (any, error) {
	members, ok := v.([]any)
	if !ok || len(members) == 0 || len(members) > maxList {
		return nil, fmt.Errorf("must be a list of 1 to %d values", maxList)
	}
	out := make([]any, len(members))
	for i, m := range members {
		var err error
		if out[i], err = scalar(m); err != nil {
			return nil, fmt.Errorf("value %d %w", i+1, err)
		}
	}
	return out, nil
}

func pair(v any) (any, error) {
	ends, ok := v.([]any)
	if ok && len(ends) == 2 {
		for _, end := range []func(any) (any, error){number, date} {
			from, err := end(ends[0])
			to, err2 := end(ends[1])
			if err == nil && err2 == nil {
				return []any{from, to}, nil
			}
		}
	}
	return nil, fmt.Errorf("must be two numbers or two dates")
}

func date(v any) (any, error) {
	s, _ := v.(string)
	d, ok := readDate(s)
	if !ok {
		return nil, fmt.Errorf("must be a date such as 2026-03-01 or a time such as 2026-03-01T09:30:00Z")
	}
	return d.String(), nil
}

func span(v any) (any, error) {
	if s, ok := readSpan(v); ok {
		return map[string]any{"amount": float64(s.amount), "unit": s.unit}, nil
	}
	return nil, fmt.Errorf(`must be {"amount": 1 to %d, "unit": "hour", "day", "week", "month" or "year"}`, maxAmount)
}

// step is one part of a path.
type step struct {
	name string
	each bool // of the array there
}

func steps(path string) ([]step, bool) {
	if path == "" || len(path) > maxPath || !utf8.ValidString(path) || strings.ContainsRune(path, 0) {
		return nil, false
	}
	var list []step
	for part := range strings.SplitSeq(path, ".") {
		name, each := strings.CutSuffix(part, "[]")
		if name == "" || strings.ContainsAny(name, "[]") {
			return nil, false
		}
		list = append(list, step{name, each})
	}
	return list, len(list) <= maxPathSteps
}

// found returns the values that the path leads to. A list at its end stands for
// its members; what is null, empty or not there is not found.
func found(v any, path []step) []any {
	if len(path) == 0 {
		switch v := v.(type) {
		case nil:
			return nil
		case string:
			if v == "" {
				return nil
			}
		case []any:
			var all []any
			for _, m := range v {
				if _, deeper := m.([]any); !deeper {
					all = append(all, found(m, nil)...)
				}
			}
			return all
		}
		return []any{v}
	}
	o, _ := v.(map[string]any)
	next := o[path[0].name]
	if !path[0].each {
		return found(next, path[1:])
	}
	members, _ := next.([]any)
	var all []any
	for _, m := range members {
		all = append(all, found(m, path[1:])...)
	}
	return all
}

// Holds reports whether properties, as JSON decodes them, pass a checked test at
// a moment. Days are those of zone.
func (p Property) Holds(properties map[string]any, now time.Time, zone *time.Location) bool {
	path, _ := steps(p.Path)
	operator, not := p.Operator, false
	if positive, ok := negated[operator]; ok {
		operator, not = positive, true
	}
	clock := clock{now, zone}
	for _, v := range found(properties, path) {
		if passes(v, operator, p.Value, clock) {
			return !not
		}
	}
	return not
}

func passes(v any, operator string, want any, c clock) bool {
	switch operator {
	case "is_set":
		return true
	case "equals":
		return equal(v, want)
	case "in":
		members, _ := want.([]any)
		return slices.ContainsFunc(members, func(m any) bool { return equal(v, m) })
	}
	switch v := v.(type) {
	case bool:
		return operator == "is_true" && v || operator == "is_false" && !v
	case float64:
		return passesNumber(v, operator, want)
	case json.Number:
		n, err := v.Float64()
		return err == nil && passesNumber(n, operator, want)
	case string:
		return passesText(v, operator, want, c)
	}
	return false
}

func equal(v, want any) bool {
	if s, ok := v.(string); ok {
		w, ok := want.(string)
		return ok && strings.EqualFold(s, w)
	}
	switch v.(type) {
	case float64, bool:
		return v == want
	}
	return false
}

func passesNumber(v float64, operator string, want any) bool {
	if ends, ok := want.([]any); ok && operator == "between" {
		from, ok1 := ends[0].(float64)
		to, ok2 := ends[1].(float64)
		return ok1 && ok2 && from <= v && v <= to
	}
	w, ok := want.(float64)
	if !ok {
		return false
	}
	switch operator {
	case "greater_than":
		return v > w
	case "greater_or_equal":
		return v >= w
	case "less_than":
		return v < w
	case "less_or_equal":
		return v <= w
	}
	return false
}

func passesText(v, operator string, want any, c clock) bool {
	switch operator {
	case "contains", "starts_with", "ends_with":
		s, w := strings.ToLower(v), strings.ToLower(want.(string))
		return operator == "contains" && strings.Contains(s, w) ||
			operator == "starts_with" && strings.HasPrefix(s, w) || operator == "ends_with" && strings.HasSuffix(s, w)
	}
	d, ok := readDate(v)
	return ok && c.passes(d, operator, want)
}
